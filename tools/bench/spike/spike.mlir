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

tile.kernel @attention(%step: !tile.step, %q: !tile.view<?x1x64xf32>, %kv: !tile.kv<heads = 1, key = 64, value = 64, tokenMajor = true, block = 32768>, %y: !tile.view<?x1x64xf32>) {
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
    %keys = tile.kv_chunk key %kv, %step[%s, %c, %h] : !tile.kv<heads = 1, key = 64, value = 64, tokenMajor = true, block = 32768> -> !tile.view<64x64xf32>
    %values = tile.kv_chunk value %kv, %step[%s, %c, %h] : !tile.kv<heads = 1, key = 64, value = 64, tokenMajor = true, block = 32768> -> !tile.view<64x64xf32>
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

// int4, group 32: a block is one group of 32 k for 32 rows: 4 lines of words whose byte b holds k = 4c + b in its low nibble and
// 4 (c + 4) + b in the high one, biased by 8, then a line of scales. The activations come with their scale and -8 times their sum.
tile.kernel @int4_gemv(%step: !tile.step, %x: !tile.view<64x8xi32>, %xs: !tile.view<64xf32>, %bias: !tile.view<64xi32>, %w: !tile.view<64x64x5x32xi32>, %y: !tile.view<64x32xf32>) {
  %p = tile.program_id line
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %groups = arith.constant 64 : index
  %nibbles = arith.constant dense<0x0f0f0f0f> : tensor<32xi32>
  %four = arith.constant dense<4> : tensor<32xi32>
  %zero = arith.constant dense<0.0> : tensor<32xf32>
  %all = scf.for %g = %c0 to %groups step %c1 iter_args(%sum = %zero) -> (tensor<32xf32>) {
    %b = tile.load %bias[%g] : !tile.view<64xi32> -> i32
    %a0 = tile.broadcast %b : i32 -> tensor<32xi32>
    %w0 = tile.load %w[%p, %g, %c0, %c0] : !tile.view<64x64x5x32xi32> -> tensor<32xi32>
    %lo0 = arith.andi %w0, %nibbles : tensor<32xi32>
    %sh0 = arith.shrui %w0, %four : tensor<32xi32>
    %hi0 = arith.andi %sh0, %nibbles : tensor<32xi32>
    %q0 = arith.constant 0 : index
    %x0 = tile.load %x[%g, %q0] : !tile.view<64x8xi32> -> i32
    %v0 = tile.broadcast %x0 : i32 -> tensor<32xi32>
    %a1 = tile.dot4 (%v0) by %lo0 into (%a0) {bits = 4 : i64} : tensor<32xi32>
    %q4 = arith.constant 4 : index
    %x4 = tile.load %x[%g, %q4] : !tile.view<64x8xi32> -> i32
    %v4 = tile.broadcast %x4 : i32 -> tensor<32xi32>
    %a2 = tile.dot4 (%v4) by %hi0 into (%a1) {bits = 4 : i64} : tensor<32xi32>
    %w1 = tile.load %w[%p, %g, %c1, %c0] : !tile.view<64x64x5x32xi32> -> tensor<32xi32>
    %lo1 = arith.andi %w1, %nibbles : tensor<32xi32>
    %sh1 = arith.shrui %w1, %four : tensor<32xi32>
    %hi1 = arith.andi %sh1, %nibbles : tensor<32xi32>
    %q1 = arith.constant 1 : index
    %x1 = tile.load %x[%g, %q1] : !tile.view<64x8xi32> -> i32
    %v1 = tile.broadcast %x1 : i32 -> tensor<32xi32>
    %a3 = tile.dot4 (%v1) by %lo1 into (%a2) {bits = 4 : i64} : tensor<32xi32>
    %q5 = arith.constant 5 : index
    %x5 = tile.load %x[%g, %q5] : !tile.view<64x8xi32> -> i32
    %v5 = tile.broadcast %x5 : i32 -> tensor<32xi32>
    %a4 = tile.dot4 (%v5) by %hi1 into (%a3) {bits = 4 : i64} : tensor<32xi32>
    %w2 = tile.load %w[%p, %g, %c2, %c0] : !tile.view<64x64x5x32xi32> -> tensor<32xi32>
    %lo2 = arith.andi %w2, %nibbles : tensor<32xi32>
    %sh2 = arith.shrui %w2, %four : tensor<32xi32>
    %hi2 = arith.andi %sh2, %nibbles : tensor<32xi32>
    %q2 = arith.constant 2 : index
    %x2 = tile.load %x[%g, %q2] : !tile.view<64x8xi32> -> i32
    %v2 = tile.broadcast %x2 : i32 -> tensor<32xi32>
    %a5 = tile.dot4 (%v2) by %lo2 into (%a4) {bits = 4 : i64} : tensor<32xi32>
    %q6 = arith.constant 6 : index
    %x6 = tile.load %x[%g, %q6] : !tile.view<64x8xi32> -> i32
    %v6 = tile.broadcast %x6 : i32 -> tensor<32xi32>
    %a6 = tile.dot4 (%v6) by %hi2 into (%a5) {bits = 4 : i64} : tensor<32xi32>
    %w3 = tile.load %w[%p, %g, %c3, %c0] : !tile.view<64x64x5x32xi32> -> tensor<32xi32>
    %lo3 = arith.andi %w3, %nibbles : tensor<32xi32>
    %sh3 = arith.shrui %w3, %four : tensor<32xi32>
    %hi3 = arith.andi %sh3, %nibbles : tensor<32xi32>
    %q3 = arith.constant 3 : index
    %x3 = tile.load %x[%g, %q3] : !tile.view<64x8xi32> -> i32
    %v3 = tile.broadcast %x3 : i32 -> tensor<32xi32>
    %a7 = tile.dot4 (%v3) by %lo3 into (%a6) {bits = 4 : i64} : tensor<32xi32>
    %q7 = arith.constant 7 : index
    %x7 = tile.load %x[%g, %q7] : !tile.view<64x8xi32> -> i32
    %v7 = tile.broadcast %x7 : i32 -> tensor<32xi32>
    %a8 = tile.dot4 (%v7) by %hi3 into (%a7) {bits = 4 : i64} : tensor<32xi32>
    %f = arith.sitofp %a8 : tensor<32xi32> to tensor<32xf32>
    %sw = tile.load %w[%p, %g, %c4, %c0] : !tile.view<64x64x5x32xi32> -> tensor<32xi32>
    %sf = arith.bitcast %sw : tensor<32xi32> to tensor<32xf32>
    %sx = tile.load %xs[%g] : !tile.view<64xf32> -> f32
    %sxs = tile.broadcast %sx : f32 -> tensor<32xf32>
    %s = arith.mulf %sf, %sxs : tensor<32xf32>
    %next = math.fma %f, %s, %sum : tensor<32xf32>
    scf.yield %next : tensor<32xf32>
  }
  tile.store %all, %y[%p, %c0] : tensor<32xf32>, !tile.view<64x32xf32>
  tile.return
}

// The same with four panels at a time: four streams from memory, where one does not keep it busy.
tile.kernel @int4_gemv_4(%step: !tile.step, %x: !tile.view<64x8xi32>, %xs: !tile.view<64xf32>, %bias: !tile.view<64xi32>, %w: !tile.view<64x64x5x32xi32>, %y: !tile.view<64x32xf32>) {
  %program = tile.program_id line
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %c7 = arith.constant 7 : index
  %groups = arith.constant 64 : index
  %nibbles = arith.constant dense<0x0f0f0f0f> : tensor<32xi32>
  %four = arith.constant dense<4> : tensor<32xi32>
  %zero = arith.constant dense<0.0> : tensor<32xf32>
  %p0 = arith.muli %program, %c4 : index
  %p1 = arith.addi %p0, %c1 : index
  %p2 = arith.addi %p0, %c2 : index
  %p3 = arith.addi %p0, %c3 : index
  %all:4 = scf.for %g = %c0 to %groups step %c1 iter_args(%sum0 = %zero, %sum1 = %zero, %sum2 = %zero, %sum3 = %zero)
      -> (tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>) {
    %b = tile.load %bias[%g] : !tile.view<64xi32> -> i32
    %start = tile.broadcast %b : i32 -> tensor<32xi32>
    %x0 = tile.load %x[%g, %c0] : !tile.view<64x8xi32> -> i32
    %v0 = tile.broadcast %x0 : i32 -> tensor<32xi32>
    %x1 = tile.load %x[%g, %c1] : !tile.view<64x8xi32> -> i32
    %v1 = tile.broadcast %x1 : i32 -> tensor<32xi32>
    %x2 = tile.load %x[%g, %c2] : !tile.view<64x8xi32> -> i32
    %v2 = tile.broadcast %x2 : i32 -> tensor<32xi32>
    %x3 = tile.load %x[%g, %c3] : !tile.view<64x8xi32> -> i32
    %v3 = tile.broadcast %x3 : i32 -> tensor<32xi32>
    %x4 = tile.load %x[%g, %c4] : !tile.view<64x8xi32> -> i32
    %v4 = tile.broadcast %x4 : i32 -> tensor<32xi32>
    %x5 = tile.load %x[%g, %c5] : !tile.view<64x8xi32> -> i32
    %v5 = tile.broadcast %x5 : i32 -> tensor<32xi32>
    %x6 = tile.load %x[%g, %c6] : !tile.view<64x8xi32> -> i32
    %v6 = tile.broadcast %x6 : i32 -> tensor<32xi32>
    %x7 = tile.load %x[%g, %c7] : !tile.view<64x8xi32> -> i32
    %v7 = tile.broadcast %x7 : i32 -> tensor<32xi32>
    %sx = tile.load %xs[%g] : !tile.view<64xf32> -> f32
    %sxs = tile.broadcast %sx : f32 -> tensor<32xf32>
    %w0_0 = tile.load %w[%p0, %g, %c0, %c0] : !tile.view<64x64x5x32xi32> -> tensor<32xi32>
    %lo0_0 = arith.andi %w0_0, %nibbles : tensor<32xi32>
    %sh0_0 = arith.shrui %w0_0, %four : tensor<32xi32>
    %hi0_0 = arith.andi %sh0_0, %nibbles : tensor<32xi32>
    %a0_0 = tile.dot4 (%v0) by %lo0_0 into (%start) {bits = 4 : i64} : tensor<32xi32>
    %d0_0 = tile.dot4 (%v4) by %hi0_0 into (%a0_0) {bits = 4 : i64} : tensor<32xi32>
    %w0_1 = tile.load %w[%p0, %g, %c1, %c0] : !tile.view<64x64x5x32xi32> -> tensor<32xi32>
    %lo0_1 = arith.andi %w0_1, %nibbles : tensor<32xi32>
    %sh0_1 = arith.shrui %w0_1, %four : tensor<32xi32>
    %hi0_1 = arith.andi %sh0_1, %nibbles : tensor<32xi32>
    %a0_1 = tile.dot4 (%v1) by %lo0_1 into (%d0_0) {bits = 4 : i64} : tensor<32xi32>
    %d0_1 = tile.dot4 (%v5) by %hi0_1 into (%a0_1) {bits = 4 : i64} : tensor<32xi32>
    %w0_2 = tile.load %w[%p0, %g, %c2, %c0] : !tile.view<64x64x5x32xi32> -> tensor<32xi32>
    %lo0_2 = arith.andi %w0_2, %nibbles : tensor<32xi32>
    %sh0_2 = arith.shrui %w0_2, %four : tensor<32xi32>
    %hi0_2 = arith.andi %sh0_2, %nibbles : tensor<32xi32>
    %a0_2 = tile.dot4 (%v2) by %lo0_2 into (%d0_1) {bits = 4 : i64} : tensor<32xi32>
    %d0_2 = tile.dot4 (%v6) by %hi0_2 into (%a0_2) {bits = 4 : i64} : tensor<32xi32>
    %w0_3 = tile.load %w[%p0, %g, %c3, %c0] : !tile.view<64x64x5x32xi32> -> tensor<32xi32>
    %lo0_3 = arith.andi %w0_3, %nibbles : tensor<32xi32>
    %sh0_3 = arith.shrui %w0_3, %four : tensor<32xi32>
    %hi0_3 = arith.andi %sh0_3, %nibbles : tensor<32xi32>
    %a0_3 = tile.dot4 (%v3) by %lo0_3 into (%d0_2) {bits = 4 : i64} : tensor<32xi32>
    %d0_3 = tile.dot4 (%v7) by %hi0_3 into (%a0_3) {bits = 4 : i64} : tensor<32xi32>
    %f0 = arith.sitofp %d0_3 : tensor<32xi32> to tensor<32xf32>
    %words0 = tile.load %w[%p0, %g, %c4, %c0] : !tile.view<64x64x5x32xi32> -> tensor<32xi32>
    %scales0 = arith.bitcast %words0 : tensor<32xi32> to tensor<32xf32>
    %s0 = arith.mulf %scales0, %sxs : tensor<32xf32>
    %next0 = math.fma %f0, %s0, %sum0 : tensor<32xf32>
    %w1_0 = tile.load %w[%p1, %g, %c0, %c0] : !tile.view<64x64x5x32xi32> -> tensor<32xi32>
    %lo1_0 = arith.andi %w1_0, %nibbles : tensor<32xi32>
    %sh1_0 = arith.shrui %w1_0, %four : tensor<32xi32>
    %hi1_0 = arith.andi %sh1_0, %nibbles : tensor<32xi32>
    %a1_0 = tile.dot4 (%v0) by %lo1_0 into (%start) {bits = 4 : i64} : tensor<32xi32>
    %d1_0 = tile.dot4 (%v4) by %hi1_0 into (%a1_0) {bits = 4 : i64} : tensor<32xi32>
    %w1_1 = tile.load %w[%p1, %g, %c1, %c0] : !tile.view<64x64x5x32xi32> -> tensor<32xi32>
    %lo1_1 = arith.andi %w1_1, %nibbles : tensor<32xi32>
    %sh1_1 = arith.shrui %w1_1, %four : tensor<32xi32>
    %hi1_1 = arith.andi %sh1_1, %nibbles : tensor<32xi32>
    %a1_1 = tile.dot4 (%v1) by %lo1_1 into (%d1_0) {bits = 4 : i64} : tensor<32xi32>
    %d1_1 = tile.dot4 (%v5) by %hi1_1 into (%a1_1) {bits = 4 : i64} : tensor<32xi32>
    %w1_2 = tile.load %w[%p1, %g, %c2, %c0] : !tile.view<64x64x5x32xi32> -> tensor<32xi32>
    %lo1_2 = arith.andi %w1_2, %nibbles : tensor<32xi32>
    %sh1_2 = arith.shrui %w1_2, %four : tensor<32xi32>
    %hi1_2 = arith.andi %sh1_2, %nibbles : tensor<32xi32>
    %a1_2 = tile.dot4 (%v2) by %lo1_2 into (%d1_1) {bits = 4 : i64} : tensor<32xi32>
    %d1_2 = tile.dot4 (%v6) by %hi1_2 into (%a1_2) {bits = 4 : i64} : tensor<32xi32>
    %w1_3 = tile.load %w[%p1, %g, %c3, %c0] : !tile.view<64x64x5x32xi32> -> tensor<32xi32>
    %lo1_3 = arith.andi %w1_3, %nibbles : tensor<32xi32>
    %sh1_3 = arith.shrui %w1_3, %four : tensor<32xi32>
    %hi1_3 = arith.andi %sh1_3, %nibbles : tensor<32xi32>
    %a1_3 = tile.dot4 (%v3) by %lo1_3 into (%d1_2) {bits = 4 : i64} : tensor<32xi32>
    %d1_3 = tile.dot4 (%v7) by %hi1_3 into (%a1_3) {bits = 4 : i64} : tensor<32xi32>
    %f1 = arith.sitofp %d1_3 : tensor<32xi32> to tensor<32xf32>
    %words1 = tile.load %w[%p1, %g, %c4, %c0] : !tile.view<64x64x5x32xi32> -> tensor<32xi32>
    %scales1 = arith.bitcast %words1 : tensor<32xi32> to tensor<32xf32>
    %s1 = arith.mulf %scales1, %sxs : tensor<32xf32>
    %next1 = math.fma %f1, %s1, %sum1 : tensor<32xf32>
    %w2_0 = tile.load %w[%p2, %g, %c0, %c0] : !tile.view<64x64x5x32xi32> -> tensor<32xi32>
    %lo2_0 = arith.andi %w2_0, %nibbles : tensor<32xi32>
    %sh2_0 = arith.shrui %w2_0, %four : tensor<32xi32>
    %hi2_0 = arith.andi %sh2_0, %nibbles : tensor<32xi32>
    %a2_0 = tile.dot4 (%v0) by %lo2_0 into (%start) {bits = 4 : i64} : tensor<32xi32>
    %d2_0 = tile.dot4 (%v4) by %hi2_0 into (%a2_0) {bits = 4 : i64} : tensor<32xi32>
    %w2_1 = tile.load %w[%p2, %g, %c1, %c0] : !tile.view<64x64x5x32xi32> -> tensor<32xi32>
    %lo2_1 = arith.andi %w2_1, %nibbles : tensor<32xi32>
    %sh2_1 = arith.shrui %w2_1, %four : tensor<32xi32>
    %hi2_1 = arith.andi %sh2_1, %nibbles : tensor<32xi32>
    %a2_1 = tile.dot4 (%v1) by %lo2_1 into (%d2_0) {bits = 4 : i64} : tensor<32xi32>
    %d2_1 = tile.dot4 (%v5) by %hi2_1 into (%a2_1) {bits = 4 : i64} : tensor<32xi32>
    %w2_2 = tile.load %w[%p2, %g, %c2, %c0] : !tile.view<64x64x5x32xi32> -> tensor<32xi32>
    %lo2_2 = arith.andi %w2_2, %nibbles : tensor<32xi32>
    %sh2_2 = arith.shrui %w2_2, %four : tensor<32xi32>
    %hi2_2 = arith.andi %sh2_2, %nibbles : tensor<32xi32>
    %a2_2 = tile.dot4 (%v2) by %lo2_2 into (%d2_1) {bits = 4 : i64} : tensor<32xi32>
    %d2_2 = tile.dot4 (%v6) by %hi2_2 into (%a2_2) {bits = 4 : i64} : tensor<32xi32>
    %w2_3 = tile.load %w[%p2, %g, %c3, %c0] : !tile.view<64x64x5x32xi32> -> tensor<32xi32>
    %lo2_3 = arith.andi %w2_3, %nibbles : tensor<32xi32>
    %sh2_3 = arith.shrui %w2_3, %four : tensor<32xi32>
    %hi2_3 = arith.andi %sh2_3, %nibbles : tensor<32xi32>
    %a2_3 = tile.dot4 (%v3) by %lo2_3 into (%d2_2) {bits = 4 : i64} : tensor<32xi32>
    %d2_3 = tile.dot4 (%v7) by %hi2_3 into (%a2_3) {bits = 4 : i64} : tensor<32xi32>
    %f2 = arith.sitofp %d2_3 : tensor<32xi32> to tensor<32xf32>
    %words2 = tile.load %w[%p2, %g, %c4, %c0] : !tile.view<64x64x5x32xi32> -> tensor<32xi32>
    %scales2 = arith.bitcast %words2 : tensor<32xi32> to tensor<32xf32>
    %s2 = arith.mulf %scales2, %sxs : tensor<32xf32>
    %next2 = math.fma %f2, %s2, %sum2 : tensor<32xf32>
    %w3_0 = tile.load %w[%p3, %g, %c0, %c0] : !tile.view<64x64x5x32xi32> -> tensor<32xi32>
    %lo3_0 = arith.andi %w3_0, %nibbles : tensor<32xi32>
    %sh3_0 = arith.shrui %w3_0, %four : tensor<32xi32>
    %hi3_0 = arith.andi %sh3_0, %nibbles : tensor<32xi32>
    %a3_0 = tile.dot4 (%v0) by %lo3_0 into (%start) {bits = 4 : i64} : tensor<32xi32>
    %d3_0 = tile.dot4 (%v4) by %hi3_0 into (%a3_0) {bits = 4 : i64} : tensor<32xi32>
    %w3_1 = tile.load %w[%p3, %g, %c1, %c0] : !tile.view<64x64x5x32xi32> -> tensor<32xi32>
    %lo3_1 = arith.andi %w3_1, %nibbles : tensor<32xi32>
    %sh3_1 = arith.shrui %w3_1, %four : tensor<32xi32>
    %hi3_1 = arith.andi %sh3_1, %nibbles : tensor<32xi32>
    %a3_1 = tile.dot4 (%v1) by %lo3_1 into (%d3_0) {bits = 4 : i64} : tensor<32xi32>
    %d3_1 = tile.dot4 (%v5) by %hi3_1 into (%a3_1) {bits = 4 : i64} : tensor<32xi32>
    %w3_2 = tile.load %w[%p3, %g, %c2, %c0] : !tile.view<64x64x5x32xi32> -> tensor<32xi32>
    %lo3_2 = arith.andi %w3_2, %nibbles : tensor<32xi32>
    %sh3_2 = arith.shrui %w3_2, %four : tensor<32xi32>
    %hi3_2 = arith.andi %sh3_2, %nibbles : tensor<32xi32>
    %a3_2 = tile.dot4 (%v2) by %lo3_2 into (%d3_1) {bits = 4 : i64} : tensor<32xi32>
    %d3_2 = tile.dot4 (%v6) by %hi3_2 into (%a3_2) {bits = 4 : i64} : tensor<32xi32>
    %w3_3 = tile.load %w[%p3, %g, %c3, %c0] : !tile.view<64x64x5x32xi32> -> tensor<32xi32>
    %lo3_3 = arith.andi %w3_3, %nibbles : tensor<32xi32>
    %sh3_3 = arith.shrui %w3_3, %four : tensor<32xi32>
    %hi3_3 = arith.andi %sh3_3, %nibbles : tensor<32xi32>
    %a3_3 = tile.dot4 (%v3) by %lo3_3 into (%d3_2) {bits = 4 : i64} : tensor<32xi32>
    %d3_3 = tile.dot4 (%v7) by %hi3_3 into (%a3_3) {bits = 4 : i64} : tensor<32xi32>
    %f3 = arith.sitofp %d3_3 : tensor<32xi32> to tensor<32xf32>
    %words3 = tile.load %w[%p3, %g, %c4, %c0] : !tile.view<64x64x5x32xi32> -> tensor<32xi32>
    %scales3 = arith.bitcast %words3 : tensor<32xi32> to tensor<32xf32>
    %s3 = arith.mulf %scales3, %sxs : tensor<32xf32>
    %next3 = math.fma %f3, %s3, %sum3 : tensor<32xf32>
    scf.yield %next0, %next1, %next2, %next3 : tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>
  }
  tile.store %all#0, %y[%p0, %c0] : tensor<32xf32>, !tile.view<64x32xf32>
  tile.store %all#1, %y[%p1, %c0] : tensor<32xf32>, !tile.view<64x32xf32>
  tile.store %all#2, %y[%p2, %c0] : tensor<32xf32>, !tile.view<64x32xf32>
  tile.store %all#3, %y[%p3, %c0] : tensor<32xf32>, !tile.view<64x32xf32>
  tile.return
}

// int8, group 32: blocks of 8 lines of words, byte b of line c holding k = 4c + b biased by 128, then a line of scales. Two
// rows at a time; a loop over the lines, because eight lines written out would leave LLVM's scheduler more sums than registers.
tile.kernel @int8_gemm(%step: !tile.step, %x: !tile.view<?x64x8xi32>, %xs: !tile.view<?x64xf32>, %bias: !tile.view<?x64xi32>, %w: !tile.view<64x64x9x32xi32>,
                       %y: !tile.view<?x64x32xf32>) {
  %p = tile.program_id line
  %rows = tile.extent rows %step
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %groups = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<32xf32>
  scf.for %r0 = %c0 to %rows step %c2 {
    %r1 = arith.addi %r0, %c1 : index
    %all:2 = scf.for %g = %c0 to %groups step %c1 iter_args(%sum0 = %zero, %sum1 = %zero) -> (tensor<32xf32>, tensor<32xf32>) {
      %b0 = tile.load %bias[%r0, %g] : !tile.view<?x64xi32> -> i32
      %b1 = tile.load %bias[%r1, %g] : !tile.view<?x64xi32> -> i32
      %start0 = tile.broadcast %b0 : i32 -> tensor<32xi32>
      %start1 = tile.broadcast %b1 : i32 -> tensor<32xi32>
      %group:2 = scf.for %c = %c0 to %c8 step %c1 iter_args(%a0 = %start0, %a1 = %start1) -> (tensor<32xi32>, tensor<32xi32>) {
        %weights = tile.load %w[%p, %g, %c, %c0] : !tile.view<64x64x9x32xi32> -> tensor<32xi32>
        %x0 = tile.load %x[%r0, %g, %c] : !tile.view<?x64x8xi32> -> i32
        %x1 = tile.load %x[%r1, %g, %c] : !tile.view<?x64x8xi32> -> i32
        %v0 = tile.broadcast %x0 : i32 -> tensor<32xi32>
        %v1 = tile.broadcast %x1 : i32 -> tensor<32xi32>
        %d:2 = tile.dot4 (%v0, %v1) by %weights into (%a0, %a1) : tensor<32xi32>
        scf.yield %d#0, %d#1 : tensor<32xi32>, tensor<32xi32>
      }
      %words = tile.load %w[%p, %g, %c8, %c0] : !tile.view<64x64x9x32xi32> -> tensor<32xi32>
      %scales = arith.bitcast %words : tensor<32xi32> to tensor<32xf32>
      %f0 = arith.sitofp %group#0 : tensor<32xi32> to tensor<32xf32>
      %sx0 = tile.load %xs[%r0, %g] : !tile.view<?x64xf32> -> f32
      %all0 = tile.broadcast %sx0 : f32 -> tensor<32xf32>
      %s0 = arith.mulf %scales, %all0 : tensor<32xf32>
      %next0 = math.fma %f0, %s0, %sum0 : tensor<32xf32>
      %f1 = arith.sitofp %group#1 : tensor<32xi32> to tensor<32xf32>
      %sx1 = tile.load %xs[%r1, %g] : !tile.view<?x64xf32> -> f32
      %all1 = tile.broadcast %sx1 : f32 -> tensor<32xf32>
      %s1 = arith.mulf %scales, %all1 : tensor<32xf32>
      %next1 = math.fma %f1, %s1, %sum1 : tensor<32xf32>
      scf.yield %next0, %next1 : tensor<32xf32>, tensor<32xf32>
    }
    tile.store %all#0, %y[%r0, %p, %c0] : tensor<32xf32>, !tile.view<?x64x32xf32>
    tile.store %all#1, %y[%r1, %p, %c0] : tensor<32xf32>, !tile.view<?x64x32xf32>
  }
  tile.return
}

// The same with six rows at a time, for machines with twice the registers and products of bytes in one instruction: twelve chains.
tile.kernel @int8_gemm_6(%step: !tile.step, %x: !tile.view<?x64x8xi32>, %xs: !tile.view<?x64xf32>, %bias: !tile.view<?x64xi32>, %w: !tile.view<64x64x9x32xi32>,
                         %y: !tile.view<?x64x32xf32>) {
  %p = tile.program_id line
  %rows = tile.extent rows %step
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %c8 = arith.constant 8 : index
  %groups = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<32xf32>
  scf.for %r0 = %c0 to %rows step %c6 {
    %r1 = arith.addi %r0, %c1 : index
    %r2 = arith.addi %r0, %c2 : index
    %r3 = arith.addi %r0, %c3 : index
    %r4 = arith.addi %r0, %c4 : index
    %r5 = arith.addi %r0, %c5 : index
    %all:6 = scf.for %g = %c0 to %groups step %c1 iter_args(%sum0 = %zero, %sum1 = %zero, %sum2 = %zero, %sum3 = %zero, %sum4 = %zero, %sum5 = %zero)
        -> (tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>) {
      %b0 = tile.load %bias[%r0, %g] : !tile.view<?x64xi32> -> i32
      %b1 = tile.load %bias[%r1, %g] : !tile.view<?x64xi32> -> i32
      %b2 = tile.load %bias[%r2, %g] : !tile.view<?x64xi32> -> i32
      %b3 = tile.load %bias[%r3, %g] : !tile.view<?x64xi32> -> i32
      %b4 = tile.load %bias[%r4, %g] : !tile.view<?x64xi32> -> i32
      %b5 = tile.load %bias[%r5, %g] : !tile.view<?x64xi32> -> i32
      %start0 = tile.broadcast %b0 : i32 -> tensor<32xi32>
      %start1 = tile.broadcast %b1 : i32 -> tensor<32xi32>
      %start2 = tile.broadcast %b2 : i32 -> tensor<32xi32>
      %start3 = tile.broadcast %b3 : i32 -> tensor<32xi32>
      %start4 = tile.broadcast %b4 : i32 -> tensor<32xi32>
      %start5 = tile.broadcast %b5 : i32 -> tensor<32xi32>
      %group:6 = scf.for %c = %c0 to %c8 step %c1
          iter_args(%a0 = %start0, %a1 = %start1, %a2 = %start2, %a3 = %start3, %a4 = %start4, %a5 = %start5)
          -> (tensor<32xi32>, tensor<32xi32>, tensor<32xi32>, tensor<32xi32>, tensor<32xi32>, tensor<32xi32>) {
        %weights = tile.load %w[%p, %g, %c, %c0] : !tile.view<64x64x9x32xi32> -> tensor<32xi32>
        %x0 = tile.load %x[%r0, %g, %c] : !tile.view<?x64x8xi32> -> i32
        %x1 = tile.load %x[%r1, %g, %c] : !tile.view<?x64x8xi32> -> i32
        %x2 = tile.load %x[%r2, %g, %c] : !tile.view<?x64x8xi32> -> i32
        %x3 = tile.load %x[%r3, %g, %c] : !tile.view<?x64x8xi32> -> i32
        %x4 = tile.load %x[%r4, %g, %c] : !tile.view<?x64x8xi32> -> i32
        %x5 = tile.load %x[%r5, %g, %c] : !tile.view<?x64x8xi32> -> i32
        %v0 = tile.broadcast %x0 : i32 -> tensor<32xi32>
        %v1 = tile.broadcast %x1 : i32 -> tensor<32xi32>
        %v2 = tile.broadcast %x2 : i32 -> tensor<32xi32>
        %v3 = tile.broadcast %x3 : i32 -> tensor<32xi32>
        %v4 = tile.broadcast %x4 : i32 -> tensor<32xi32>
        %v5 = tile.broadcast %x5 : i32 -> tensor<32xi32>
        %d:6 = tile.dot4 (%v0, %v1, %v2, %v3, %v4, %v5) by %weights into (%a0, %a1, %a2, %a3, %a4, %a5) : tensor<32xi32>
        scf.yield %d#0, %d#1, %d#2, %d#3, %d#4, %d#5 : tensor<32xi32>, tensor<32xi32>, tensor<32xi32>, tensor<32xi32>, tensor<32xi32>, tensor<32xi32>
      }
      %words = tile.load %w[%p, %g, %c8, %c0] : !tile.view<64x64x9x32xi32> -> tensor<32xi32>
      %scales = arith.bitcast %words : tensor<32xi32> to tensor<32xf32>
      %f0 = arith.sitofp %group#0 : tensor<32xi32> to tensor<32xf32>
      %sx0 = tile.load %xs[%r0, %g] : !tile.view<?x64xf32> -> f32
      %all0 = tile.broadcast %sx0 : f32 -> tensor<32xf32>
      %s0 = arith.mulf %scales, %all0 : tensor<32xf32>
      %next0 = math.fma %f0, %s0, %sum0 : tensor<32xf32>
      %f1 = arith.sitofp %group#1 : tensor<32xi32> to tensor<32xf32>
      %sx1 = tile.load %xs[%r1, %g] : !tile.view<?x64xf32> -> f32
      %all1 = tile.broadcast %sx1 : f32 -> tensor<32xf32>
      %s1 = arith.mulf %scales, %all1 : tensor<32xf32>
      %next1 = math.fma %f1, %s1, %sum1 : tensor<32xf32>
      %f2 = arith.sitofp %group#2 : tensor<32xi32> to tensor<32xf32>
      %sx2 = tile.load %xs[%r2, %g] : !tile.view<?x64xf32> -> f32
      %all2 = tile.broadcast %sx2 : f32 -> tensor<32xf32>
      %s2 = arith.mulf %scales, %all2 : tensor<32xf32>
      %next2 = math.fma %f2, %s2, %sum2 : tensor<32xf32>
      %f3 = arith.sitofp %group#3 : tensor<32xi32> to tensor<32xf32>
      %sx3 = tile.load %xs[%r3, %g] : !tile.view<?x64xf32> -> f32
      %all3 = tile.broadcast %sx3 : f32 -> tensor<32xf32>
      %s3 = arith.mulf %scales, %all3 : tensor<32xf32>
      %next3 = math.fma %f3, %s3, %sum3 : tensor<32xf32>
      %f4 = arith.sitofp %group#4 : tensor<32xi32> to tensor<32xf32>
      %sx4 = tile.load %xs[%r4, %g] : !tile.view<?x64xf32> -> f32
      %all4 = tile.broadcast %sx4 : f32 -> tensor<32xf32>
      %s4 = arith.mulf %scales, %all4 : tensor<32xf32>
      %next4 = math.fma %f4, %s4, %sum4 : tensor<32xf32>
      %f5 = arith.sitofp %group#5 : tensor<32xi32> to tensor<32xf32>
      %sx5 = tile.load %xs[%r5, %g] : !tile.view<?x64xf32> -> f32
      %all5 = tile.broadcast %sx5 : f32 -> tensor<32xf32>
      %s5 = arith.mulf %scales, %all5 : tensor<32xf32>
      %next5 = math.fma %f5, %s5, %sum5 : tensor<32xf32>
      scf.yield %next0, %next1, %next2, %next3, %next4, %next5 : tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>
    }
    tile.store %all#0, %y[%r0, %p, %c0] : tensor<32xf32>, !tile.view<?x64x32xf32>
    tile.store %all#1, %y[%r1, %p, %c0] : tensor<32xf32>, !tile.view<?x64x32xf32>
    tile.store %all#2, %y[%r2, %p, %c0] : tensor<32xf32>, !tile.view<?x64x32xf32>
    tile.store %all#3, %y[%r3, %p, %c0] : tensor<32xf32>, !tile.view<?x64x32xf32>
    tile.store %all#4, %y[%r4, %p, %c0] : tensor<32xf32>, !tile.view<?x64x32xf32>
    tile.store %all#5, %y[%r5, %p, %c0] : tensor<32xf32>, !tile.view<?x64x32xf32>
  }
  tile.return
}
