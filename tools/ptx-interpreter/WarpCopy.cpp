// SPDX-License-Identifier: Apache-2.0
// cp.async: a copy is checked when it is issued and its bytes arrive when its lane waits for its
// group; between the two the bytes are in flight and nobody may use them. Other warps need a
// barrier after that, as after any write.
#include "tools/ptx-interpreter/Warp.h"

namespace llmc::ptx {

namespace {
constexpr size_t mostPendingCopies = 65536; // of a warp
constexpr size_t mostGroups = 4096;         // of a lane
} // namespace

Warp::Step Warp::asyncCopy(const Instruction &instruction, Lanes lanes) {
  const Operand &to = instruction.operands[0], &from = instruction.operands[1];
  uint32_t size = uint32_t(instruction.operands[2].immediate);
  uint64_t scratch[width];
  const uint64_t *fromSizes =
      instruction.operands.size() > 3 ? source(instruction.operands[3], lanes, scratch) : nullptr;
  if (!checkAddressRegister(to, lanes) || !checkAddressRegister(from, lanes))
    return Step::Failed;
  Access reads[width], writes[width];
  unsigned number = 0, reading = 0;
  forEachLane(lanes, [&](unsigned lane) {
    uint32_t fromSize = fromSizes ? uint32_t(lowBits(fromSizes[lane], 32)) : size;
    Access target{resolve(instruction, to, lane).address, Space::Shared};
    Access origin{resolve(instruction, from, lane).address, Space::Global};
    if (fromSize > size)
      report(ReportKind::OutOfBounds, "copies " + std::to_string(fromSize) + " bytes into " +
                                          std::to_string(size) + ", at " + place(lane));
    // A copy of no bytes only fills with zeros; its source may be anywhere.
    if (failed || !reach(target, size, true, lane) ||
        (fromSize && !reachOrigin(origin, size, fromSize, lane)))
      return;
    launch.shared.setInFlight(target.address, size, true);
    copies[lane].open.push_back({target.address, origin.address, size, fromSize});
    ++pendingCopies;
    writes[number++] = target;
    if (fromSize)
      reads[reading++] = origin;
  });
  if (!failed && pendingCopies > mostPendingCopies)
    return report(ReportKind::TooManyCopies, "more than " + std::to_string(mostPendingCopies) +
                                                 " copies of a warp are in flight");
  if (failed)
    return Step::Failed;
  count(reads, reading, size, false);
  count(writes, number, size, true);
  return Step::Next;
}

/// The source of a copy: aligned to the whole size, but only the bytes that are read have to be
/// there.
bool Warp::reachOrigin(const Access &origin, uint32_t size, uint32_t fromSize, unsigned lane) {
  if (origin.address % size) {
    report(ReportKind::Misaligned, "source of a copy is not a multiple of " + std::to_string(size) +
                                       " bytes, at " + place(lane));
    return false;
  }
  for (uint32_t byte = 0; byte < fromSize; ++byte)
    if (!reach({origin.address + byte, Space::Global}, 1, false, lane))
      return false;
  return true;
}

Warp::Step Warp::commitCopies(Lanes lanes) {
  bool tooMany = false;
  forEachLane(lanes, [&](unsigned lane) {
    Copies &mine = copies[lane];
    tooMany |= mine.groups.size() >= mostGroups;
    mine.groups.push_back(std::move(mine.open));
    mine.open.clear();
  });
  return tooMany ? report(ReportKind::TooManyCopies, "more than " + std::to_string(mostGroups) +
                                                         " groups of a lane are not waited for")
                 : Step::Next;
}

Warp::Step Warp::waitForCopies(const Instruction &instruction, Lanes lanes) {
  bool all = instruction.operands.empty();
  uint64_t allowed = all ? 0 : instruction.operands[0].immediate;
  forEachLane(lanes, [&](unsigned lane) {
    Copies &mine = copies[lane];
    if (all) {
      mine.groups.push_back(std::move(mine.open));
      mine.open.clear();
    }
    while (mine.groups.size() > allowed) {
      for (const Copy &copy : mine.groups.front())
        arrive(copy, lane);
      mine.groups.pop_front();
    }
  });
  return failed ? Step::Failed : Step::Next;
}

void Warp::arrive(const Copy &copy, unsigned lane) {
  --pendingCopies;
  launch.shared.setInFlight(copy.to, copy.size, false);
  Findings ignored; // told when the copy was issued
  uint8_t *memory = launch.shared.access(copy.to, copy.size, true, index, ignored);
  std::memset(memory, 0, copy.size);
  if (copy.fromSize && !launch.global.read(copy.from, memory, copy.fromSize))
    report(ReportKind::OutOfBounds, "source of a copy is gone, at " + place(lane));
}

void Warp::reportPendingCopies(Lanes leaving) {
  if (pendingCopies == 0)
    return;
  forEachLane(leaving, [&](unsigned lane) {
    bool pending = !copies[lane].open.empty();
    for (const std::vector<Copy> &group : copies[lane].groups)
      pending |= !group.empty();
    if (pending && isFirst(ReportKind::PendingCopiesAtExit))
      report(ReportKind::PendingCopiesAtExit,
             "leaves with asynchronous copies that it did not wait for, at " + place(lane));
  });
}

} // namespace llmc::ptx
