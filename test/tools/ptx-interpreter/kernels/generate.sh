#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the .ptx files beside it. They are committed, so tests need neither nvcc nor clang's NVPTX target; run this after
# changing a source. Made with nvcc 13.0 and clang 22.
set -e
cd "$(dirname "$0")"
for kernel in softmax dot gelu; do
  nvcc -ptx -arch=sm_80 -O3 "$kernel.cu" -o "$kernel.ptx"
done
clang-22 --target=nvptx64 -march=sm_80 -O3 -fno-math-errno -ffp-contract=fast -S tiles.c -o tiles.ptx
