// RUN: llmc-opt %s --load-pass-plugin=%plugin --pass-pipeline="builtin.module(example-name-regions)" \
// RUN:   --remark-format=emitRemark --remarks-filter=example-.* 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t

// The name of a region tells what runs in its kernel.

llm.weight @norm : !llm.weight<64xf32> from ["norm"]
llm.weight @o : !llm.weight<64x64xf32> from ["o"]

// CHECK-LABEL: @two_ops
// CHECK: llm.fused "layers.0.o(linear+add)"
// REMARK: remark: {{.*}}layers.0.o{{.*}}one kernel for linear+add
func.func @two_ops(%x: tensor<?x64xf32>, %residual: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %sum = llm.fused "layers.0.o" {
    %product = llm.linear %x, @o : tensor<?x64xf32> -> tensor<?x64xf32>
    %added = llm.add %residual, %product : tensor<?x64xf32>
    llm.yield %added : tensor<?x64xf32>
  } : tensor<?x64xf32>
  return %sum : tensor<?x64xf32>
}

// One op: the name says it already.
// CHECK-LABEL: @no_list_for_one_op
// CHECK: llm.fused "final_norm" {
// REMARK-NOT: final_norm
func.func @no_list_for_one_op(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %normed = llm.fused "final_norm" {
    %row = llm.rms_norm %x, @norm {eps = 1.0e-05 : f32} : tensor<?x64xf32>
    llm.yield %row : tensor<?x64xf32>
  } : tensor<?x64xf32>
  return %normed : tensor<?x64xf32>
}

// Run a second time, the pass changes nothing.
// CHECK-LABEL: @already_named
// CHECK: llm.fused "layers.1.o(linear+add)" {
// REMARK-NOT: layers.1.o
func.func @already_named(%x: tensor<?x64xf32>, %residual: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %sum = llm.fused "layers.1.o(linear+add)" {
    %product = llm.linear %x, @o : tensor<?x64xf32> -> tensor<?x64xf32>
    %added = llm.add %residual, %product : tensor<?x64xf32>
    llm.yield %added : tensor<?x64xf32>
  } : tensor<?x64xf32>
  return %sum : tensor<?x64xf32>
}
