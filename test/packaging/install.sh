#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# install.sh BUILD SOURCE CC CXX CMAKE
set -eu
build=$1 source=$2 CC=$3 CXX=$4 cmake=$5
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$cmake" --install "$build" --prefix "$scratch/first" >"$scratch/log" || { cat "$scratch/log"; exit 1; }
mv "$scratch/first" "$scratch/moved" # no path of the prefix may be needed
prefix=$scratch/moved
cp -r "$source/test/packaging/consumer" "$scratch/consumer"

python3 -B "$source/tools/goldens/make_models.py" --demo --out "$scratch/demo" >/dev/null
"$prefix/bin/llmc" compile "$scratch/demo" -o "$scratch/demo.so" 2>/dev/null

echo "with find_package"
"$cmake" -G Ninja -S "$scratch/consumer" -B "$scratch/consumer-build" -DCMAKE_C_COMPILER="$CC" -DCMAKE_CXX_COMPILER="$CXX" \
  -DCMAKE_PREFIX_PATH="$prefix" -DDEMO="$scratch/demo/config.json" -DDEMO_FOLDER="$scratch/demo" >"$scratch/log" 2>&1 ||
  { cat "$scratch/log"; exit 1; }
"$cmake" --build "$scratch/consumer-build" >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
"$scratch/consumer-build/vocabulary-shared" "$scratch/demo.so"
"$scratch/consumer-build/vocabulary-static" "$scratch/demo.so"
"$scratch/consumer-build/vocabulary-shared" "$scratch/consumer-build/made.so" # by llmc_compile_model

echo "with pkg-config"
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig:$prefix/lib/x86_64-linux-gnu/pkgconfig
# shellcheck disable=SC2046
"$CC" "$scratch/consumer/vocabulary.c" $(pkg-config --cflags --libs llmc) -Wl,-rpath,"$(pkg-config --variable=libdir llmc)" -o "$scratch/by-pkg-config"
"$scratch/by-pkg-config" "$scratch/demo.so"

for file in bin/llmc-opt share/man/man1/llmc.1 share/bash-completion/completions/llmc share/zsh/site-functions/_llmc; do
  [ -f "$prefix/$file" ] || { echo "found no $file, expected it installed"; exit 1; }
done
# shellcheck disable=SC2016
PATH=$prefix/bin:$PATH bash -c '. "$0"; COMP_WORDS=(llmc com); COMP_CWORD=1; _llmc; echo "completes to ${COMPREPLY[*]}"' \
  "$prefix/share/bash-completion/completions/llmc" | grep "compile compare"
