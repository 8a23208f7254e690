// RUN: llmc-opt %s --llmc-lower-tile-to-cpu="level=x86-64-v3" | FileCheck %s --check-prefix=V3
// RUN: llmc-opt %s --llmc-lower-tile-to-cpu="level=x86-64-v4+vnni+bf16" | FileCheck %s --check-prefix=VNNI

// Nibbles cannot saturate 16 bits: both links are added there, then widened once. A level with the instruction uses it.

// V3-LABEL: llvm.func hidden @nibbles
// V3-COUNT-2: llvm.x86.avx2.pmadd.ub.sw
// V3: llvm.x86.avx2.pmadd.wd
// V3-NOT: llvm.x86
// V3: llvm.return
// VNNI-LABEL: llvm.func hidden @nibbles
// VNNI-NOT: llvm.x86
tile.kernel @nibbles(%step: !tile.step, %x: !tile.view<8xi32>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : !tile.view<8xi32> -> tensor<8xi32>
  %b = tile.dot4 (%a) by %a into (%a) {bits = 4 : i64} : tensor<8xi32>
  %c = tile.dot4 (%a) by %a into (%b) {bits = 4 : i64} : tensor<8xi32>
  tile.store %c, %x[%c0] : tensor<8xi32>, !tile.view<8xi32>
  tile.return
}

// Whole bytes would saturate: even and odd ones apart.

// V3-LABEL: llvm.func hidden @bytes
// V3-NOT: llvm.x86.avx2.pmadd.ub.sw
// V3-COUNT-4: llvm.x86.avx2.pmadd.wd
// VNNI-LABEL: llvm.func hidden @bytes
// VNNI: llvm.x86.avx512.vpdpbusd.512
tile.kernel @bytes(%step: !tile.step, %x: !tile.view<16xi32>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : !tile.view<16xi32> -> tensor<16xi32>
  %b = tile.dot4 (%a) by %a into (%a) : tensor<16xi32>
  tile.store %b, %x[%c0] : tensor<16xi32>, !tile.view<16xi32>
  tile.return
}

// Signed ones: their signs go to the row's bytes, and what is left fits.

// V3-LABEL: llvm.func hidden @signed_bytes
// V3: math.absi
// V3: llvm.x86.avx2.psign.b
// V3: llvm.x86.avx2.pmadd.ub.sw
// V3: llvm.x86.avx2.pmadd.wd
// V3-NOT: llvm.x86
// V3: llvm.return
// VNNI-LABEL: llvm.func hidden @signed_bytes
// VNNI-NOT: llvm.x86
tile.kernel @signed_bytes(%step: !tile.step, %x: !tile.view<8xi32>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : !tile.view<8xi32> -> tensor<8xi32>
  %b = tile.dot4 (%a) by %a into (%a) {signed_weights} : tensor<8xi32>
  tile.store %b, %x[%c0] : tensor<8xi32>, !tile.view<8xi32>
  tile.return
}

// Each link stands where it was written, not at the end of its chain: weights of all links at once would not fit into registers.

// V3-LABEL: llvm.func hidden @in_place
// V3: llvm.load
// V3: llvm.x86.avx2.pmadd.ub.sw
// V3: llvm.load
// V3: llvm.x86.avx2.pmadd.ub.sw
// V3: llvm.x86.avx2.pmadd.wd
tile.kernel @in_place(%step: !tile.step, %x: !tile.view<2x8xi32>, %y: !tile.view<8xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = tile.load %y[%c0] : !tile.view<8xi32> -> tensor<8xi32>
  %a = tile.load %x[%c0, %c0] : !tile.view<2x8xi32> -> tensor<8xi32>
  %b = tile.dot4 (%v) by %a into (%v) {bits = 4 : i64} : tensor<8xi32>
  %c = tile.load %x[%c1, %c0] : !tile.view<2x8xi32> -> tensor<8xi32>
  %d = tile.dot4 (%v) by %c into (%b) {bits = 4 : i64} : tensor<8xi32>
  tile.store %d, %y[%c0] : tensor<8xi32>, !tile.view<8xi32>
  tile.return
}

// Rows of a tile go on word by word: what is in flight of each is held where it is.

// V3-LABEL: llvm.func hidden @rows
// V3-COUNT-4: llvm.x86.avx2.pmadd.ub.sw
// V3-COUNT-4: llvm.inline_asm has_side_effects "", "=x,0"
// V3-COUNT-4: llvm.x86.avx2.pmadd.ub.sw
// V3: llvm.inline_asm
// V3-NOT: pmadd.ub.sw
// V3: llvm.return
// VNNI-LABEL: llvm.func hidden @rows
// VNNI-COUNT-2: vpdpbusd
// VNNI-COUNT-2: llvm.inline_asm has_side_effects "", "=v,0"
// VNNI-COUNT-2: vpdpbusd
tile.kernel @rows(%step: !tile.step, %x: !tile.view<2x16xi32>, %y: !tile.view<16xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = tile.load %y[%c0] : !tile.view<16xi32> -> tensor<16xi32>
  %a = tile.load %x[%c0, %c0] : !tile.view<2x16xi32> -> tensor<16xi32>
  %c = tile.load %x[%c1, %c0] : !tile.view<2x16xi32> -> tensor<16xi32>
  %b:2 = tile.dot4 (%v, %v) by %a into (%v, %v) {bits = 4 : i64} : tensor<16xi32>
  %d:2 = tile.dot4 (%v, %v) by %c into (%b#0, %b#1) {bits = 4 : i64} : tensor<16xi32>
  tile.store %d#0, %y[%c0] : tensor<16xi32>, !tile.view<16xi32>
  tile.store %d#1, %x[%c0, %c0] : tensor<16xi32>, !tile.view<2x16xi32>
  tile.return
}

// What is less than a register is left to LLVM.

// VNNI-LABEL: llvm.func hidden @part
// VNNI-NOT: inline_asm
// VNNI: llvm.return
tile.kernel @part(%step: !tile.step, %x: !tile.view<6xi32>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : !tile.view<6xi32> -> tensor<6xi32>
  %b = tile.dot4 (%a) by %a into (%a) {bits = 4 : i64} : tensor<6xi32>
  tile.store %b, %x[%c0] : tensor<6xi32>, !tile.view<6xi32>
  tile.return
}
