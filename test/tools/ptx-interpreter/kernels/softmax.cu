// SPDX-License-Identifier: Apache-2.0
// Row-wise softmax of rows x columns floats, one block of 64 threads per row; odd column counts make the last loop trip diverge.
extern "C" __global__ void softmax(const float *input, float *output, int columns) {
  __shared__ float partial[64];
  const float *row = input + (size_t)blockIdx.x * columns;
  float largest = -__int_as_float(0x7f800000);
  for (int column = threadIdx.x; column < columns; column += blockDim.x)
    if (row[column] > largest)
      largest = row[column];
  partial[threadIdx.x] = largest;
  __syncthreads();
  for (int distance = 32; distance > 0; distance /= 2) {
    if (threadIdx.x < distance && partial[threadIdx.x + distance] > partial[threadIdx.x])
      partial[threadIdx.x] = partial[threadIdx.x + distance];
    __syncthreads();
  }
  largest = partial[0];
  __syncthreads();
  float sum = 0;
  for (int column = threadIdx.x; column < columns; column += blockDim.x)
    sum += expf(row[column] - largest);
  partial[threadIdx.x] = sum;
  __syncthreads();
  for (int distance = 32; distance > 0; distance /= 2) {
    if (threadIdx.x < distance)
      partial[threadIdx.x] += partial[threadIdx.x + distance];
    __syncthreads();
  }
  float total = partial[0];
  for (int column = threadIdx.x; column < columns; column += blockDim.x)
    output[(size_t)blockIdx.x * columns + column] = expf(row[column] - largest) / total;
}
