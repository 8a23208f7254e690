// Values between launches get places; those that never live together share one; each graph is planned by itself, and the
// arena is as large as the largest needs.
//
// RUN: llmc-opt %s --llmc-plan-arena | FileCheck %s
// RUN: llmc-opt %s --llmc-plan-arena --llmc-plan-arena | FileCheck %s
// RUN: llmc-opt %s --llmc-plan-arena %remarks -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// Three rows of 256 bytes at once in prefill, two in decode; one of 400 an output, rounded up to 448.
// CHECK: module attributes {llm.outputs_arena_bytes = 448 : i64, llm.rows_arena_bytes = 768 : i64}
// REMARK: 768 bytes a row, 448 bytes an output
// REMARK: 512 bytes a row, 0 bytes an output

tile.kernel @fill(%step: !tile.step, %y: !tile.view<?x64xf32>) { tile.return }
tile.kernel @copy(%step: !tile.step, %x: !tile.view<?x64xf32>, %y: !tile.view<?x64xf32>) { tile.return }
tile.kernel @sum(%step: !tile.step, %a: !tile.view<?x64xf32>, %b: !tile.view<?x64xf32>, %y: !tile.view<?x64xf32>) { tile.return }
tile.kernel @head(%step: !tile.step, %x: !tile.view<?x64xf32>, %y: !tile.view<?x100xf32>) { tile.return }

// CHECK-LABEL: func.func @prefill
// CHECK-SAME: (%{{.*}}: !tile.step) attributes
func.func @prefill(%step: !tile.step) -> tensor<?x100xf32, #llm.per<output>> attributes {llm.graph = "prefill"} {
  // CHECK: %[[A:.*]] = tile.slice rows offset 0 : <?x64xf32>
  // CHECK: tile.launch @fill "a" grid(rows, 1) chunk 1(%[[A]]) : (!tile.view<?x64xf32>) -> ()
  %a = tile.launch @fill "a" grid(rows, 1) chunk 1 () : () -> tensor<?x64xf32>
  // CHECK: %[[B:.*]] = tile.slice rows offset 256
  // CHECK: tile.launch @copy "b" grid(rows, 1) chunk 1(%[[A]], %[[B]])
  %b = tile.launch @copy "b" grid(rows, 1) chunk 1 (%a) : (tensor<?x64xf32>) -> tensor<?x64xf32>
  // a and b are read while c is written: a third place.
  // CHECK: %[[C:.*]] = tile.slice rows offset 512
  %c = tile.launch @sum "c" grid(rows, 1) chunk 1 (%a, %b) : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
  // a and b are dead.
  // CHECK: %[[D:.*]] = tile.slice rows offset 0
  // CHECK: tile.launch @copy "d" grid(rows, 1) chunk 1(%[[C]], %[[D]])
  %d = tile.launch @copy "d" grid(rows, 1) chunk 1 (%c) : (tensor<?x64xf32>) -> tensor<?x64xf32>
  // CHECK: %[[L:.*]] = tile.slice outputs offset 0 : <?x100xf32>
  // CHECK: tile.result logits %[[L]]
  // CHECK: return{{$}}
  %l = tile.launch @head "l" grid(outputs, 1) chunk 1 (%d) : (tensor<?x64xf32>) -> tensor<?x100xf32, #llm.per<output>>
  return %l : tensor<?x100xf32, #llm.per<output>>
}

// CHECK-LABEL: func.func @decode
func.func @decode(%step: !tile.step) -> tensor<?x64xf32> attributes {llm.graph = "decode"} {
  // CHECK: tile.slice rows offset 0
  // CHECK: tile.slice rows offset 256
  // CHECK: tile.slice rows offset 0
  %a = tile.launch @fill "a" grid(rows, 1) chunk 1 () : () -> tensor<?x64xf32>
  %b = tile.launch @copy "b" grid(rows, 1) chunk 1 (%a) : (tensor<?x64xf32>) -> tensor<?x64xf32>
  %c = tile.launch @copy "c" grid(rows, 1) chunk 1 (%b) : (tensor<?x64xf32>) -> tensor<?x64xf32>
  return %c : tensor<?x64xf32>
}
