// Weights and rows in groups: how a rounded row lies, products that are integers within a group, embeddings from panels.
//
// RUN: llmc-opt %s --llmc-lower-to-tile --canonicalize --split-input-file | FileCheck %s
// RUN: llmc-opt %s --llmc-lower-to-tile --llmc-lower-to-tile --canonicalize --split-input-file | FileCheck %s

// 64 columns are 16 words of codes, 2 scales, 2 sums, 2 products of both.
llm.weight @norm : !llm.weight<64xf32> from ["norm"]

llm.weight @w : !llm.weight<32x64x!llm.group<bits = 8>, <panel_rows = 32>> from ["w"]

// CHECK-LABEL: func.func @quantize
func.func @quantize(%x: tensor<?x64xf32>) -> tensor<?x32xf32> attributes {llm.graph = "prefill"} {
  // CHECK: tile.launch @row_wise_0 "norm" grid(rows, 1) {{.*}} -> tensor<?x22xi32>
  %q = llm.fused "norm" schedule <lanes = 32> {
    %0 = llm.rms_norm %x, @norm {eps = 1.0e-05 : f32} : tensor<?x64xf32>
    %1 = llm.quantize %0 : tensor<?x64xf32> -> tensor<?x64x!llm.group<bits = 8>>
    llm.yield %1 : tensor<?x64x!llm.group<bits = 8>>
  } : tensor<?x64x!llm.group<bits = 8>>
  %y = llm.fused "w" schedule <row_tile = 1> {
    %0 = llm.linear %q, @w : tensor<?x64x!llm.group<bits = 8>> -> tensor<?x32xf32>
    llm.yield %0 : tensor<?x32xf32>
  } : tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

// Two groups together, each step of both before the next: the largest of 32, the scale, no step below 2^-126, codes to the nearest even
// (behind the bits of 1.5 * 2^23, 32 times of which leave the sum).
// CHECK: tile.kernel @row_wise_0({{.*}}, %[[ROW:.*]]: !tile.view<?x22xi32>)
// CHECK-DAG: %[[BITS:.*]] = arith.constant 1744830464 : i32
// CHECK-DAG: %[[LEAST:.*]] = arith.constant 1.17549435E-38 : f32
// CHECK-DAG: %[[OFFSET:.*]] = arith.constant dense<0x4B400000> : tensor<32xf32>
// CHECK: tile.reduce add {{.*}} : tensor<32xf32> -> f32
// CHECK-DAG: tile.reinterpret %[[ROW]] : <?x22xi32> -> <?x22xf32>
// CHECK-DAG: tile.reinterpret %[[ROW]] : <?x22xi32> -> <?x88xi8>
// CHECK: %[[SIZE:.*]] = math.absf %[[X:.*]] : tensor<32xf32>
// CHECK: %[[SIZES:.*]] = arith.bitcast %[[SIZE]] : tensor<32xf32> to tensor<32xi32>
// CHECK: %[[MOST:.*]] = tile.reduce max %[[SIZES]]
// CHECK: %[[LARGEST:.*]] = arith.bitcast %[[MOST]] : i32 to f32
// CHECK: %[[STEP:.*]] = arith.divf %[[LARGEST]], %{{.*}} : f32
// CHECK: %[[SCALE:.*]] = arith.maximumf %[[STEP]], %[[LEAST]] : f32
// CHECK: %[[INVERSE:.*]] = arith.divf %{{.*}}, %[[SCALE]] : f32
// CHECK: tile.reduce max
// CHECK: %[[FACTOR:.*]] = tile.broadcast %[[INVERSE]]
// CHECK: %[[SCALED:.*]] = arith.mulf %[[X]], %[[FACTOR]]
// CHECK: %[[ROUNDED:.*]] = arith.addf %[[SCALED]], %[[OFFSET]]
// CHECK: %[[CODES:.*]] = arith.bitcast %[[ROUNDED]] : tensor<32xf32> to tensor<32xi32>
// CHECK: %[[TOGETHER:.*]] = tile.reduce add %[[CODES]]
// CHECK: %[[SUM:.*]] = arith.subi %[[TOGETHER]], %[[BITS]]
// CHECK: %[[BYTES:.*]] = arith.trunci %[[CODES]] : tensor<32xi32> to tensor<32xi8>
// CHECK: tile.store %[[BYTES]], {{.*}} : tensor<32xi8>, <?x88xi8>
// CHECK: tile.store %[[SCALE]], {{.*}} : f32, <?x22xf32>
// CHECK: tile.store %[[SUM]], %[[ROW]]
// CHECK: %[[FLOAT:.*]] = arith.sitofp %[[SUM]] : i32 to f32
// CHECK: %[[PRODUCT:.*]] = arith.mulf %[[SCALE]], %[[FLOAT]]
// CHECK: tile.store %[[PRODUCT]], {{.*}} : f32, <?x22xf32>
// CHECK: arith.trunci

// -----

// 4 bits: low nibbles meet columns 0-15 of the row's group, high ones 16-31. 40 outputs are two panels; a block of 32 rows has
// 128 words of codes and 16 of scales. The bias leaves with the sum of the row's codes.
llm.weight @w : !llm.weight<40x64x!llm.group<bits = 4>, <panel_rows = 32>> from ["w"]

// CHECK-LABEL: func.func @int4
func.func @int4(%x: tensor<?x64xf32>) -> tensor<?x40xf32> attributes {llm.graph = "decode"} {
  %q = llm.fused "row" schedule <lanes = 32> {
    %0 = llm.quantize %x : tensor<?x64xf32> -> tensor<?x64x!llm.group<bits = 8>>
    llm.yield %0 : tensor<?x64x!llm.group<bits = 8>>
  } : tensor<?x64x!llm.group<bits = 8>>
  // CHECK: tile.weight @w : <2x2x144xi32>
  // CHECK: tile.launch @linear_0 "w" grid(one, 2) {{.*}} : (tensor<?x22xi32>, !tile.view<2x2x144xi32>) -> tensor<?x40xf32>
  %y = llm.fused "w" schedule <row_tile = 1> {
    %0 = llm.linear %q, @w : tensor<?x64x!llm.group<bits = 8>> -> tensor<?x40xf32>
    llm.yield %0 : tensor<?x40xf32>
  } : tensor<?x40xf32>
  return %y : tensor<?x40xf32>
}

// CHECK: tile.kernel @linear_0({{.*}}, %[[ROW:.*]]: !tile.view<?x22xi32>, %[[W:.*]]: !tile.view<2x2x144xi32>, %[[OUT:.*]]: !tile.view<?x40xf32>)
// CHECK-DAG: %[[MASK:.*]] = arith.constant dense<252645135> : tensor<32xi32>
// CHECK-DAG: %[[BIAS:.*]] = arith.constant -8 : i32
// CHECK-DAG: %[[BITS:.*]] = arith.constant 1262485504 : i32
// CHECK-DAG: %[[OFFSET:.*]] = arith.constant dense<0xCB400000> : tensor<32xf32>
// CHECK: %[[SUM:.*]] = tile.load %[[ROW]][{{.*}}] : <?x22xi32> -> i32
// CHECK: %[[OFF:.*]] = arith.muli %[[SUM]], %[[BIAS]]
// CHECK: %[[START:.*]] = arith.addi %[[OFF]], %[[BITS]]
// CHECK: %[[FIRST:.*]] = tile.broadcast %[[START]]
// CHECK: %[[WORDS:.*]] = tile.load %[[W]][{{.*}}] : <2x2x144xi32> -> tensor<32xi32>
// CHECK: %[[LOW:.*]] = arith.andi %[[WORDS]], %[[MASK]]
// CHECK: tile.dot4 (%{{.*}}) by %[[LOW]] into (%[[FIRST]]) {bits = 4 : i64}
// CHECK: %[[UP:.*]] = arith.shrui %[[WORDS]], %{{.*}}
// CHECK: %[[HIGH:.*]] = arith.andi %[[UP]], %[[MASK]]
// CHECK: tile.dot4 (%{{.*}}) by %[[HIGH]] into (%{{.*}}) {bits = 4 : i64}
// CHECK-COUNT-5: tile.dot4
// CHECK: %[[LAST:.*]] = tile.dot4
// CHECK-NOT: tile.dot4
// CHECK: tile.reinterpret %[[W]] : <2x2x144xi32> -> <2x2x288xf16>
// CHECK: %[[HALVES:.*]] = tile.load {{.*}} : <2x2x288xf16> -> tensor<32xf16>
// CHECK: %[[SCALES:.*]] = arith.extf %[[HALVES]]
// Two fused multiply-adds a group, by the weight's scale and by the row's; no conversion.
// CHECK-NOT: arith.sitofp
// CHECK: %[[LESS:.*]] = arith.mulf %[[SCALES]], %[[OFFSET]]
// CHECK: %[[FLOATS:.*]] = arith.bitcast %[[LAST]] : tensor<32xi32> to tensor<32xf32>
// CHECK: %[[PRODUCT:.*]] = math.fma %[[FLOATS]], %[[SCALES]], %[[LESS]]
// CHECK: math.fma %[[PRODUCT]], %{{.*}}, %{{.*}} : tensor<32xf32>
// CHECK-NOT: math.fma
// CHECK: tile.store {{.*}} valid

// -----

// With a minimum: no bias, and a third multiply-add, of the minimum and the row's sum.
llm.weight @w : !llm.weight<32x64x!llm.group<bits = 4, minimum = true>, <panel_rows = 32>> from ["w"]

// CHECK-LABEL: func.func @int4_minimum
func.func @int4_minimum(%x: tensor<?x64xf32>) -> tensor<?x32xf32> attributes {llm.graph = "decode"} {
  %q = llm.fused "row" schedule <lanes = 32> {
    %0 = llm.quantize %x : tensor<?x64xf32> -> tensor<?x64x!llm.group<bits = 8>>
    llm.yield %0 : tensor<?x64x!llm.group<bits = 8>>
  } : tensor<?x64x!llm.group<bits = 8>>
  // CHECK: tile.weight @w : <1x2x160xi32>
  %y = llm.fused "w" schedule <row_tile = 1> {
    %0 = llm.linear %q, @w : tensor<?x64x!llm.group<bits = 8>> -> tensor<?x32xf32>
    llm.yield %0 : tensor<?x32xf32>
  } : tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

// CHECK: tile.kernel @linear_0
// CHECK-NOT: constant -8
// CHECK: tile.reinterpret {{.*}} : <1x2x160xi32> -> <1x2x320xf16>
// CHECK-COUNT-2: tile.load {{.*}} : <1x2x320xf16> -> tensor<32xf16>
// CHECK-COUNT-3: math.fma
// CHECK-NOT: math.fma

// -----

// 8 bits: eight words of 4 columns, two rows share each.
llm.weight @w : !llm.weight<32x64x!llm.group<bits = 8>, <panel_rows = 32>> from ["w"]
llm.weight @b : !llm.weight<32xf32> from ["b"]

// CHECK-LABEL: func.func @int8
func.func @int8(%x: tensor<?x64xf32>) -> tensor<?x32xf32> attributes {llm.graph = "verify"} {
  %q = llm.fused "row" schedule <lanes = 32> {
    %0 = llm.quantize %x : tensor<?x64xf32> -> tensor<?x64x!llm.group<bits = 8>>
    llm.yield %0 : tensor<?x64x!llm.group<bits = 8>>
  } : tensor<?x64x!llm.group<bits = 8>>
  // CHECK: tile.weight @w : <1x2x272xi32>
  %y = llm.fused "w" schedule <row_tile = 2> {
    %0 = llm.linear %q, @w bias @b : tensor<?x64x!llm.group<bits = 8>> -> tensor<?x32xf32>
    llm.yield %0 : tensor<?x32xf32>
  } : tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

// CHECK: tile.kernel @linear_0
// CHECK-DAG: arith.constant -128 : i32
// CHECK-NOT: arith.shrui
// CHECK-COUNT-8: tile.dot4 (%{{.*}}, %{{.*}}) by %{{.*}} into (%{{.*}}, %{{.*}}) : tensor<32xi32>
// CHECK-COUNT-4: math.fma
// Then rows that are left over.
// CHECK-COUNT-8: tile.dot4 (%{{.*}}) by %{{.*}} into (%{{.*}}) : tensor<32xi32>

// -----

// A part of K at a time, in groups, its sum added to those before.
llm.weight @w : !llm.weight<32x160x!llm.group<bits = 8, minimum = true>, <panel_rows = 32>> from ["w"]

// CHECK-LABEL: func.func @split
func.func @split(%x: tensor<?x160xf32>) -> tensor<?x32xf32> attributes {llm.graph = "decode"} {
  %q = llm.fused "row" schedule <lanes = 32> {
    %0 = llm.quantize %x : tensor<?x160xf32> -> tensor<?x160x!llm.group<bits = 8>>
    llm.yield %0 : tensor<?x160x!llm.group<bits = 8>>
  } : tensor<?x160x!llm.group<bits = 8>>
  // CHECK: tile.weight @w : <1x5x288xi32>
  %y = llm.fused "w" schedule <k_split = 2> {
    %0 = llm.linear %q, @w : tensor<?x160x!llm.group<bits = 8>> -> tensor<?x32xf32>
    llm.yield %0 : tensor<?x32xf32>
  } : tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

// CHECK: tile.kernel @linear_0
// CHECK: %[[FIRST:.*]] = scf.for %{{.*}} = %c0{{.*}} to %c3
// CHECK: %[[SECOND:.*]] = scf.for %{{.*}} = %c3{{.*}} to %c5
// CHECK: arith.addf %[[FIRST]], %[[SECOND]]

// -----

// Gate, up and their product: both walk the same rounded row.
llm.weight @gate : !llm.weight<64x32x!llm.group<bits = 4>, <panel_rows = 32>> from ["gate"]
llm.weight @up : !llm.weight<64x32x!llm.group<bits = 4>, <panel_rows = 32>> from ["up"]

// CHECK-LABEL: func.func @gate_up
func.func @gate_up(%x: tensor<?x32xf32>) -> tensor<?x64xf32> attributes {llm.graph = "decode"} {
  %q = llm.fused "row" schedule <lanes = 32> {
    %0 = llm.quantize %x : tensor<?x32xf32> -> tensor<?x32x!llm.group<bits = 8>>
    llm.yield %0 : tensor<?x32x!llm.group<bits = 8>>
  } : tensor<?x32x!llm.group<bits = 8>>
  // CHECK: tile.launch @linear_0 "gate_up" grid(one, 2) {{.*}} : (tensor<?x11xi32>, !tile.view<2x1x144xi32>, !tile.view<2x1x144xi32>) -> tensor<?x64xf32>
  %y = llm.fused "gate_up" schedule <row_tile = 1> {
    %0 = llm.linear %q, @gate : tensor<?x32x!llm.group<bits = 8>> -> tensor<?x64xf32>
    %1 = llm.linear %q, @up : tensor<?x32x!llm.group<bits = 8>> -> tensor<?x64xf32>
    %2 = llm.activate relu %0, %1 : tensor<?x64xf32>
    llm.yield %2 : tensor<?x64xf32>
  } : tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// CHECK: tile.kernel @linear_0({{.*}}, %[[ROW:.*]]: !tile.view<?x11xi32>, %[[GATE:.*]]: !tile.view<2x1x144xi32>, %[[UP:.*]]: !tile.view<2x1x144xi32>
// CHECK: tile.load %[[GATE]]
// CHECK-COUNT-8: tile.dot4
// CHECK: tile.load %[[UP]]
// CHECK-COUNT-8: tile.dot4

// -----

// A product that leaves rounded: a panel of 32 columns is a group.
llm.weight @w : !llm.weight<64x32x!llm.group<bits = 8>, <panel_rows = 32>> from ["w"]

llm.weight @down : !llm.weight<32x64x!llm.group<bits = 8>, <panel_rows = 32>> from ["down"]

// CHECK-LABEL: func.func @leaves_rounded
func.func @leaves_rounded(%x: tensor<?x32xf32>) -> tensor<?x32xf32> attributes {llm.graph = "decode"} {
  %q = llm.fused "row" schedule <lanes = 32> {
    %0 = llm.quantize %x : tensor<?x32xf32> -> tensor<?x32x!llm.group<bits = 8>>
    llm.yield %0 : tensor<?x32x!llm.group<bits = 8>>
  } : tensor<?x32x!llm.group<bits = 8>>
  // CHECK: tile.launch @linear_0 "w" grid(one, 2) {{.*}} -> tensor<?x22xi32>
  %y = llm.fused "w" schedule <row_tile = 1> {
    %0 = llm.linear %q, @w : tensor<?x32x!llm.group<bits = 8>> -> tensor<?x64xf32>
    %1 = llm.quantize %0 : tensor<?x64xf32> -> tensor<?x64x!llm.group<bits = 8>>
    llm.yield %1 : tensor<?x64x!llm.group<bits = 8>>
  } : tensor<?x64x!llm.group<bits = 8>>
  %z = llm.fused "down" schedule <row_tile = 1> {
    %0 = llm.linear %y, @down : tensor<?x64x!llm.group<bits = 8>> -> tensor<?x32xf32>
    llm.yield %0 : tensor<?x32xf32>
  } : tensor<?x32xf32>
  return %z : tensor<?x32xf32>
}

// CHECK: tile.kernel @linear_0({{.*}}, %[[OUT:.*]]: !tile.view<?x22xi32>)
// CHECK: scf.for %[[PANEL:.*]] =
// CHECK: tile.dot4
// CHECK: %[[BYTES:.*]] = tile.reinterpret %[[OUT]] : <?x22xi32> -> <?x88xi8>
// CHECK: tile.reduce max
// CHECK: tile.store {{.*}}, %[[BYTES]]{{.*}} : tensor<32xi8>, <?x88xi8>

// -----

// Many rows: a panel's nibbles become bytes once for all tiles of two rows; 64 of 192 columns at a time, sums waiting in between.
// Fewer rows than two tiles read the panel as it is.
llm.weight @w : !llm.weight<32x192x!llm.group<bits = 4, minimum = true>, <panel_rows = 32>> from ["w"]

// CHECK-LABEL: func.func @unpacked
func.func @unpacked(%x: tensor<?x192xf32>) -> tensor<?x32xf32> attributes {llm.graph = "prefill"} {
  %q = llm.fused "row" schedule <lanes = 32> {
    %0 = llm.quantize %x : tensor<?x192xf32> -> tensor<?x192x!llm.group<bits = 8>>
    llm.yield %0 : tensor<?x192x!llm.group<bits = 8>>
  } : tensor<?x192x!llm.group<bits = 8>>
  %y = llm.fused "w" schedule <row_tile = 2, k_tile = 64> {
    %0 = llm.linear %q, @w : tensor<?x192x!llm.group<bits = 8>> -> tensor<?x32xf32>
    llm.yield %0 : tensor<?x32xf32>
  } : tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

// CHECK: tile.kernel @linear_0
// Eight words of codes, scales, minimums.
// CHECK: %[[FEW:.*]] = arith.cmpi ult, %{{.*}}, %c4
// CHECK: %[[END:.*]] = arith.select %[[FEW]], %c0{{.*}}
// CHECK: %[[BYTES:.*]] = tile.scratch : <2x320xi32>
// CHECK: %[[WAITING:.*]] = tile.scratch : <32x32xf32>
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %[[END]]
// The first two groups: unpacked, multiplied, put aside. Meanwhile lines of the two behind them come into the cache, of the
// 2 x 10 that they have.
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c2
// CHECK-COUNT-8: tile.store {{.*}}, %[[BYTES]]
// CHECK: arith.minui %{{.*}}, %c18
// CHECK-COUNT-2: tile.prefetch %{{.*}}[%{{.*}}, %c2{{.*}}, %{{.*}}] : <1x6x160xi32>
// CHECK-NOT: tile.prefetch
// CHECK: tile.dot4 (%{{.*}}, %{{.*}}) by
// CHECK: tile.store {{.*}}, %[[WAITING]]
// CHECK: tile.store {{.*}}, %[[WAITING]]
// Two more, on top of what waits; then the last one, whose sums leave.
// CHECK: scf.for %{{.*}} = %c2{{.*}} to %c4
// CHECK: tile.load %[[WAITING]]
// CHECK: tile.dot4
// CHECK: tile.store {{.*}}, %[[WAITING]]
// CHECK: scf.for %{{.*}} = %c4{{.*}} to %c6
// CHECK: tile.load %[[WAITING]]
// CHECK: tile.dot4
// CHECK-NOT: tile.store {{.*}}, %[[WAITING]]
// CHECK: tile.store {{.*}} : tensor<32xf32>, <?x32xf32>

// -----

// Few registers: 8 of a panel's 32 rows at a time stay in the nearest cache while all rows pass; sums wait until a panel is complete.
// A tile of rows is unpacked for at once, and what is left goes in ever smaller tiles.
llm.weight @w : !llm.weight<32x64x!llm.group<bits = 8>, <panel_rows = 32>> from ["w"]

// CHECK-LABEL: func.func @parts
func.func @parts(%x: tensor<?x64xf32>) -> tensor<?x32xf32> attributes {llm.graph = "decode"} {
  %q = llm.fused "row" schedule <lanes = 32> {
    %0 = llm.quantize %x : tensor<?x64xf32> -> tensor<?x64x!llm.group<bits = 8>>
    llm.yield %0 : tensor<?x64x!llm.group<bits = 8>>
  } : tensor<?x64x!llm.group<bits = 8>>
  %y = llm.fused "w" schedule <row_tile = 3, across = 8, k_tile = 64> {
    %0 = llm.linear %q, @w : tensor<?x64x!llm.group<bits = 8>> -> tensor<?x32xf32>
    llm.yield %0 : tensor<?x32xf32>
  } : tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

// CHECK: tile.kernel @linear_0
// Four parts of two groups; 8 words and the scales of 8 rows in each.
// CHECK: arith.cmpi ult, %{{.*}}, %c3
// CHECK: %[[BYTES:.*]] = tile.scratch : <8x72xi32>
// CHECK: %[[WAITING:.*]] = tile.scratch : <48x32xf32>
// CHECK-COUNT-8: tile.store {{.*}}, %[[BYTES]]{{.*}} : tensor<8xi32>
// CHECK-COUNT-8: tile.dot4 (%{{.*}}, %{{.*}}, %{{.*}}) by %{{.*}} into (%{{.*}}, %{{.*}}, %{{.*}}) {signed_weights} : tensor<8xi32>
// CHECK-COUNT-3: tile.store {{.*}}, %[[WAITING]]{{.*}} : tensor<8xf32>
// CHECK-COUNT-8: tile.dot4 (%{{.*}}, %{{.*}}) by %{{.*}} into (%{{.*}}, %{{.*}}) {signed_weights} : tensor<8xi32>
// CHECK-COUNT-2: tile.store {{.*}}, %[[WAITING]]{{.*}} : tensor<8xf32>
// CHECK-COUNT-3: tile.load %[[WAITING]]{{.*}} -> tensor<32xf32>
// CHECK-COUNT-3: tile.store {{.*}} : tensor<32xf32>, <?x32xf32>
// CHECK-COUNT-2: tile.load %[[WAITING]]{{.*}} -> tensor<32xf32>
// CHECK-COUNT-2: tile.store {{.*}} : tensor<32xf32>, <?x32xf32>
// CHECK: tile.dot4 (%{{.*}}) by %{{.*}} into (%{{.*}}) : tensor<32xi32>

// -----

// One row reads several panels side by side; programs get ever smaller, so that threads end together: of 11
// panels 4, 2, 2, 2, 1.
llm.weight @w : !llm.weight<352x32x!llm.group<bits = 8>, <panel_rows = 32>> from ["w"]

// CHECK-LABEL: func.func @streams
func.func @streams(%x: tensor<?x32xf32>) -> tensor<?x352xf32> attributes {llm.graph = "decode"} {
  %q = llm.fused "row" schedule <lanes = 32> {
    %0 = llm.quantize %x : tensor<?x32xf32> -> tensor<?x32x!llm.group<bits = 8>>
    llm.yield %0 : tensor<?x32x!llm.group<bits = 8>>
  } : tensor<?x32x!llm.group<bits = 8>>
  // CHECK: tile.launch @linear_0 "w" grid(one, 5)
  %y = llm.fused "w" schedule <panels = 4> {
    %0 = llm.linear %q, @w : tensor<?x32x!llm.group<bits = 8>> -> tensor<?x352xf32>
    llm.yield %0 : tensor<?x352xf32>
  } : tensor<?x352xf32>
  return %y : tensor<?x352xf32>
}

// CHECK: tile.kernel @linear_0
// Of each stream what is read some groups later.
// CHECK: tile.prefetch %{{.*}}[%{{.*}}, %{{.*}}, %c768] : <11x1x272xi32>
// CHECK-COUNT-32: tile.dot4
// CHECK-COUNT-4: tile.store {{.*}} : tensor<32xf32>
// CHECK-COUNT-16: tile.dot4
// CHECK-COUNT-2: tile.store {{.*}} : tensor<32xf32>
// CHECK-COUNT-8: tile.dot4
// CHECK-NOT: tile.dot4

// -----

// Row t of a table in panels: panel t / 32, row t mod 32 of each block; four columns at a time.
llm.weight @embed : !llm.weight<100x64x!llm.group<bits = 4>, <panel_rows = 32>> from ["embed"]

// CHECK-LABEL: func.func @embed_rows
func.func @embed_rows(%step: !llm.step) -> tensor<?x64xf32> attributes {llm.graph = "prefill"} {
  // CHECK: tile.weight @embed : <4x2x144xi32>
  // CHECK: tile.launch @row_wise_0 "embed" grid(rows, 1)
  %x = llm.fused "embed" schedule <lanes = 32> {
    %0 = llm.embed %step, @embed : tensor<?x64xf32>
    llm.yield %0 : tensor<?x64xf32>
  } : tensor<?x64xf32>
  return %x : tensor<?x64xf32>
}

// CHECK: tile.kernel @row_wise_0({{.*}}, %[[TABLE:.*]]: !tile.view<4x2x144xi32>
// CHECK: %[[TOKEN:.*]] = tile.step_read tokens
// CHECK: %[[PANEL:.*]] = arith.divui %[[TOKEN]], %{{.*}}
// CHECK: %[[IN_PANEL:.*]] = arith.remui %[[TOKEN]], %{{.*}}
// CHECK: tile.load %{{.*}}[%[[PANEL]], {{.*}}] : <4x2x576xi8> -> tensor<4xi8>
// CHECK-COUNT-8: tile.store {{.*}} : tensor<4xf32>, <?x64xf32>

// -----

// Floats side by side too: 16 columns of a panel in bf16 are 1 KiB, and as much is prefetched of each stream.
llm.weight @w : !llm.weight<64x64xbf16, <panel_rows = 32>> from ["w"]

// CHECK-LABEL: func.func @float_streams
func.func @float_streams(%x: tensor<?x64xf32>) -> tensor<?x64xf32> attributes {llm.graph = "decode"} {
  %y = llm.fused "w" schedule <panels = 2, k_tile = 16> {
    %0 = llm.linear %x, @w : tensor<?x64xf32> -> tensor<?x64xf32>
    llm.yield %0 : tensor<?x64xf32>
  } : tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// CHECK: tile.kernel @linear_0
// CHECK: tile.prefetch %{{.*}}[%{{.*}}, %{{.*}}, %c768] : <2x64x32xbf16>
// CHECK-COUNT-15: tile.prefetch
// CHECK: tile.dot
// CHECK-COUNT-16: tile.prefetch
// CHECK: tile.dot
// CHECK-NOT: tile.prefetch
// CHECK: tile.store
