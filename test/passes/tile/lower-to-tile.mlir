// Each region becomes a kernel and a launch; regions that are alike share a kernel, in all graphs.
//
// RUN: llmc-opt %s --llmc-lower-to-tile | FileCheck %s
// RUN: llmc-opt %s --llmc-lower-to-tile --llmc-lower-to-tile | FileCheck %s

llm.weight @layers.0.norm : !llm.weight<64xf32> from ["n0"]
llm.weight @layers.1.norm : !llm.weight<64xf32> from ["n1"]
llm.weight @o : !llm.weight<40x64xf32, <panel_rows = 32>> from ["o"]

// CHECK-LABEL: func.func @prefill
// CHECK-SAME: (%[[STEP:.*]]: !tile.step, %[[X:.*]]: tensor<?x64xf32>)
func.func @prefill(%step: !llm.step, %x: tensor<?x64xf32>) -> tensor<?x40xf32> attributes {llm.graph = "prefill"} {
  // CHECK: %[[W0:.*]] = tile.weight @layers.0.norm : <64xf32>
  // CHECK: %[[A:.*]] = tile.launch @row_wise_0 "layers.0.norm" grid(rows, 1) chunk 7(%{{.*}}, %{{.*}}) :
  %a = llm.fused "layers.0.norm" schedule <lanes = 32, chunk = 7> {
    %0 = llm.rms_norm %x, @layers.0.norm {eps = 1.0e-05 : f32} : tensor<?x64xf32>
    llm.yield %0 : tensor<?x64xf32>
  } : tensor<?x64xf32>
  // CHECK: tile.weight @layers.1.norm
  // CHECK: %[[B:.*]] = tile.launch @row_wise_0 "layers.1.norm"
  %b = llm.fused "layers.1.norm" schedule <lanes = 32, chunk = 7> {
    %0 = llm.rms_norm %a, @layers.1.norm {eps = 1.0e-05 : f32} : tensor<?x64xf32>
    llm.yield %0 : tensor<?x64xf32>
  } : tensor<?x64xf32>
  // 40 outputs are two panels of 32, the second filled up.
  // CHECK: %[[O:.*]] = tile.weight @o : <2x64x32xf32>
  // CHECK: %[[Y:.*]] = tile.launch @linear_0 "o" grid(one, 2) chunk 1(%[[B]], %[[O]])
  // CHECK: return %[[Y]]
  %y = llm.fused "o" schedule <row_tile = 2, k_tile = 8> {
    %0 = llm.linear %b, @o : tensor<?x64xf32> -> tensor<?x40xf32>
    llm.yield %0 : tensor<?x40xf32>
  } : tensor<?x40xf32>
  return %y : tensor<?x40xf32>
}

// The same shape with other lanes is another kernel; with the same, it is shared across graphs.
// CHECK-LABEL: func.func @decode
func.func @decode(%step: !llm.step, %x: tensor<?x64xf32>) -> tensor<?x64xf32> attributes {llm.graph = "decode"} {
  // CHECK: tile.launch @row_wise_1 "layers.0.norm"
  %a = llm.fused "layers.0.norm" schedule <lanes = 8> {
    %0 = llm.rms_norm %x, @layers.0.norm {eps = 1.0e-05 : f32} : tensor<?x64xf32>
    llm.yield %0 : tensor<?x64xf32>
  } : tensor<?x64xf32>
  // CHECK: tile.launch @row_wise_0 "layers.1.norm"
  %b = llm.fused "layers.1.norm" schedule <lanes = 32> {
    %0 = llm.rms_norm %a, @layers.1.norm {eps = 1.0e-05 : f32} : tensor<?x64xf32>
    llm.yield %0 : tensor<?x64xf32>
  } : tensor<?x64xf32>
  return %b : tensor<?x64xf32>
}

// CHECK-LABEL: func.func @no_graph
func.func @no_graph(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  // CHECK: llm.fused
  %b = llm.fused "layers.1.norm" schedule <lanes = 32> {
    %0 = llm.rms_norm %x, @layers.1.norm {eps = 1.0e-05 : f32} : tensor<?x64xf32>
    llm.yield %0 : tensor<?x64xf32>
  } : tensor<?x64xf32>
  return %b : tensor<?x64xf32>
}

// Two row tiles: full ones, then single rows; the weight's tile is loaded once for both rows.
// CHECK: tile.kernel @row_wise_0(%{{.*}}: !tile.step, %{{.*}}: !tile.view<?x64xf32>, %{{.*}}: !tile.view<64xf32>, %[[OUT:.*]]: !tile.view<?x64xf32>)
// CHECK: tile.reduce add %{{.*}} : tensor<32xf32> -> f32
// CHECK: tile.kernel @linear_0
// CHECK: %[[PANEL:.*]] = tile.load %{{.*}} : <2x64x32xf32> -> tensor<8x32xf32>
// CHECK: tile.dot (%{{.*}}, %{{.*}}) by %[[PANEL]] into
// CHECK: tile.kernel @row_wise_1
// CHECK: tile.reduce add %{{.*}} : tensor<8xf32> -> f32
// CHECK-NOT: tile.kernel
