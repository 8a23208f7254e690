#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compiles the demo model and a C program that opens it, and runs it; also with a prompt that is refused.
. "$(dirname "$0")/../environment.sh"
here=$root/examples/02-c-program

demo_model "$scratch/model"
llmc compile "$scratch/model" -o "$scratch/model.so" >&2

# Plain C and no libstdc++: the runtime is one static library of C calls.
"$CC" -std=c11 -Wall -Wextra -Werror -O2 -I "$root/runtime/include" "$here/generate.c" \
  "$build/runtime/engine/libllmc.a" -lpcre2-8 -lutf8proc -lm -pthread -ldl -o "$scratch/generate"

echo "eight tokens after 72,101,108:"
"$scratch/generate" "$scratch/model.so" 8 72 101 108
echo "a token that the model does not have:"
"$scratch/generate" "$scratch/model.so" 8 72 256 2>&1 || echo "exit code $?"
echo "a file that is no model:"
cd "$scratch"
./generate model/config.json 8 72 2>&1 || echo "exit code $?"
