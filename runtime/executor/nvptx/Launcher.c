/* SPDX-License-Identifier: Apache-2.0
 *
 * Device, memory and launches. Every call makes the device's context the thread's own first, so
 * threads may take turns.
 */
#include "runtime/executor/nvptx/Launcher.h"
#include <string.h>

enum { WARP = 32 };

const char *llmc_nvptx_status_text(llmc_nvptx_status status) {
  switch (status) {
  case LLMC_NVPTX_OK:
    return "fine";
  case LLMC_NVPTX_NO_DRIVER:
    return "found no libcuda.so.1, expected the NVIDIA driver to be installed";
  case LLMC_NVPTX_OLD_DRIVER:
    return "libcuda.so.1 lacks a function, expected a driver of CUDA 11 or later";
  case LLMC_NVPTX_NO_DEVICE:
    return "found no GPU of that number";
  case LLMC_NVPTX_BAD_ARGUMENT:
    return "bad argument";
  case LLMC_NVPTX_DRIVER_ERROR:
    return "the driver refused";
  }
  return "unknown status";
}

static llmc_nvptx_status answer(llmc_nvptx_device *device, llmc_cuda_result result) {
  device->result = result;
  return result == LLMC_CUDA_SUCCESS ? LLMC_NVPTX_OK : LLMC_NVPTX_DRIVER_ERROR;
}

static llmc_nvptx_status enter(llmc_nvptx_device *device) {
  return answer(device, device->driver->cuCtxSetCurrent(device->context));
}

llmc_nvptx_status llmc_nvptx_open(llmc_nvptx_device *device, const llmc_cuda_driver *driver,
                                  int ordinal, const char *ptx) {
  memset(device, 0, sizeof(*device));
  if (!driver || !ptx || ordinal < 0)
    return LLMC_NVPTX_BAD_ARGUMENT;
  device->driver = driver;
  int count = 0;
  llmc_nvptx_status status = answer(device, driver->cuInit(0));
  if (status == LLMC_NVPTX_OK)
    status = answer(device, driver->cuDeviceGetCount(&count));
  if (status == LLMC_NVPTX_OK && ordinal >= count)
    return LLMC_NVPTX_NO_DEVICE;
  if (status == LLMC_NVPTX_OK)
    status = answer(device, driver->cuDeviceGet(&device->number, ordinal));
  if (status == LLMC_NVPTX_OK)
    status = answer(device, driver->cuDevicePrimaryCtxRetain(&device->context, device->number));
  if (status != LLMC_NVPTX_OK)
    return status;
  status = enter(device);
  if (status == LLMC_NVPTX_OK)
    status = answer(device, driver->cuModuleLoadData(&device->module, ptx));
  if (status != LLMC_NVPTX_OK)
    driver->cuDevicePrimaryCtxRelease(device->number);
  return status;
}

void llmc_nvptx_close(llmc_nvptx_device *device) {
  if (enter(device) == LLMC_NVPTX_OK)
    device->driver->cuModuleUnload(device->module);
  device->driver->cuDevicePrimaryCtxRelease(device->number);
}

llmc_nvptx_status llmc_nvptx_allocate(llmc_nvptx_device *device, size_t bytes,
                                      llmc_cuda_pointer *address) {
  *address = 0;
  if (bytes == 0) /* the driver refuses it, but an empty array is none of its business */
    bytes = 1;
  llmc_nvptx_status status = enter(device);
  return status ? status : answer(device, device->driver->cuMemAlloc_v2(address, bytes));
}

void llmc_nvptx_release(llmc_nvptx_device *device, llmc_cuda_pointer address) {
  if (address && enter(device) == LLMC_NVPTX_OK)
    device->driver->cuMemFree_v2(address);
}

llmc_nvptx_status llmc_nvptx_upload(llmc_nvptx_device *device, llmc_cuda_pointer to,
                                    const void *from, size_t bytes) {
  llmc_nvptx_status status = enter(device);
  if (status || bytes == 0)
    return status;
  return answer(device, device->driver->cuMemcpyHtoD_v2(to, from, bytes));
}

llmc_nvptx_status llmc_nvptx_download(llmc_nvptx_device *device, void *to, llmc_cuda_pointer from,
                                      size_t bytes) {
  llmc_nvptx_status status = enter(device);
  if (status || bytes == 0)
    return status;
  return answer(device, device->driver->cuMemcpyDtoH_v2(to, from, bytes));
}

/* The arrays of a step that kernels read, all of 4-byte elements. */
enum { ARRAYS = 9 };
typedef struct step_array {
  const void *host;
  size_t count;
  size_t member; /* where its pointer lies in llmc_step */
} step_array;

static void list_arrays(const llmc_step *step, uint32_t n_pages, step_array *arrays) {
  size_t rows = step->n_rows, outputs = step->n_outputs, sequences = step->n_sequences;
  const step_array list[ARRAYS] = {
      {step->tokens, rows, offsetof(llmc_step, tokens)},
      {step->positions, rows, offsetof(llmc_step, positions)},
      {step->slots, rows, offsetof(llmc_step, slots)},
      {step->row_sequence, rows, offsetof(llmc_step, row_sequence)},
      {step->output_rows, outputs, offsetof(llmc_step, output_rows)},
      {step->sequence_row, sequences + 1, offsetof(llmc_step, sequence_row)},
      {step->sequence_base, sequences, offsetof(llmc_step, sequence_base)},
      {step->sequence_page, sequences, offsetof(llmc_step, sequence_page)},
      {step->pages, n_pages, offsetof(llmc_step, pages)},
  };
  memcpy(arrays, list, sizeof(list));
}

size_t llmc_nvptx_step_bytes(const llmc_step *step, uint32_t n_pages) {
  step_array arrays[ARRAYS];
  list_arrays(step, n_pages, arrays);
  size_t bytes = sizeof(llmc_step);
  for (int i = 0; i < ARRAYS; ++i)
    bytes += arrays[i].host ? arrays[i].count * 4 : 0;
  return bytes;
}

llmc_nvptx_status llmc_nvptx_upload_step(llmc_nvptx_device *device, llmc_cuda_pointer to,
                                         const llmc_step *step, uint32_t n_pages) {
  step_array arrays[ARRAYS];
  list_arrays(step, n_pages, arrays);
  llmc_step copy = *step;
  copy.embeddings = NULL;
  llmc_cuda_pointer at = to + sizeof(llmc_step);
  for (int i = 0; i < ARRAYS; ++i) {
    if (!arrays[i].host)
      continue;
    llmc_nvptx_status status = llmc_nvptx_upload(device, at, arrays[i].host, arrays[i].count * 4);
    if (status)
      return status;
    memcpy((char *)&copy + arrays[i].member, &at, sizeof(at)); /* both are 8 bytes */
    at += arrays[i].count * 4;
  }
  return llmc_nvptx_upload(device, to, &copy, sizeof(copy));
}

llmc_nvptx_status llmc_nvptx_launch(llmc_nvptx_device *device, const char *kernel,
                                    const llmc_cuda_pointer *operands, uint32_t n_operands,
                                    llmc_cuda_pointer step, uint32_t begin, uint32_t end) {
  if (n_operands > LLMC_MAX_OPERANDS || begin > end)
    return LLMC_NVPTX_BAD_ARGUMENT;
  if (begin == end)
    return LLMC_NVPTX_OK;
  llmc_nvptx_status status = enter(device);
  llmc_cuda_function function;
  if (!status)
    status = answer(device, device->driver->cuModuleGetFunction(&function, device->module, kernel));
  if (status)
    return status;
  void *parameters[LLMC_MAX_OPERANDS + 2];
  for (uint32_t i = 0; i < n_operands; ++i)
    parameters[i] = (void *)&operands[i];
  parameters[n_operands] = &step;
  parameters[n_operands + 1] = &begin;
  status = answer(device, device->driver->cuLaunchKernel(function, end - begin, 1, 1, WARP, 1, 1, 0,
                                                         NULL, parameters, NULL));
  return status ? status : answer(device, device->driver->cuStreamSynchronize(NULL));
}
