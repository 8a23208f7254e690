#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the plug-in, runs its test with llmc-opt, and compiles the demo model with and without it.
. "$(dirname "$0")/../environment.sh"
here=$root/examples/04-write-a-pass
mlir=$(cached MLIR_DIR)
tools=$(cd "$mlir/../../../bin" && pwd)

cmake -G Ninja -S "$here" -B "$scratch/plugin" -DMLIR_DIR="$mlir" -DCMAKE_C_COMPILER="$CC" -DCMAKE_CXX_COMPILER="$CXX" \
  -DCMAKE_BUILD_TYPE=Release >&2
cmake --build "$scratch/plugin" >&2
plugin=$scratch/plugin/name-regions.so

"$tools/lit" -v -D plugin="$plugin" -D scratch="$scratch/lit" -D path="$build/bin:$tools:$PATH" "$here/test" >&2
echo "the plug-in's test passes"

demo_model "$scratch/model"
llmc compile "$scratch/model" -o "$scratch/plain.so" >&2
llmc compile "$scratch/model" -o "$scratch/named.so" --load-pass-plugin "$plugin@graph" >&2

echo "commands of the last layer:"
llmc inspect "$scratch/named.so" --commands decode | awk '$2 ~ /^layers\.1\./ { print $2 }'
for name in plain named; do
  echo "$name: $(llmc run "$scratch/$name.so" --prompt-ids 72,101,108 --max-new-tokens 8 2>/dev/null)"
done
