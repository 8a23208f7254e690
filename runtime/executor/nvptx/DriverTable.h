/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of the CUDA driver API that a compiled model needs, as a table. Whoever runs a
 * model on a GPU fills it: from libcuda.so with dlsym, or from the PTX interpreter
 * (tools/ptx-interpreter/Driver.h). Each member has the name of the exported symbol, so a loader
 * needs no second list of names, and its C signature. The types are our own declarations of the
 * same layout; cuda.h is not needed and must not be included with this in one file's interface.
 */
#ifndef LLMC_RUNTIME_EXECUTOR_NVPTX_DRIVER_TABLE_H
#define LLMC_RUNTIME_EXECUTOR_NVPTX_DRIVER_TABLE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int llmc_cuda_result; /* one of the LLMC_CUDA_ codes or another the driver knows */
typedef int llmc_cuda_device;
typedef unsigned long long llmc_cuda_pointer; /* a device address */
typedef struct llmc_cuda_context_object *llmc_cuda_context;
typedef struct llmc_cuda_module_object *llmc_cuda_module;
typedef struct llmc_cuda_function_object *llmc_cuda_function;
typedef struct llmc_cuda_stream_object *llmc_cuda_stream; /* null: the default stream */

enum {
  LLMC_CUDA_SUCCESS = 0,
  LLMC_CUDA_INVALID_VALUE = 1,
  LLMC_CUDA_OUT_OF_MEMORY = 2,
  LLMC_CUDA_NOT_INITIALIZED = 3,
  LLMC_CUDA_DEINITIALIZED = 4,
  LLMC_CUDA_NO_DEVICE = 100,
  LLMC_CUDA_INVALID_DEVICE = 101,
  LLMC_CUDA_INVALID_CONTEXT = 201,
  LLMC_CUDA_NO_BINARY_FOR_GPU = 209,
  LLMC_CUDA_INVALID_PTX = 218,
  LLMC_CUDA_INVALID_HANDLE = 400,
  LLMC_CUDA_NOT_FOUND = 500,
  LLMC_CUDA_ILLEGAL_ADDRESS = 700,
  LLMC_CUDA_LAUNCH_OUT_OF_RESOURCES = 701,
  LLMC_CUDA_LAUNCH_TIMEOUT = 702,
  LLMC_CUDA_MISALIGNED_ADDRESS = 716,
  LLMC_CUDA_LAUNCH_FAILED = 719
};

/* For cuDeviceGetAttribute. */
enum {
  LLMC_CUDA_MAX_THREADS_PER_BLOCK = 1,
  LLMC_CUDA_MAX_SHARED_BYTES_PER_BLOCK = 8,
  LLMC_CUDA_WARP_SIZE = 10,
  LLMC_CUDA_MULTIPROCESSORS = 16,
  LLMC_CUDA_CAPABILITY_MAJOR = 75,
  LLMC_CUDA_CAPABILITY_MINOR = 76,
  LLMC_CUDA_MAX_SHARED_BYTES_OPT_IN = 97
};

/* For cuFuncSetAttribute: dynamic shared memory beyond the default has to be asked for. */
enum { LLMC_CUDA_FUNCTION_MAX_DYNAMIC_SHARED_BYTES = 8 };

typedef struct llmc_cuda_driver {
  llmc_cuda_result (*cuInit)(unsigned int flags);
  llmc_cuda_result (*cuDriverGetVersion)(int *version);
  llmc_cuda_result (*cuDeviceGetCount)(int *count);
  llmc_cuda_result (*cuDeviceGet)(llmc_cuda_device *device, int ordinal);
  llmc_cuda_result (*cuDeviceGetAttribute)(int *value, int attribute, llmc_cuda_device device);
  llmc_cuda_result (*cuDevicePrimaryCtxRetain)(llmc_cuda_context *context, llmc_cuda_device device);
  llmc_cuda_result (*cuDevicePrimaryCtxRelease)(llmc_cuda_device device);
  llmc_cuda_result (*cuCtxSetCurrent)(llmc_cuda_context context); /* for the calling thread */
  llmc_cuda_result (*cuModuleLoadData)(llmc_cuda_module *module, const void *image);
  llmc_cuda_result (*cuModuleUnload)(llmc_cuda_module module);
  llmc_cuda_result (*cuModuleGetFunction)(llmc_cuda_function *function, llmc_cuda_module module,
                                          const char *name);
  llmc_cuda_result (*cuFuncSetAttribute)(llmc_cuda_function function, int attribute, int value);
  llmc_cuda_result (*cuMemAlloc_v2)(llmc_cuda_pointer *address, size_t bytes);
  llmc_cuda_result (*cuMemFree_v2)(llmc_cuda_pointer address);
  llmc_cuda_result (*cuMemcpyHtoD_v2)(llmc_cuda_pointer to, const void *from, size_t bytes);
  llmc_cuda_result (*cuMemcpyDtoH_v2)(void *to, llmc_cuda_pointer from, size_t bytes);
  llmc_cuda_result (*cuMemsetD8_v2)(llmc_cuda_pointer to, unsigned char value, size_t bytes);
  llmc_cuda_result (*cuLaunchKernel)(llmc_cuda_function function, unsigned int grid_x,
                                     unsigned int grid_y, unsigned int grid_z, unsigned int block_x,
                                     unsigned int block_y, unsigned int block_z,
                                     unsigned int dynamic_shared_bytes, llmc_cuda_stream stream,
                                     void **parameters, void **extra);
  llmc_cuda_result (*cuStreamCreate)(llmc_cuda_stream *stream, unsigned int flags);
  llmc_cuda_result (*cuStreamSynchronize)(llmc_cuda_stream stream);
  llmc_cuda_result (*cuStreamDestroy_v2)(llmc_cuda_stream stream);
  llmc_cuda_result (*cuGetErrorString)(llmc_cuda_result result, const char **text);
} llmc_cuda_driver;

#ifdef __cplusplus
}
#endif

#endif
