// RUN: llmc-opt %s --llmc-lower-tile-to-cpu | FileCheck %s

// The signature is llmc_kernel_fn; operand i is table[slots[i]]; one loop runs programs begin to end.

// CHECK-LABEL: llvm.func hidden @copy
// CHECK-SAME: (%[[TABLE:.*]]: !llvm.ptr, %[[SLOTS:.*]]: !llvm.ptr, %{{.*}}: !llvm.ptr, %[[BEGIN:.*]]: i32, %[[END:.*]]: i32)
// CHECK: %[[SLOT:.*]] = llvm.load %[[SLOTS]] invariant
// CHECK: %[[WIDE:.*]] = llvm.zext %[[SLOT]] : i16 to i64
// CHECK: llvm.getelementptr %[[TABLE]][%[[WIDE]]]
// CHECK-DAG: %[[FIRST:.*]] = arith.index_castui %[[BEGIN]] : i32 to index
// CHECK-DAG: %[[LAST:.*]] = arith.index_castui %[[END]] : i32 to index
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %[[LAST]]
// CHECK: %[[A:.*]] = llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<8xf32>
// CHECK: llvm.store %[[A]], %{{.*}} {alignment = 4 : i64} : vector<8xf32>, !llvm.ptr
// CHECK: llvm.return
tile.kernel @copy(%step: !tile.step, %x: !tile.view<?x8xf32>, %y: !tile.view<?x8xf32>) {
  %r = tile.program_id line
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%r, %c0] : !tile.view<?x8xf32> -> tensor<8xf32>
  tile.store %a, %y[%r, %c0] : tensor<8xf32>, !tile.view<?x8xf32>
  tile.return
}

// A count may be anything; it is clamped to the tile before it becomes a mask.

// CHECK-LABEL: llvm.func hidden @masked
// CHECK: %[[WORD:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i32
// CHECK: %[[N:.*]] = arith.index_cast %[[WORD]] : i32 to index
// CHECK: %[[LEAST:.*]] = arith.maxsi %[[N]], %{{.*}} : index
// CHECK: %[[COUNT:.*]] = arith.minsi %[[LEAST]], %{{.*}} : index
// CHECK: %[[NARROW:.*]] = arith.index_cast %[[COUNT]] : index to i32
// CHECK: %[[BOUND:.*]] = vector.broadcast %[[NARROW]] : i32 to vector<8xi32>
// CHECK: %[[MASK:.*]] = arith.cmpi slt, %{{.*}}, %[[BOUND]] : vector<8xi32>
// CHECK: llvm.intr.masked.load %{{.*}}, %[[MASK]], %{{.*}} {alignment = 4 : i32}
// CHECK: llvm.intr.masked.store
tile.kernel @masked(%step: !tile.step, %n: !tile.view<1xi32>, %x: !tile.view<8xf32>) {
  %c0 = arith.constant 0 : index
  %word = tile.load %n[%c0] : !tile.view<1xi32> -> i32
  %valid = arith.index_cast %word : i32 to index
  %a = tile.load %x[%c0] valid %valid : !tile.view<8xf32> -> tensor<8xf32>
  tile.store %a, %x[%c0] valid %valid : tensor<8xf32>, !tile.view<8xf32>
  tile.return
}

// line = program / inner, inner = program % inner, for the inner size that the tile stage wrote down.

// CHECK-LABEL: llvm.func hidden @grid
// CHECK: scf.for %[[PROGRAM:.*]] =
// CHECK: %[[P:.*]] = arith.index_castui %[[PROGRAM]] : index to i32
// CHECK: %[[SIZE:.*]] = arith.constant 3 : i32
// CHECK: arith.divui %[[P]], %[[SIZE]] : i32
// CHECK: arith.remui %[[P]], %[[SIZE]] : i32
tile.kernel @grid(%step: !tile.step, %y: !tile.view<?x3xi32>) attributes {tile.inner = 3 : i64} {
  %r = tile.program_id line
  %h = tile.program_id inner
  %line = arith.index_cast %r : index to i32
  tile.store %line, %y[%r, %h] : i32, !tile.view<?x3xi32>
  tile.return
}

// Graphs and places are not the kernels' business: they stay, and the launch still verifies.

// CHECK-LABEL: func.func @graph
// CHECK: tile.launch @copy
func.func @graph() {
  %x = tile.slice rows offset 0 : !tile.view<?x8xf32>
  %y = tile.slice rows offset 64 : !tile.view<?x8xf32>
  tile.launch @copy "copy" grid(rows, 1) chunk 1 (%x, %y) : (!tile.view<?x8xf32>, !tile.view<?x8xf32>) -> ()
  return
}

// A line that is read soon goes into the second cache, even where the view has ended.

// CHECK-LABEL: llvm.func hidden @prefetch
// CHECK: arith.constant 2048
// CHECK: "llvm.intr.prefetch"{{.*}}hint = 2
// CHECK-NOT: llvm.intr.prefetch
// CHECK: llvm.return
tile.kernel @prefetch(%step: !tile.step, %x: !tile.view<32xi32>) {
  %beyond = arith.constant 2048 : index
  tile.prefetch %x[%beyond] : !tile.view<32xi32>
  tile.return
}
