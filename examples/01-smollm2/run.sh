#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compiles SmolLM2-135M-Instruct into one file and asks it something.
. "$(dirname "$0")/../environment.sh"

gguf=$("$root/tools/dev/fetch" smollm2)
out=$build/smollm2.so

echo '$ llmc compile SmolLM2-135M-Instruct.Q4_1.gguf -o smollm2.so --max-seq 2048'
llmc compile "$gguf" -o "$out" --max-seq 2048
echo '$ llmc run smollm2.so --chat --prompt "What is the capital of Japan?"'
llmc run "$out" --chat --prompt "What is the capital of Japan?"
