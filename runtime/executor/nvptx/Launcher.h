/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs the kernels of passes/codegen/nvptx through a table of the CUDA driver's functions: a
 * device, its memory, a step, launches. Plain C, statuses, no allocation on the host. The driver is
 * looked for when asked for, never linked.
 */
#ifndef LLMC_RUNTIME_EXECUTOR_NVPTX_LAUNCHER_H
#define LLMC_RUNTIME_EXECUTOR_NVPTX_LAUNCHER_H

#include "llmc/abi.h"
#include "runtime/executor/nvptx/DriverTable.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum llmc_nvptx_status {
  LLMC_NVPTX_OK = 0,
  LLMC_NVPTX_NO_DRIVER = 1,    /* this machine has no libcuda.so.1 */
  LLMC_NVPTX_OLD_DRIVER = 2,   /* it lacks a function of the table */
  LLMC_NVPTX_NO_DEVICE = 3,    /* no GPU of that number */
  LLMC_NVPTX_BAD_ARGUMENT = 4, /* nothing was asked of the driver */
  LLMC_NVPTX_DRIVER_ERROR = 5  /* device.result says what the driver answered */
} llmc_nvptx_status;

/* In words, for people. */
const char *llmc_nvptx_status_text(llmc_nvptx_status status);

/* Fills `driver` from libcuda.so.1, which then stays loaded. */
llmc_nvptx_status llmc_nvptx_find_driver(llmc_cuda_driver *driver);

/* A GPU with one module of kernels. Calls may come from any thread, one at a time. */
typedef struct llmc_nvptx_device {
  const llmc_cuda_driver *driver; /* borrowed until llmc_nvptx_close */
  llmc_cuda_device number;
  llmc_cuda_context context;
  llmc_cuda_module module;
  llmc_cuda_result result; /* of the driver's last call */
} llmc_nvptx_device;

/* Loads `ptx` (text, NUL-terminated) on GPU `ordinal`. On failure nothing is left to close. */
llmc_nvptx_status llmc_nvptx_open(llmc_nvptx_device *device, const llmc_cuda_driver *driver,
                                  int ordinal, const char *ptx);
/* Memory of the device has to be released before. */
void llmc_nvptx_close(llmc_nvptx_device *device);

llmc_nvptx_status llmc_nvptx_allocate(llmc_nvptx_device *device, size_t bytes,
                                      llmc_cuda_pointer *address);
/* Address 0 is ignored. */
void llmc_nvptx_release(llmc_nvptx_device *device, llmc_cuda_pointer address);
llmc_nvptx_status llmc_nvptx_upload(llmc_nvptx_device *device, llmc_cuda_pointer to,
                                    const void *from, size_t bytes);
llmc_nvptx_status llmc_nvptx_download(llmc_nvptx_device *device, void *to, llmc_cuda_pointer from,
                                      size_t bytes);

/* Bytes on the device of a copy of `step`, whose `pages` has `n_pages` entries. */
size_t llmc_nvptx_step_bytes(const llmc_step *step, uint32_t n_pages);
/* Copies `step` to `to` (that many bytes, 8-byte aligned): the struct first, its arrays behind it,
 * its pointers as device addresses. `embeddings` stays behind: NULL there. */
llmc_nvptx_status llmc_nvptx_upload_step(llmc_nvptx_device *device, llmc_cuda_pointer to,
                                         const llmc_step *step, uint32_t n_pages);

/* Runs programs [begin, end) of `kernel`, operands in the order of its parameters, and waits. */
llmc_nvptx_status llmc_nvptx_launch(llmc_nvptx_device *device, const char *kernel,
                                    const llmc_cuda_pointer *operands, uint32_t n_operands,
                                    llmc_cuda_pointer step, uint32_t begin, uint32_t end);

#ifdef __cplusplus
}
#endif

#endif
