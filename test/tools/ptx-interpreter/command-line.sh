#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The command-line tool: listing, a run with files in and out, findings as exit code 1, wrong usage as 2.
tool=$1
kernels=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1

failed=0
# expect CODE TEXT WORDS...: runs the tool, compares its exit code and looks for TEXT in what it says.
expect() {
  code=$1 text=$2
  shift 2
  "$tool" "$@" >said 2>&1
  found=$?
  if [ "$found" != "$code" ] || ! grep -qF -- "$text" said; then
    echo "FAILED: $* gave $found, expected $code and '$text':"
    cat said
    failed=1
  fi
}

# Two float4: 1 2 3 4 5 6 7 8, once as left and once as right; their dot product is 204 = 0x434c0000.
printf '\000\000\200\077\000\000\000\100\000\000\100\100\000\000\200\100\000\000\240\100\000\000\300\100\000\000\340\100\000\000\000\101' >eight.bin
run="$kernels/dot.ptx --kernel dot --block 32 --arg in:f32:eight.bin --arg in:f32:eight.bin --arg out:f32:1:sum.bin"

expect 0 "usage:" --help
expect 0 "kernel dot:" "$kernels/dot.ptx" --list
expect 0 "global bytes written   4" $run --arg s32:2
[ "$(od -An -tx4 sum.bin | tr -d ' ')" = 434c0000 ] || { echo "FAILED: wrong sum"; od -An -tx4 sum.bin; failed=1; }
expect 1 "out-of-bounds" $run --arg s32:3
expect 1 "budget-spent" $run --arg s32:2 --budget 10
expect 1 "got 3 arguments, expected 4" $run
expect 1 "has no kernel 'absent'" "$kernels/dot.ptx" --kernel absent
expect 1 "absent.ptx: error: cannot be read" absent.ptx --list
expect 1 "expected a multiple of 8" "$kernels/dot.ptx" --kernel dot --arg in:f64:said
printf '.version 8.0\n.target sm_80\n.entry k() { nonsense.u32 1; }\n' >bad.ptx
expect 1 "bad.ptx:3: error: in kernel 'k': unsupported form 'nonsense.u32'" bad.ptx --list
expect 2 "no file given"
expect 2 "neither --list nor --kernel" "$kernels/dot.ptx"
expect 2 "--grid is '1,x'" "$kernels/dot.ptx" --kernel dot --grid 1,x
expect 2 "unknown option '--wrong'" "$kernels/dot.ptx" --wrong 1
expect 2 "argument is 'q32:5'" "$kernels/dot.ptx" --kernel dot --arg q32:5
exit $failed
