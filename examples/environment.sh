# SPDX-License-Identifier: Apache-2.0
# What every run.sh starts with: stops at the first failure and sets
#   root     the repository
#   build    the build tree: $LLMC_BUILD, relative to the repository, or build
#   scratch  an empty folder, gone at the end
#   PATH     with the build tree's llmc and llmc-opt in front
#   CC, CXX  the compilers that built llmc, unless set
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$root" && cd "${LLMC_BUILD:-build}" && pwd) || {
  echo "$0: error: no build tree in '${LLMC_BUILD:-build}'; build llmc first, or set LLMC_BUILD" >&2
  exit 1
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
PATH=$build/bin:$PATH

# A line NAME:TYPE=VALUE of the build tree's CMake cache.
cached() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }
CC=${CC:-$(cached CMAKE_C_COMPILER)}
CXX=${CXX:-$(cached CMAKE_CXX_COMPILER)}

# demo_model FOLDER: writes the tiny model of the README, random weights, a token per byte.
demo_model() { python3 -B "$root/tools/goldens/make_models.py" --demo --out "$1" >&2; }
