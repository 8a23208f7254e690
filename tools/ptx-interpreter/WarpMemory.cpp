// SPDX-License-Identifier: Apache-2.0
// Loads and stores: where an address leads, what the checkers say, and what the access costs in
// sectors or wavefronts.
#include "tools/ptx-interpreter/Warp.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

namespace llmc::ptx {

namespace {
constexpr uint64_t sectorBytes = 32;
constexpr unsigned banks = 32;
constexpr uint32_t bankBytes = 4;

const char *findingText(ReportKind kind) {
  switch (kind) {
  case ReportKind::UninitialisedGlobal:
  case ReportKind::UninitialisedShared:
  case ReportKind::UninitialisedLocal:
    return "reads bytes that nobody has written";
  case ReportKind::CopyStillInFlight:
    return "uses bytes that an asynchronous copy has not been waited for to fill";
  case ReportKind::SharedReadAfterWrite:
    return "reads bytes that another warp wrote since the last barrier";
  case ReportKind::SharedWriteAfterRead:
    return "writes bytes that another warp read since the last barrier";
  case ReportKind::SharedWriteAfterWrite:
    return "writes bytes that another warp wrote since the last barrier";
  case ReportKind::BlocksReadAfterWrite:
    return "reads bytes that another block wrote in this launch";
  case ReportKind::BlocksWriteAfterRead:
    return "writes bytes that another block read in this launch";
  default:
    return "writes bytes that another block wrote in this launch";
  }
}

std::string hexadecimal(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%" PRIx64, value);
  return text;
}

const char *spaceName(Space space) {
  switch (space) {
  case Space::Shared:
    return "shared";
  case Space::Parameter:
    return "parameter";
  case Space::Local:
    return "local";
  default:
    return "global";
  }
}

/// Passes over the banks: lanes are served in groups of 128 bytes, words of one bank one after the
/// other.
uint64_t wavefronts(const uint64_t *addresses, unsigned number, uint32_t size) {
  unsigned perPass = std::max(1u, banks * bankBytes / std::max(size, bankBytes));
  uint64_t total = 0;
  for (unsigned first = 0; first < number; first += perPass) {
    uint64_t words[banks * 2];
    unsigned distinct = 0, perBank[banks] = {}, worst = 1;
    for (unsigned lane = first; lane < std::min(number, first + perPass); ++lane)
      for (uint32_t byte = 0; byte < size; byte += bankBytes) {
        uint64_t word = (addresses[lane] + byte) / bankBytes;
        if (std::find(words, words + distinct, word) != words + distinct)
          continue;
        words[distinct++] = word;
        worst = std::max(worst, ++perBank[word % banks]);
      }
    total += worst;
  }
  return total;
}

uint64_t sectors(const uint64_t *addresses, unsigned number) {
  uint64_t found[Warp::width];
  for (unsigned lane = 0; lane < number; ++lane)
    found[lane] = addresses[lane] / sectorBytes;
  std::sort(found, found + number);
  return uint64_t(std::unique(found, found + number) - found);
}

} // namespace

Warp::Access Warp::resolve(const Instruction &instruction, const Operand &operand,
                           unsigned lane) const {
  uint64_t address = operand.immediate + (operand.inModuleGlobals ? launch.moduleGlobals : 0);
  if (operand.index >= 0) {
    size_t which = size_t(operand.index);
    address = lowBits(cells[which * width + lane] + address, launch.kernel.registerBits[which]);
  }
  Space space = instruction.modifiers.space;
  if (space != Space::Generic)
    return {address, space};
  space = operand.inModuleGlobals ? Space::Global : spaceOfGeneric(address);
  return {space == Space::Global ? address : windowOffset(address), space};
}

uint8_t *Warp::reachLocal(uint64_t offset, uint32_t size, bool write, unsigned lane,
                          Findings &findings) {
  uint64_t bytes = launch.kernel.localBytes;
  if (size > bytes || offset > bytes - size)
    return nullptr;
  uint64_t at = lane * bytes + offset;
  if (write)
    mark(localInitialised.data(), at, size);
  else if (!allMarked(localInitialised.data(), at, size))
    findings.add(ReportKind::UninitialisedLocal);
  return &local[at];
}

uint8_t *Warp::reach(const Access &access, uint32_t size, bool write, unsigned lane) {
  if (access.address % size) {
    report(ReportKind::Misaligned, std::string(spaceName(access.space)) + " address " +
                                       hexadecimal(access.address) + " is not a multiple of " +
                                       std::to_string(size) + ", at " + place(lane));
    return nullptr;
  }
  Findings findings;
  uint8_t *memory = nullptr;
  std::string bounds;
  switch (access.space) {
  case Space::Shared:
    memory = launch.shared.access(access.address, size, write, index, findings);
    bounds = memory ? "" : "block has " + std::to_string(launch.shared.size()) + " bytes";
    break;
  case Space::Local:
    memory = reachLocal(access.address, size, write, lane, findings);
    bounds = memory ? "" : "thread has " + std::to_string(launch.kernel.localBytes) + " bytes";
    break;
  case Space::Parameter:
    // Parameters are never written: a store through a generic pointer to one is out of bounds for a
    // device too.
    if (!write && access.address <= launch.parameters.size() &&
        size <= launch.parameters.size() - access.address)
      memory = const_cast<uint8_t *>(launch.parameters.data()) + access.address;
    bounds =
        memory ? ""
               : "kernel has " + std::to_string(launch.parameters.size()) + " bytes of parameters";
    break;
  default:
    memory = launch.global.access(access.address, size, write, launch.linearBlock, findings);
    bounds = memory ? "" : launch.global.describe(access.address);
  }
  if (!memory) {
    report(ReportKind::OutOfBounds, std::to_string(size) + " bytes at " + spaceName(access.space) +
                                        " address " + hexadecimal(access.address) + " (" + bounds +
                                        "), at " + place(lane));
    return nullptr;
  }
  for (uint32_t rest = findings.kinds; rest; rest &= rest - 1) {
    auto kind = static_cast<ReportKind>(__builtin_ctz(rest));
    if (isFirst(kind))
      report(kind, std::string(findingText(kind)) + ": " + std::to_string(size) + " bytes at " +
                       hexadecimal(access.address) + ", at " + place(lane));
  }
  return memory;
}

bool Warp::checkAddressRegister(const Operand &operand, Lanes lanes) {
  if (operand.index < 0)
    return true;
  Operand base;
  base.kind = Operand::Kind::Register;
  base.index = operand.index;
  source(base, lanes, nullptr);
  return !failed;
}

void Warp::count(const Access *accesses, unsigned number, uint32_t size, bool write) {
  // A generic access may touch several spaces at once; each is counted on its own.
  uint64_t global[width], shared[width];
  unsigned globals = 0, shareds = 0;
  for (unsigned entry = 0; entry < number; ++entry) {
    if (accesses[entry].space == Space::Global)
      global[globals++] = accesses[entry].address;
    else if (accesses[entry].space == Space::Shared)
      shared[shareds++] = accesses[entry].address;
  }
  Counters &counters = launch.counters;
  if (globals) {
    ++counters.globalAccesses;
    counters.globalSectors += sectors(global, globals);
    (write ? counters.globalBytesWritten : counters.globalBytesRead) += uint64_t(globals) * size;
  }
  if (shareds) {
    ++counters.sharedAccesses;
    counters.sharedWavefronts += wavefronts(shared, shareds, size);
  }
}

Warp::Step Warp::load(const Instruction &instruction, Lanes lanes) {
  const Operand &destination = instruction.operands[0], &address = instruction.operands[1];
  bool vector = destination.kind == Operand::Kind::Vector;
  const Operand *parts = vector ? destination.elements.data() : &destination;
  size_t partCount = vector ? destination.elements.size() : 1;
  uint32_t partBytes = sizeInBytes(instruction.type), size = uint32_t(partBytes * partCount);
  if (!checkAddressRegister(address, lanes))
    return Step::Failed;
  Access accesses[width];
  unsigned number = 0;
  forEachLane(lanes, [&](unsigned lane) {
    Access access = resolve(instruction, address, lane);
    const uint8_t *memory = failed ? nullptr : reach(access, size, false, lane);
    if (!memory)
      return;
    accesses[number++] = access;
    uint8_t bytes[64];
    std::memcpy(bytes, memory, size); // before a part overwrites the address register
    for (size_t part = 0; part < partCount; ++part) {
      uint64_t value = 0;
      std::memcpy(&value, bytes + part * partBytes, partBytes);
      store(parts[part], lane, extend(value, instruction.type));
    }
  });
  if (failed)
    return Step::Failed;
  count(accesses, number, size, false);
  for (size_t part = 0; part < partCount; ++part)
    markValid(parts[part], lanes);
  return Step::Next;
}

Warp::Step Warp::storeMemory(const Instruction &instruction, Lanes lanes) {
  const Operand &address = instruction.operands[0], &value = instruction.operands[1];
  bool vector = value.kind == Operand::Kind::Vector;
  const Operand *parts = vector ? value.elements.data() : &value;
  size_t partCount = vector ? value.elements.size() : 1;
  uint32_t partBytes = sizeInBytes(instruction.type), size = uint32_t(partBytes * partCount);
  uint64_t scratch[8][width];
  const uint64_t *rows[8] = {};
  for (size_t part = 0; part < partCount; ++part)
    rows[part] = source(parts[part], lanes, scratch[part]);
  if (!checkAddressRegister(address, lanes))
    return Step::Failed;
  Access accesses[width];
  unsigned number = 0;
  forEachLane(lanes, [&](unsigned lane) {
    Access access = resolve(instruction, address, lane);
    uint8_t *memory = failed ? nullptr : reach(access, size, true, lane);
    if (!memory)
      return;
    accesses[number++] = access;
    for (size_t part = 0; part < partCount; ++part)
      std::memcpy(memory + part * partBytes, &rows[part][lane], partBytes);
  });
  if (failed)
    return Step::Failed;
  count(accesses, number, size, true);
  return Step::Next;
}

} // namespace llmc::ptx
