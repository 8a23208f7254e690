/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of driver functions from the machine's own driver.
 */
#include "runtime/executor/nvptx/Launcher.h"
#include <dlfcn.h>
#include <string.h>

/* dlsym gives an object pointer; its bits are the function's address. */
static int find(void *library, const char *name, void *member) {
  void *address = dlsym(library, name);
  memcpy(member, &address, sizeof(address));
  return address != NULL;
}

llmc_nvptx_status llmc_nvptx_find_driver(llmc_cuda_driver *driver) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  memset(driver, 0, sizeof(*driver));
  if (!library)
    return LLMC_NVPTX_NO_DRIVER;
  int found = 1;
#define FIND(function) found &= find(library, #function, &driver->function)
  FIND(cuInit);
  FIND(cuDriverGetVersion);
  FIND(cuDeviceGetCount);
  FIND(cuDeviceGet);
  FIND(cuDeviceGetAttribute);
  FIND(cuDevicePrimaryCtxRetain);
  FIND(cuDevicePrimaryCtxRelease);
  FIND(cuCtxSetCurrent);
  FIND(cuModuleLoadData);
  FIND(cuModuleUnload);
  FIND(cuModuleGetFunction);
  FIND(cuFuncSetAttribute);
  FIND(cuMemAlloc_v2);
  FIND(cuMemFree_v2);
  FIND(cuMemcpyHtoD_v2);
  FIND(cuMemcpyDtoH_v2);
  FIND(cuMemsetD8_v2);
  FIND(cuLaunchKernel);
  FIND(cuStreamCreate);
  FIND(cuStreamSynchronize);
  FIND(cuStreamDestroy_v2);
  FIND(cuGetErrorString);
#undef FIND
  if (found)
    return LLMC_NVPTX_OK; /* never closed: the driver has threads of its own */
  memset(driver, 0, sizeof(*driver));
  dlclose(library);
  return LLMC_NVPTX_OLD_DRIVER;
}
