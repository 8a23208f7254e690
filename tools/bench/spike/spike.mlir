// SPDX-License-Identifier: Apache-2.0
//
// The spike's tile programs: row-wise rms_norm, a matrix-vector product on panels of 32 columns, and attention of one head
// over the pages of a cache.

tile.kernel @rms_norm(%step: !tile.step, %x: !tile.view<?x2048xf32>, %w: !tile.view<2048xf32>, %y: !tile.view<?x2048xf32>) {
  %r = tile.program_id line
  %c0 = arith.constant 0 : index
  %width = arith.constant 2048 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<32xf32>
  %lanes = scf.for %i = %c0 to %width step %c32 iter_args(%sum = %zero) -> (tensor<32xf32>) {
    %a = tile.load %x[%r, %i] : !tile.view<?x2048xf32> -> tensor<32xf32>
    %next = math.fma %a, %a, %sum : tensor<32xf32>
    scf.yield %next : tensor<32xf32>
  }
  %sum = tile.reduce add %lanes : tensor<32xf32> -> f32
  %n = arith.constant 2048.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %mean = arith.divf %sum, %n : f32
  %shifted = arith.addf %mean, %eps : f32
  %scale = math.rsqrt %shifted : f32
  %scales = tile.broadcast %scale : f32 -> tensor<32xf32>
  scf.for %i = %c0 to %width step %c32 {
    %a = tile.load %x[%r, %i] : !tile.view<?x2048xf32> -> tensor<32xf32>
    %g = tile.load %w[%i] : !tile.view<2048xf32> -> tensor<32xf32>
    %b = arith.mulf %a, %scales : tensor<32xf32>
    %c = arith.mulf %b, %g : tensor<32xf32>
    tile.store %c, %y[%r, %i] : tensor<32xf32>, !tile.view<?x2048xf32>
  }
  tile.return
}

tile.kernel @gemv(%step: !tile.step, %x: !tile.view<2048xf32>, %w: !tile.view<64x2048x32xf32>, %y: !tile.view<64x32xf32>) {
  %p = tile.program_id line
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<32xf32>
  %a = tile.load %x[%c0] : !tile.view<2048xf32> -> tensor<2048xf32>
  %b = tile.load %w[%p, %c0, %c0] : !tile.view<64x2048x32xf32> -> tensor<2048x32xf32>
  %s = tile.dot (%a) by %b into (%zero) : tensor<2048xf32>, tensor<2048x32xf32>, tensor<32xf32>
  tile.store %s, %y[%p, %c0] : tensor<32xf32>, !tile.view<64x32xf32>
  tile.return
}

tile.kernel @attention(%step: !tile.step, %q: !tile.view<?x1x64xf32>, %kv: !tile.kv<heads = 1, key = 64, value = 64, tokenMajor = false, block = 32768>, %y: !tile.view<?x1x64xf32>) {
  %r = tile.program_id line
  %h = tile.program_id inner
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %s = tile.step_read row_sequence %step[%r]
  %position = tile.step_read positions %step[%r]
  %last = arith.divui %position, %c64 : index
  %chunks = arith.addi %last, %c1 : index
  %query = tile.load %q[%r, %h, %c0] : !tile.view<?x1x64xf32> -> tensor<64xf32>
  %empty = arith.constant -1.0e30 : f32
  %none = arith.constant dense<-1.0e30> : tensor<64xf32>
  %nothing = arith.constant dense<0.0> : tensor<64xf32>
  %scale = arith.constant dense<0.125> : tensor<64xf32>
  %zero = arith.constant 0.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<64xf32>
  %all:3 = scf.for %c = %c0 to %chunks step %c1 iter_args(%m = %empty, %l = %zero, %o = %zeros) -> (f32, f32, tensor<64xf32>) {
    %keys = tile.kv_chunk key %kv, %step[%s, %c, %h] : !tile.kv<heads = 1, key = 64, value = 64, tokenMajor = false, block = 32768> -> !tile.view<64x64xf32>
    %values = tile.kv_chunk value %kv, %step[%s, %c, %h] : !tile.kv<heads = 1, key = 64, value = 64, tokenMajor = false, block = 32768> -> !tile.view<64x64xf32>
    %k = tile.load %keys[%c0, %c0] : !tile.view<64x64xf32> -> tensor<64x64xf32>
    %v = tile.load %values[%c0, %c0] : !tile.view<64x64xf32> -> tensor<64x64xf32>
    %dots = tile.dot (%query) by_transposed %k into (%nothing) {lanes = 8 : i64} : tensor<64xf32>, tensor<64x64xf32>, tensor<64xf32>
    %scaled = arith.mulf %dots, %scale : tensor<64xf32>
    %first = arith.muli %c, %c64 : index
    %ahead = arith.subi %position, %first : index
    %seen = arith.addi %ahead, %c1 : index
    %bound = arith.index_cast %seen : index to i32
    %bounds = tile.broadcast %bound : i32 -> tensor<64xi32>
    %tokens = tile.iota : tensor<64xi32>
    %mask = arith.cmpi slt, %tokens, %bounds : tensor<64xi32>
    %scores = arith.select %mask, %scaled, %none : tensor<64xi1>, tensor<64xf32>
    %max = tile.reduce max %scores : tensor<64xf32> -> f32
    %maxes = tile.broadcast %max : f32 -> tensor<64xf32>
    %less = arith.subf %scores, %maxes : tensor<64xf32>
    %raised = math.exp %less : tensor<64xf32>
    %weights = arith.select %mask, %raised, %nothing : tensor<64xi1>, tensor<64xf32>
    %sum = tile.reduce add %weights : tensor<64xf32> -> f32
    %out = tile.dot (%weights) by %v into (%zeros) valid %seen : tensor<64xf32>, tensor<64x64xf32>, tensor<64xf32>
    %both = arith.maximumf %m, %max : f32
    %d0 = arith.subf %m, %both : f32
    %d1 = arith.subf %max, %both : f32
    %e0 = math.exp %d0 : f32
    %e1 = math.exp %d1 : f32
    %l0 = arith.mulf %l, %e0 : f32
    %l1 = arith.mulf %sum, %e1 : f32
    %l2 = arith.addf %l0, %l1 : f32
    %t0 = tile.broadcast %e0 : f32 -> tensor<64xf32>
    %t1 = tile.broadcast %e1 : f32 -> tensor<64xf32>
    %o0 = arith.mulf %o, %t0 : tensor<64xf32>
    %o1 = arith.mulf %out, %t1 : tensor<64xf32>
    %o2 = arith.addf %o0, %o1 : tensor<64xf32>
    scf.yield %both, %l2, %o2 : f32, f32, tensor<64xf32>
  }
  %sums = tile.broadcast %all#1 : f32 -> tensor<64xf32>
  %result = arith.divf %all#2, %sums : tensor<64xf32>
  tile.store %result, %y[%r, %h, %c0] : tensor<64xf32>, !tile.view<?x1x64xf32>
  tile.return
}
