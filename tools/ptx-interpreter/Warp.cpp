// SPDX-License-Identifier: Apache-2.0
// Scheduling of a warp's lanes and the forms that stay within a lane.
#include "tools/ptx-interpreter/Warp.h"

#include <algorithm>

namespace llmc::ptx {

Warp::Warp(LaunchState &launch, uint32_t index, uint32_t lanes)
    : launch(launch), index(index), existing(uint32_t(lowBits(~uint64_t(0), lanes))) {
  cells.resize(launch.kernel.registerBits.size() * width);
  valid.resize(launch.kernel.registerBits.size());
  validQuarters.resize(launch.kernel.registerBits.size() * quarters);
  local.resize(size_t(launch.kernel.localBytes) * width);
  localInitialised.resize(local.size() / 8 + 1);
}

void Warp::reset() {
  std::fill(valid.begin(), valid.end(), 0);
  std::fill(validQuarters.begin(), validQuarters.end(), 0);
  std::fill(localInitialised.begin(), localInitialised.end(), 0);
  std::fill(counters, counters + width, 0);
  for (Copies &mine : copies)
    mine = {};
  pendingCopies = 0;
  live = existing;
  blocked = active = 0;
  failed = false;
}

void Warp::park() {
  forEachLane(active, [&](unsigned lane) { counters[lane] = counter; });
  active = 0;
}

/// Chooses the lanes at the lowest program counter that do not wait; false when there are none.
bool Warp::pick() {
  Lanes candidates = live & ~blocked;
  counter = lowestWaiting = UINT32_MAX;
  forEachLane(candidates, [&](unsigned lane) { counter = std::min(counter, counters[lane]); });
  active = 0;
  forEachLane(candidates, [&](unsigned lane) {
    if (counters[lane] == counter)
      active |= 1u << lane;
    else
      lowestWaiting = std::min(lowestWaiting, counters[lane]);
  });
  return active != 0;
}

/// The running lanes and those that wait at the same instruction.
Warp::Lanes Warp::present() const {
  Lanes lanes = active;
  forEachLane(blocked, [&](unsigned lane) {
    if (counters[lane] == counter)
      lanes |= 1u << lane;
  });
  return lanes;
}

/// Joins all lanes that stand at this instruction. False when required ones are elsewhere: then the
/// group waits.
bool Warp::gather(Lanes required) {
  Lanes here = present();
  if (required & live & ~here) {
    blocked |= active;
    park();
    return false;
  }
  blocked &= ~here;
  active = here;
  return true;
}

Warp::Stop Warp::run() {
  const std::vector<Instruction> &code = launch.kernel.code;
  while (live) {
    if (active == 0 && !pick()) {
      // Everybody waits for somebody: name the first place where they do.
      counter = UINT32_MAX;
      forEachLane(live, [&](unsigned lane) { counter = std::min(counter, counters[lane]); });
      report(ReportKind::PartialWarp,
             "reached by part of the lanes it needs only; the others wait elsewhere");
      return Stop::Failed;
    }
    if (counter >= code.size()) {
      report(ReportKind::PastTheEnd, "control runs past the last instruction, expected 'ret'");
      return Stop::Failed;
    }
    if (launch.budgetLeft == 0) {
      report(ReportKind::BudgetSpent,
             "the launch's instruction budget is spent; a loop may never end");
      return Stop::Failed;
    }
    --launch.budgetLeft;
    ++launch.counters.instructions;
    switch (execute(code[counter])) {
    case Step::Next:
      if (++counter >= lowestWaiting)
        park();
      break;
    case Step::Barrier:
      ++counter;
      return Stop::Barrier;
    case Step::Failed:
      return Stop::Failed;
    case Step::Jumped:
    case Step::Waiting:
      break;
    }
    if (failed)
      return Stop::Failed;
  }
  return Stop::Done;
}

Warp::Lanes Warp::predicated(const Instruction &instruction) {
  if (instruction.predicate < 0)
    return active;
  Operand operand;
  operand.kind = Operand::Kind::Register;
  operand.index = instruction.predicate;
  uint64_t scratch[width];
  const uint64_t *row = source(operand, active, scratch);
  Lanes lanes = 0;
  forEachLane(active, [&](unsigned lane) {
    if ((row[lane] & 1) != uint64_t(instruction.predicateNegated))
      lanes |= 1u << lane;
  });
  return lanes;
}

Warp::Step Warp::execute(const Instruction &instruction) {
  switch (instruction.form->action) {
  case Action::Barrier:
    return blockBarrier(instruction);
  case Action::WarpBarrier:
    return warpBarrier(instruction);
  case Action::Shuffle:
    return shuffle(instruction);
  case Action::Vote:
    return vote(instruction);
  case Action::LoadMatrix:
    return loadMatrix(instruction);
  case Action::MultiplyMatrices:
    return multiplyMatrices(instruction);
  default:
    break;
  }
  Lanes lanes = predicated(instruction);
  switch (instruction.form->action) {
  case Action::Evaluate:
    return evaluate(instruction, lanes);
  case Action::Move:
    return move(instruction, lanes);
  case Action::Select:
    return select(instruction, lanes);
  case Action::SetPredicate:
    return setPredicate(instruction, lanes);
  case Action::Load:
    return load(instruction, lanes);
  case Action::Store:
    return storeMemory(instruction, lanes);
  case Action::AsyncCopy:
    return asyncCopy(instruction, lanes);
  case Action::CommitCopies:
    return commitCopies(lanes);
  case Action::WaitForCopies:
    return waitForCopies(instruction, lanes);
  case Action::Branch:
    return branch(instruction, lanes);
  case Action::Exit:
    return exitLanes(lanes);
  case Action::ActiveMask:
    forEachLane(lanes, [&](unsigned lane) { store(instruction.operands[0], lane, lanes); });
    markValid(instruction.operands[0], lanes);
    return Step::Next;
  case Action::Trap:
    return lanes ? report(ReportKind::Trapped,
                          "the kernel gave up at " + place(unsigned(__builtin_ctz(lanes))))
                 : Step::Next;
  default:
    return Step::Next;
  }
}

Warp::Step Warp::branch(const Instruction &instruction, Lanes taken) {
  Lanes passing = active & ~taken;
  if (!taken)
    return Step::Next;
  if (!passing && lowestWaiting == UINT32_MAX) {
    counter = instruction.target;
    return Step::Jumped;
  }
  forEachLane(taken, [&](unsigned lane) { counters[lane] = instruction.target; });
  forEachLane(passing, [&](unsigned lane) { counters[lane] = counter + 1; });
  active = 0;
  return Step::Jumped;
}

Warp::Step Warp::exitLanes(Lanes leaving) {
  reportPendingCopies(leaving);
  Lanes staying = active & ~leaving;
  forEachLane(staying, [&](unsigned lane) { counters[lane] = counter + 1; });
  live &= ~leaving;
  active = 0;
  blocked = 0; // those who waited look again whether the rest is there
  return Step::Jumped;
}

Warp::Lanes Warp::validLanes(const Operand &operand) const {
  return operand.kind == Operand::Kind::Register ? valid[size_t(operand.index)] : ~Lanes(0);
}

const uint64_t *Warp::source(const Operand &operand, Lanes lanes, uint64_t *scratch, bool check) {
  if (operand.kind == Operand::Kind::Register) {
    Lanes bad = lanes & ~valid[size_t(operand.index)];
    if (bad && check && isFirst(ReportKind::UninitialisedRegister))
      report(ReportKind::UninitialisedRegister,
             "register '" + launch.kernel.registerNames[size_t(operand.index)] +
                 "' is read before it is written, at " + place(unsigned(__builtin_ctz(bad))));
    return &cells[size_t(operand.index) * width];
  }
  uint64_t common = operand.immediate;
  if (operand.kind == Operand::Kind::ModuleAddress)
    common += launch.moduleGlobals;
  if (operand.kind == Operand::Kind::Special)
    forEachLane(lanes, [&](unsigned lane) {
      scratch[lane] = special(static_cast<SpecialRegister>(operand.index), lane);
    });
  else
    std::fill(scratch, scratch + width, common);
  return scratch;
}

uint64_t Warp::special(SpecialRegister which, unsigned lane) const {
  uint32_t thread = index * width + lane;
  unsigned number = unsigned(which);
  switch (which) {
  case SpecialRegister::ThreadX:
    return thread % launch.blockSize[0];
  case SpecialRegister::ThreadY:
    return thread / launch.blockSize[0] % launch.blockSize[1];
  case SpecialRegister::ThreadZ:
    return thread / launch.blockSize[0] / launch.blockSize[1];
  case SpecialRegister::Lane:
    return lane;
  case SpecialRegister::Warp:
    return index;
  case SpecialRegister::WarpSize:
    return width;
  case SpecialRegister::LaneMaskEqual:
    return uint64_t(1) << lane;
  case SpecialRegister::LaneMaskLessEqual:
    return lowBits(~uint64_t(0), lane + 1);
  case SpecialRegister::LaneMaskLess:
    return lowBits(~uint64_t(0), lane);
  case SpecialRegister::LaneMaskGreaterEqual:
    return lowBits(~uint64_t(0) << lane, width);
  case SpecialRegister::LaneMaskGreater:
    return lowBits(~uint64_t(0) << lane << 1, width);
  default:
    break;
  }
  if (which <= SpecialRegister::BlockSizeZ)
    return launch.blockSize[number - unsigned(SpecialRegister::BlockSizeX)];
  if (which <= SpecialRegister::BlockZ)
    return launch.blockIndex[number - unsigned(SpecialRegister::BlockX)];
  return launch.gridSize[number - unsigned(SpecialRegister::GridSizeX)];
}

void Warp::store(const Operand &operand, unsigned lane, uint64_t value) {
  if (operand.kind != Operand::Kind::Register)
    return; // the sink
  size_t which = size_t(operand.index);
  cells[which * width + lane] = lowBits(value, launch.kernel.registerBits[which]);
}

void Warp::markValid(const Operand &operand, Lanes lanes, bool isValid) {
  if (operand.kind != Operand::Kind::Register)
    return;
  Lanes &entry = valid[size_t(operand.index)];
  entry = isValid ? entry | lanes : entry & ~lanes;
}

Warp::Step Warp::evaluate(const Instruction &instruction, Lanes lanes) {
  uint64_t scratch[4][width];
  const uint64_t *rows[4] = {};
  size_t count = instruction.operands.size() - 1;
  for (size_t operand = 0; operand < count; ++operand)
    rows[operand] = source(instruction.operands[operand + 1], lanes, scratch[operand]);
  const Operand &destination = instruction.operands[0];
  Evaluate function = instruction.form->evaluate;
  forEachLane(lanes, [&](unsigned lane) {
    uint64_t values[4];
    for (size_t operand = 0; operand < count; ++operand)
      values[operand] = rows[operand][lane];
    store(destination, lane, function(instruction, values));
  });
  markValid(destination, lanes);
  return Step::Next;
}

Warp::Lanes Warp::validLanes(const Operand &operand, unsigned quarter) const {
  Lanes lanes = validLanes(operand);
  return operand.kind == Operand::Kind::Register
             ? lanes | validQuarters[size_t(operand.index) * quarters + quarter]
             : lanes;
}

void Warp::markQuarters(const Operand &operand, Lanes lanes, const Lanes *known, unsigned count) {
  Lanes whole = lanes;
  for (unsigned quarter = 0; quarter < count; ++quarter)
    whole &= known[quarter];
  markValid(operand, lanes & ~whole, false);
  markValid(operand, whole);
  if (operand.kind != Operand::Kind::Register)
    return;
  for (unsigned quarter = 0; quarter < quarters; ++quarter) {
    Lanes &entry = validQuarters[size_t(operand.index) * quarters + quarter];
    entry = (entry & ~lanes) | (quarter < count ? lanes & known[quarter] : 0);
  }
}

/// Copies, packs or unpacks. An uninitialised source makes the destination uninitialised, 16 bits
/// at a time, and is no finding yet: compilers copy undefined values that nobody uses, as they pack
/// an odd number of halves.
Warp::Step Warp::move(const Instruction &instruction, Lanes lanes) {
  const Operand &destination = instruction.operands[0], &from = instruction.operands[1];
  bool packs = from.kind == Operand::Kind::Vector,
       unpacks = destination.kind == Operand::Kind::Vector;
  const Operand *sources = packs ? from.elements.data() : &from;
  const Operand *targets = unpacks ? destination.elements.data() : &destination;
  size_t sourceCount = packs ? from.elements.size() : 1;
  size_t targetCount = unpacks ? destination.elements.size() : 1;
  unsigned bits = instruction.type == ScalarType::Pred ? 1 : sizeInBits(instruction.type);
  unsigned sourceBits = bits / unsigned(sourceCount), targetBits = bits / unsigned(targetCount);
  uint64_t values[width] = {};
  Lanes known[quarters] = {lanes, lanes, lanes, lanes}; // of what is moved
  for (size_t part = 0; part < sourceCount; ++part) {
    uint64_t scratch[width];
    const uint64_t *row = source(sources[part], lanes, scratch, false);
    for (unsigned bit = 0; bit < sourceBits; bit += quarterBits)
      known[(part * sourceBits + bit) / quarterBits] &=
          validLanes(sources[part], bit / quarterBits);
    forEachLane(lanes, [&](unsigned lane) {
      values[lane] |= lowBits(row[lane], sourceBits) << (part * sourceBits);
    });
  }
  for (size_t part = 0; part < targetCount; ++part) {
    forEachLane(lanes, [&](unsigned lane) {
      store(targets[part], lane, lowBits(values[lane] >> (part * targetBits), targetBits));
    });
    markQuarters(targets[part], lanes, &known[part * targetBits / quarterBits],
                 std::max(targetBits / quarterBits, 1u));
  }
  return Step::Next;
}

Warp::Step Warp::select(const Instruction &instruction, Lanes lanes) {
  uint64_t scratch[3][width];
  const uint64_t *condition = source(instruction.operands[3], lanes, scratch[2]);
  Lanes yes = 0;
  forEachLane(lanes, [&](unsigned lane) {
    bool holds = (condition[lane] & 1) != uint64_t(instruction.operands[3].negated);
    yes |= uint32_t(holds) << lane;
  });
  // Only the chosen side has to be initialised.
  const uint64_t *first = source(instruction.operands[1], yes, scratch[0]);
  const uint64_t *second = source(instruction.operands[2], lanes & ~yes, scratch[1]);
  forEachLane(lanes, [&](unsigned lane) {
    uint64_t value = yes >> lane & 1 ? first[lane] : second[lane];
    store(instruction.operands[0], lane, extend(value, instruction.type));
  });
  markValid(instruction.operands[0], lanes);
  return Step::Next;
}

Warp::Step Warp::setPredicate(const Instruction &instruction, Lanes lanes) {
  uint64_t scratch[3][width];
  const uint64_t *left = source(instruction.operands[1], lanes, scratch[0]);
  const uint64_t *right = source(instruction.operands[2], lanes, scratch[1]);
  bool combines = instruction.operands.size() > 3;
  const uint64_t *with = combines ? source(instruction.operands[3], lanes, scratch[2]) : nullptr;
  auto combined = [&](bool value, unsigned lane) {
    if (!combines)
      return value;
    bool other = (with[lane] & 1) != uint64_t(instruction.operands[3].negated);
    Combination kind = instruction.modifiers.combination;
    return kind == Combination::And  ? value && other
           : kind == Combination::Or ? value || other
                                     : value != other;
  };
  const Operand &destination = instruction.operands[0];
  bool pair = destination.kind == Operand::Kind::Pair;
  const Operand &first = pair ? destination.elements[0] : destination;
  forEachLane(lanes, [&](unsigned lane) {
    bool holds = compareCells(instruction, left[lane], right[lane]);
    store(first, lane, combined(holds, lane));
    if (pair)
      store(destination.elements[1], lane, combined(!holds, lane));
  });
  markValid(first, lanes);
  if (pair)
    markValid(destination.elements[1], lanes);
  return Step::Next;
}

bool Warp::isFirst(ReportKind kind) const {
  return launch.log.isNew(kind, launch.kernel.name, launch.kernel.code[counter].line);
}

Warp::Step Warp::report(ReportKind kind, const std::string &detail) {
  size_t at = std::min<size_t>(counter, launch.kernel.code.size() - 1);
  if (!launch.kernel.code.empty())
    launch.log.add({kind, launch.kernel.name, launch.kernel.code[at].line,
                    launch.kernel.code[at].mnemonic, detail});
  if (!endsLaunch(kind))
    return Step::Next;
  failed = true;
  return Step::Failed;
}

std::string Warp::place(unsigned lane) const {
  return "block " + std::to_string(launch.linearBlock) + ", thread " +
         std::to_string(index * width + lane);
}

} // namespace llmc::ptx
