// SPDX-License-Identifier: Apache-2.0
// Tensor-core forms of sm_80: ldmatrix and mma m16n8k16. Which lane holds which element follows the
// PTX manual's figures; sums are formed in double and rounded once, where a device rounds in an
// order of its own.
#include "tools/ptx-interpreter/Warp.h"

namespace llmc::ptx {

/// Tensor-core forms need all 32 lanes.
bool Warp::gatherWholeWarp(const Instruction &instruction, Step &step) {
  step = Step::Waiting;
  if (!gather(live))
    return false;
  if (predicated(instruction) == ~Lanes(0)) {
    step = Step::Next;
    return true;
  }
  step = report(ReportKind::PartialWarp, "needs all 32 lanes");
  return false;
}

Warp::Step Warp::loadMatrix(const Instruction &instruction) {
  Step step = Step::Next;
  if (!gatherWholeWarp(instruction, step))
    return step;
  const Operand &destination = instruction.operands[0], &address = instruction.operands[1];
  unsigned matrices = instruction.modifiers.vectorWidth;
  const Operand *parts =
      destination.kind == Operand::Kind::Vector ? destination.elements.data() : &destination;
  Lanes addressing = Lanes(lowBits(~uint64_t(0), 8 * matrices));
  if (!checkAddressRegister(address, addressing))
    return Step::Failed;
  uint16_t rows[32][8];
  Access accesses[width];
  forEachLane(addressing, [&](unsigned lane) {
    accesses[lane] = resolve(instruction, address, lane);
    const uint8_t *memory = failed ? nullptr : reach(accesses[lane], 16, false, lane);
    if (memory)
      std::memcpy(rows[lane], memory, 16);
  });
  if (failed)
    return Step::Failed;
  count(accesses, 8 * matrices, 16, false);
  for (unsigned matrix = 0; matrix < matrices; ++matrix) {
    const uint16_t (*elements)[8] = rows + 8 * matrix;
    for (unsigned lane = 0; lane < width; ++lane) {
      unsigned row = lane / 4, column = lane % 4 * 2;
      bool transposed = instruction.modifiers.transposed;
      uint32_t low = transposed ? elements[column][row] : elements[row][column];
      uint32_t high = transposed ? elements[column + 1][row] : elements[row][column + 1];
      store(parts[matrix], lane, low | high << 16);
    }
    markValid(parts[matrix], ~Lanes(0));
  }
  return Step::Next;
}

Warp::Step Warp::multiplyMatrices(const Instruction &instruction) {
  Step step = Step::Next;
  if (!gatherWholeWarp(instruction, step))
    return step;
  ScalarType type = instruction.modifiers.brain ? ScalarType::BF16 : ScalarType::F16;
  double left[16][16], right[16][8], sums[16][8];
  uint64_t scratch[width];
  for (unsigned part = 0; part < 4; ++part) {
    const uint64_t *cells = source(instruction.operands[1].elements[part], ~Lanes(0), scratch);
    for (unsigned lane = 0; lane < width; ++lane) {
      double *pair = &left[lane / 4 + (part & 1) * 8][lane % 4 * 2 + (part >> 1) * 8];
      pair[0] = cellToDouble(cells[lane] & 0xffff, type);
      pair[1] = cellToDouble(cells[lane] >> 16 & 0xffff, type);
    }
  }
  for (unsigned part = 0; part < 2; ++part) {
    const uint64_t *cells = source(instruction.operands[2].elements[part], ~Lanes(0), scratch);
    for (unsigned lane = 0; lane < width; ++lane) {
      unsigned row = lane % 4 * 2 + part * 8;
      right[row][lane / 4] = cellToDouble(cells[lane] & 0xffff, type);
      right[row + 1][lane / 4] = cellToDouble(cells[lane] >> 16 & 0xffff, type);
    }
  }
  auto sumOf = [&](unsigned lane, unsigned part) -> double & {
    return sums[lane / 4 + (part >> 1) * 8][lane % 4 * 2 + (part & 1)];
  };
  for (unsigned part = 0; part < 4; ++part) {
    const uint64_t *cells = source(instruction.operands[3].elements[part], ~Lanes(0), scratch);
    for (unsigned lane = 0; lane < width; ++lane)
      sumOf(lane, part) = asFloat(cells[lane]);
  }
  for (unsigned row = 0; row < 16; ++row)
    for (unsigned column = 0; column < 8; ++column)
      for (unsigned inner = 0; inner < 16; ++inner)
        sums[row][column] += left[row][inner] * right[inner][column];
  for (unsigned part = 0; part < 4; ++part) {
    const Operand &destination = instruction.operands[0].elements[part];
    for (unsigned lane = 0; lane < width; ++lane)
      store(destination, lane,
            roundDouble(sumOf(lane, part), ScalarType::F32, Rounding::NearestEven));
    markValid(destination, ~Lanes(0));
  }
  return failed ? Step::Failed : Step::Next;
}

} // namespace llmc::ptx
