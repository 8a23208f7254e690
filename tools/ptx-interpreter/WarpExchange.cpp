// SPDX-License-Identifier: Apache-2.0
// Forms in which lanes meet: shuffles, votes, warp and block barriers.
#include "tools/ptx-interpreter/Warp.h"

namespace llmc::ptx {

/// Brings together the lanes that the members' masks name. True with the lanes that take part; else
/// `step` says why not.
bool Warp::gatherMembers(const Instruction &instruction, const Operand &mask, Lanes &lanes,
                         Step &step) {
  Lanes here = present();
  uint64_t scratch[width];
  const uint64_t *masks = source(mask, here, scratch);
  Lanes required = 0, outside = 0;
  forEachLane(here, [&](unsigned lane) {
    required |= Lanes(masks[lane]);
    if (!(masks[lane] >> lane & 1))
      outside |= 1u << lane;
  });
  step = Step::Waiting;
  if (!gather(required))
    return false;
  lanes = predicated(instruction);
  if (lanes & outside) {
    step = report(ReportKind::PartialWarp, "a lane is not in its own member mask, at " +
                                               place(unsigned(__builtin_ctz(lanes & outside))));
    return false;
  }
  if (Lanes missing = required & live & ~lanes; missing && lanes) {
    step = report(ReportKind::PartialWarp, "a lane of the member mask does not take part, at " +
                                               place(unsigned(__builtin_ctz(missing))));
    return false;
  }
  step = Step::Next;
  return !failed;
}

Warp::Step Warp::warpBarrier(const Instruction &instruction) {
  Lanes lanes = 0;
  Step step = Step::Next;
  gatherMembers(instruction, instruction.operands[0], lanes, step);
  return step;
}

Warp::Step Warp::blockBarrier(const Instruction &instruction) {
  if (!gather(live))
    return Step::Waiting;
  Lanes lanes = predicated(instruction);
  if (lanes == 0)
    return Step::Next;
  if (lanes != live)
    return report(ReportKind::PartialWarp,
                  "a barrier of the block is reached by part of a warp only");
  barrier = instruction.operands[0].immediate;
  uint64_t threads = uint64_t(launch.blockSize[0]) * launch.blockSize[1] * launch.blockSize[2];
  uint64_t rounded = (threads + width - 1) / width * width;
  if (instruction.operands.size() > 1 && instruction.operands[1].immediate != rounded)
    return report(ReportKind::BarrierMismatch,
                  "barrier for " + std::to_string(instruction.operands[1].immediate) +
                      " of the block's " + std::to_string(rounded) +
                      " threads; barriers of part of a block are not modelled");
  return Step::Barrier;
}

namespace {

/// The lane a shuffle reads from, and whether it lies within the segment.
struct ShuffleSource {
  unsigned lane;
  bool inRange;
};

ShuffleSource shuffleSource(Exchange exchange, unsigned lane, uint64_t operand, uint64_t control) {
  unsigned clamp = control & 31, segment = control >> 8 & 31, amount = operand & 31;
  unsigned highest = (lane & segment) | (clamp & ~segment);
  unsigned lowest = lane & segment;
  int from = int(lane);
  bool inRange = false;
  switch (exchange) {
  case Exchange::Up:
    from -= int(amount);
    inRange = from >= int(highest); // for up, the clamp is the segment's lower end
    break;
  case Exchange::Down:
    from += int(amount);
    inRange = from <= int(highest);
    break;
  case Exchange::Butterfly:
    from ^= int(amount);
    inRange = from <= int(highest);
    break;
  default:
    from = int(lowest | (amount & ~segment));
    inRange = from <= int(highest);
    break;
  }
  return {inRange ? unsigned(from) : lane, inRange};
}

} // namespace

Warp::Step Warp::shuffle(const Instruction &instruction) {
  Lanes lanes = 0;
  Step step = Step::Next;
  if (!gatherMembers(instruction, instruction.operands[4], lanes, step))
    return step;
  uint64_t scratch[3][width], result[width] = {};
  const uint64_t *values = source(instruction.operands[1], lanes, scratch[0]);
  const uint64_t *amounts = source(instruction.operands[2], lanes, scratch[1]);
  const uint64_t *controls = source(instruction.operands[3], lanes, scratch[2]);
  Lanes inRange = 0;
  forEachLane(lanes, [&](unsigned lane) {
    ShuffleSource from =
        shuffleSource(instruction.modifiers.exchange, lane, amounts[lane], controls[lane]);
    inRange |= Lanes(from.inRange) << lane;
    if (!(lanes >> from.lane & 1) && isFirst(ReportKind::ShuffleFromAbsentLane))
      report(ReportKind::ShuffleFromAbsentLane, "reads lane " + std::to_string(from.lane) +
                                                    ", which does not take part, at " +
                                                    place(lane));
    result[lane] = lanes >> from.lane & 1 ? values[from.lane] : 0xdeadbeef;
  });
  const Operand &destination = instruction.operands[0];
  bool pair = destination.kind == Operand::Kind::Pair;
  const Operand &value = pair ? destination.elements[0] : destination;
  forEachLane(lanes, [&](unsigned lane) {
    store(value, lane, lowBits(result[lane], 32));
    if (pair)
      store(destination.elements[1], lane, inRange >> lane & 1);
  });
  markValid(value, lanes);
  if (pair)
    markValid(destination.elements[1], lanes);
  return Step::Next;
}

Warp::Step Warp::vote(const Instruction &instruction) {
  Lanes lanes = 0;
  Step step = Step::Next;
  if (!gatherMembers(instruction, instruction.operands[2], lanes, step))
    return step;
  uint64_t scratch[2][width];
  const Operand &condition = instruction.operands[1];
  const uint64_t *row = source(condition, lanes, scratch[0]);
  const uint64_t *masks = source(instruction.operands[2], lanes, scratch[1]);
  Lanes yes = 0;
  forEachLane(lanes, [&](unsigned lane) {
    yes |= Lanes((row[lane] & 1) != uint64_t(condition.negated)) << lane;
  });
  forEachLane(lanes, [&](unsigned lane) {
    Lanes members = Lanes(masks[lane]) & lanes, agreeing = yes & members;
    uint64_t value = agreeing;
    if (instruction.modifiers.exchange == Exchange::All)
      value = agreeing == members;
    else if (instruction.modifiers.exchange == Exchange::Any)
      value = agreeing != 0;
    else if (instruction.modifiers.exchange == Exchange::Uniform)
      value = agreeing == members || agreeing == 0;
    store(instruction.operands[0], lane, value);
  });
  markValid(instruction.operands[0], lanes);
  return Step::Next;
}

} // namespace llmc::ptx
