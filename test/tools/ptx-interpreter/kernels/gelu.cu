// SPDX-License-Identifier: Apache-2.0
// Element-wise: gelu by erf, and a half-precision round trip through bfloat16 and f16.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
extern "C" __global__ void gelu(const float *input, float *output, unsigned count) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    output[i] = 0.5f * input[i] * (1.0f + erff(input[i] * 0.70710678f));
}
extern "C" __global__ void narrow(const float *input, __nv_bfloat16 *brain, __half *half, unsigned count) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    brain[i] = __float2bfloat16(input[i]);
    half[i] = __float2half(input[i]);
  }
}
extern "C" __global__ void powers(const float *base, const float *exponent, int *whole, float *output, unsigned count) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    float value = powf(base[i], exponent[i]) + tanhf(base[i]) + rsqrtf(base[i] + 1) + logf(base[i]) + sinf(base[i]);
    output[i] = value;
    whole[i] = __float2int_rn(value) / (int)(i % 7 + 1) + (int)(i % 5);
  }
}
