// RUN: llmc-opt %s --llmc-lower-tile-to-cpu | FileCheck %s
// RUN: llmc-opt %s --llmc-lower-tile-to-cpu --llmc-lower-kernels-to-llvm | FileCheck %s --check-prefix=LLVM

// The reduction halves: element i joins element i + n/2.

// CHECK-LABEL: llvm.func hidden @reduce
// CHECK: %[[X:.*]] = llvm.load {{.*}} -> vector<4xf32>
// CHECK: %[[LOW:.*]] = vector.shuffle %[[X]], %[[X]] [0, 1]
// CHECK: %[[HIGH:.*]] = vector.shuffle %[[X]], %[[X]] [2, 3]
// CHECK: %[[TWO:.*]] = arith.addf %[[LOW]], %[[HIGH]] : vector<2xf32>
// CHECK: vector.shuffle %[[TWO]], %[[TWO]] [0]
// CHECK: vector.shuffle %[[TWO]], %[[TWO]] [1]
// LLVM-LABEL: llvm.func hidden @reduce
// LLVM-NOT: vector.shuffle
tile.kernel @reduce(%step: !tile.step, %x: !tile.view<4xf32>, %y: !tile.view<1xf32>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : !tile.view<4xf32> -> tensor<4xf32>
  %s = tile.reduce add %a : tensor<4xf32> -> f32
  tile.store %s, %y[%c0] : f32, !tile.view<1xf32>
  tile.return
}

// Loops, branches and element-wise ops stay what they are, on vectors.

// CHECK-LABEL: llvm.func hidden @structure
// CHECK: scf.for {{.*}} -> (vector<8xf32>)
// CHECK: scf.if {{.*}} -> (vector<8xf32>)
// CHECK: arith.cmpf ogt, {{.*}} : vector<8xf32>
// CHECK: arith.select {{.*}} : vector<8xi1>, vector<8xf32>
// LLVM-LABEL: llvm.func hidden @structure
// LLVM: llvm.cond_br
tile.kernel @structure(%step: !tile.step, %x: !tile.view<?x8xf32>, %y: !tile.view<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %n = tile.extent rows %step
  %best = scf.for %i = %c0 to %n step %c1 iter_args(%m = %zero) -> (tensor<8xf32>) {
    %first = arith.cmpi eq, %i, %c0 : index
    %next = scf.if %first -> (tensor<8xf32>) {
      scf.yield %m : tensor<8xf32>
    } else {
      %a = tile.load %x[%i, %c0] : !tile.view<?x8xf32> -> tensor<8xf32>
      %greater = arith.cmpf ogt, %a, %m : tensor<8xf32>
      %larger = arith.select %greater, %a, %m : tensor<8xi1>, tensor<8xf32>
      scf.yield %larger : tensor<8xf32>
    }
    scf.yield %next : tensor<8xf32>
  }
  tile.store %best, %y[%c0] : tensor<8xf32>, !tile.view<8xf32>
  tile.return
}

// Maths functions leave no call behind.

// CHECK-LABEL: llvm.func hidden @maths
// LLVM-LABEL: llvm.func hidden @maths
// LLVM-NOT: math.
// LLVM-NOT: llvm.intr.exp
// LLVM-NOT: llvm.call
// LLVM: llvm.return
tile.kernel @maths(%step: !tile.step, %x: !tile.view<8xf32>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : !tile.view<8xf32> -> tensor<8xf32>
  %b = math.exp %a : tensor<8xf32>
  %c = math.tanh %b : tensor<8xf32>
  %d = math.erf %c : tensor<8xf32>
  %e = math.rsqrt %d : tensor<8xf32>
  tile.store %e, %x[%c0] : tensor<8xf32>, !tile.view<8xf32>
  tile.return
}
