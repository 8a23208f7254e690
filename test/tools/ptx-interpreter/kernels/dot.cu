// SPDX-License-Identifier: Apache-2.0
// One dot product per warp: float4 loads, fma, then a butterfly of shuffles.
extern "C" __global__ void dot(const float4 *left, const float4 *right, float *output, int quads) {
  int warp = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  float sum = 0;
  for (int i = threadIdx.x % 32; i < quads; i += 32) {
    float4 a = left[warp * quads + i], b = right[warp * quads + i];
    sum = fmaf(a.x, b.x, fmaf(a.y, b.y, fmaf(a.z, b.z, fmaf(a.w, b.w, sum))));
  }
  for (int distance = 16; distance > 0; distance /= 2)
    sum += __shfl_xor_sync(0xffffffff, sum, distance);
  if (threadIdx.x % 32 == 0)
    output[warp] = sum;
}
