// SPDX-License-Identifier: Apache-2.0
// Tile-like kernels for LLVM's NVPTX back end: rms_norm with shuffles and shared memory, GEMV with vector loads, and
// silu(gate) * up with an exponential made of a polynomial and integer bit tricks.
void __syncthreads(void) __asm__("llvm.nvvm.barrier0");
typedef float float4 __attribute__((ext_vector_type(4)));
#define GLOBAL __attribute__((address_space(1)))
#define SHARED __attribute__((address_space(3)))
#define KERNEL __attribute__((device_kernel))
SHARED float partial[4];
KERNEL void rms_norm(const GLOBAL float *input, const GLOBAL float *weight, GLOBAL float *output, int columns, float epsilon) {
  int thread = __nvvm_read_ptx_sreg_tid_x(), threads = __nvvm_read_ptx_sreg_ntid_x();
  long row = (long)__nvvm_read_ptx_sreg_ctaid_x() * columns;
  float sum = 0;
  for (int i = thread; i < columns; i += threads)
    sum = __builtin_fmaf(input[row + i], input[row + i], sum);
  for (int distance = 16; distance; distance /= 2)
    sum += __nvvm_shfl_sync_bfly_f32(-1, sum, distance, 31);
  if (thread % 32 == 0)
    partial[thread / 32] = sum;
  __syncthreads();
  float total = 0;
  for (int i = 0; i < threads / 32; ++i)
    total += partial[i];
  float scale = 1.0f / __builtin_sqrtf(total / (float)columns + epsilon);
  for (int i = thread; i < columns; i += threads)
    output[row + i] = input[row + i] * scale * weight[i];
}
KERNEL void gemv(const GLOBAL float4 *matrix, const GLOBAL float4 *vector, GLOBAL float *output, int rows, int quads) {
  int thread = __nvvm_read_ptx_sreg_tid_x();
  int row = __nvvm_read_ptx_sreg_ctaid_x() * 4 + thread / 32;
  if (row >= rows) return;
  float sum = 0;
  for (int i = thread % 32; i < quads; i += 32) {
    float4 a = matrix[(long)row * quads + i], b = vector[i];
    sum += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
  }
  for (int distance = 16; distance; distance /= 2)
    sum += __nvvm_shfl_sync_down_f32(-1, sum, distance, 31);
  if (thread % 32 == 0)
    output[row] = sum;
}
static float exponential(float x) {
  x = __builtin_fminf(__builtin_fmaxf(x, -87.0f), 88.0f);
  float n = __builtin_rintf(x * 1.44269504f);
  float r = __builtin_fmaf(n, -0.693359375f, x);
  r = __builtin_fmaf(n, 2.12194440e-4f, r);
  float p = 1.0f / 720;
  p = __builtin_fmaf(p, r, 1.0f / 120);
  p = __builtin_fmaf(p, r, 1.0f / 24);
  p = __builtin_fmaf(p, r, 1.0f / 6);
  p = __builtin_fmaf(p, r, 0.5f);
  p = __builtin_fmaf(p, r, 1.0f);
  p = __builtin_fmaf(p, r, 1.0f);
  union { float f; int i; } bits = {p};
  bits.i += (int)n << 23;
  return bits.f;
}
KERNEL void silu_multiply(const GLOBAL float *gate, const GLOBAL float *up, GLOBAL float *output, int count) {
  int i = __nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + __nvvm_read_ptx_sreg_tid_x();
  if (i < count)
    output[i] = gate[i] / (1.0f + exponential(-gate[i])) * up[i];
}
