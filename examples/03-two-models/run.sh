#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compiles two different models to objects, links both into one program, and compares what its threads
# print with what `llmc run` prints for each model alone.
. "$(dirname "$0")/../environment.sh"
here=$root/examples/03-two-models

demo_model "$scratch/alpha"
python3 -B "$root/tools/goldens/make_models.py" --only qwen3-bias --out "$scratch" >&2
mv "$scratch/qwen3-bias" "$scratch/beta"

for name in alpha beta; do
  llmc compile "$scratch/$name" -o "$scratch/$name.o" --name $name >&2
  llmc compile "$scratch/$name" -o "$scratch/$name.so" >&2
done
"$CXX" -std=c++17 -Wall -Wextra -Werror -O2 -I "$root/runtime/include" "$here/two_models.cpp" \
  "$scratch/alpha.o" "$scratch/beta.o" "$build/runtime/engine/libllmc.a" -lpcre2-8 -lutf8proc -lm -pthread -ldl \
  -o "$scratch/two_models"

"$scratch/two_models" | tee "$scratch/together.txt"

for prompt in 5 3,1,4,1,5,9,2,6; do
  for name in alpha beta; do
    ids=$(llmc run "$scratch/$name.so" --prompt-ids $prompt --max-new-tokens 8 --ignore-eos 2>/dev/null)
    echo "$name after $prompt: $ids"
  done
done >"$scratch/alone.txt"
diff "$scratch/together.txt" "$scratch/alone.txt"
echo "the same ids as llmc run"
