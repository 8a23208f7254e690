// Of four functions the one that a script asks for is left. The script exits 1 for a module that is still interesting.
//
// RUN: rm -rf %t && mkdir %t
// RUN: echo '#!/bin/sh' > %t/interesting
// RUN: echo '! grep -q llm.add "$1"' >> %t/interesting
// RUN: chmod +x %t/interesting
// RUN: llmc-reduce %s --reduction-tree="traversal-mode=0 test=%t/interesting" -o %t/small.mlir
// RUN: FileCheck %s --input-file=%t/small.mlir
// RUN: llmc-opt %t/small.mlir -o /dev/null

// CHECK-NOT: @other
// CHECK: llm.add
// CHECK-NOT: @other

func.func @other_0(%x: tensor<?x64xf32>) -> tensor<?x48xf32> {
  %a, %b = llm.split %x : tensor<?x64xf32> -> tensor<?x48xf32>, tensor<?x16xf32>
  return %a : tensor<?x48xf32>
}

func.func @other_1(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %h = llm.activate silu %x, %x : tensor<?x64xf32>
  return %h : tensor<?x64xf32>
}

func.func @decode(%x: tensor<?x64xf32>) -> tensor<?x64xf32> attributes {llm.graph = "decode"} {
  %s = llm.add %x, %x : tensor<?x64xf32>
  return %s : tensor<?x64xf32>
}

func.func @other_2(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  return %x : tensor<?x64xf32>
}
