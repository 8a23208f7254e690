// The flags that tools/llmc-opt/README.md teaches do what it says.
//
// RUN: llmc-opt %s --llmc-form-regions --llmc-fuse-residual-add --mlir-print-ir-after-all --mlir-print-ir-after-change -o /dev/null 2>&1 | FileCheck %s --check-prefix=CHANGE
// RUN: llmc-opt %s --llmc-form-regions --llmc-fuse-residual-add %remarks -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: llmc-opt %s --llmc-stage=graph --dump-pass-pipeline -o /dev/null 2>&1 | FileCheck %s --check-prefix=PIPELINE
// RUN: llmc-opt %s --llmc-stage=graph --mlir-timing -o /dev/null 2>&1 | FileCheck %s --check-prefix=TIMING
// RUN: rm -f %t.mlir && not llmc-opt %s --llmc-set-schedule="force=chunk=0" --llmc-form-regions --mlir-pass-pipeline-crash-reproducer=%t.mlir 2>&1
// RUN: FileCheck %s --check-prefix=REPRODUCER --input-file=%t.mlir

// CHANGE: IR Dump After {{.*}}llmc-form-regions
// REMARK: llmc-fuse-residual-add | Category:llmc-fuse-residual-add:o
// PIPELINE: llmc-set-kv-layout{element=auto layout=head_major}
// PIPELINE: llmc-fuse-norm-into-linear
// PIPELINE: cse
// PIPELINE: llmc-verify-contract{stage=graph}
// TIMING: FormRegionsPass
// REPRODUCER: llmc-set-schedule{force=chunk=0

llm.weight @o : !llm.weight<64x64xf32> from ["o"]

func.func @decode(%x: tensor<?x64xf32>) -> tensor<?x64xf32> attributes {llm.graph = "decode"} {
  %y = llm.linear %x, @o : tensor<?x64xf32> -> tensor<?x64xf32>
  %z = llm.add %x, %y : tensor<?x64xf32>
  return %z : tensor<?x64xf32>
}
