// SPDX-License-Identifier: Apache-2.0
// What the interpreter has to say about a launch: findings (each a kind, a place and words) and
// counters.
#ifndef LLMC_TOOLS_PTX_INTERPRETER_REPORT_H
#define LLMC_TOOLS_PTX_INTERPRETER_REPORT_H

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace llmc::ptx {

enum class ReportKind : uint8_t {
  UninitialisedRegister,
  UninitialisedShared,
  UninitialisedGlobal,
  UninitialisedLocal,
  SharedReadAfterWrite,
  SharedWriteAfterRead,
  SharedWriteAfterWrite,
  BlocksReadAfterWrite,
  BlocksWriteAfterRead,
  BlocksWriteAfterWrite,
  ShuffleFromAbsentLane,
  CopyStillInFlight, // shared bytes used before their asynchronous copy was waited for
  PendingCopiesAtExit,
  // From here on the launch ends, as it would on a device (or would never end).
  OutOfBounds,
  Misaligned,
  PartialWarp,
  BarrierMismatch,
  BudgetSpent,
  Trapped,
  TooManyCopies,
  PastTheEnd
};

inline bool endsLaunch(ReportKind kind) { return kind >= ReportKind::OutOfBounds; }

/// A short name, for example "shared-read-after-write".
const char *reportKindName(ReportKind kind);

struct Report {
  ReportKind kind;
  std::string kernel;
  uint32_t line;
  std::string form;   // the instruction's mnemonic
  std::string detail; // of the first occurrence: addresses, block, warp, lane
  uint64_t count = 1; // occurrences at this place
};

/// Findings, one entry a (kernel, line, kind); entries past the limit are only counted.
class ReportLog {
public:
  /// True when this is the first of its kind at its place, so the caller need not build the detail
  /// twice.
  bool isNew(ReportKind kind, const std::string &kernel, uint32_t line);
  void add(Report report);
  void clear();
  const std::vector<Report> &reports() const { return entries; }
  uint64_t dropped() const { return droppedCount; }

private:
  std::vector<Report> entries;
  std::map<std::tuple<std::string, uint32_t, ReportKind>, size_t> places;
  uint64_t droppedCount = 0;
};

/// `file:line: error: in kernel 'k': kind: 'form': detail (n times)`.
std::string describe(const Report &report, const std::string &fileName);

struct Counters {
  uint64_t instructions = 0; // warp instructions
  uint64_t globalAccesses = 0;
  uint64_t globalSectors = 0; // 32-byte sectors touched, summed over accesses
  uint64_t globalBytesRead = 0;
  uint64_t globalBytesWritten = 0;
  uint64_t sharedAccesses = 0;
  uint64_t sharedWavefronts = 0; // equals accesses of up to 128 bytes when no bank conflicts
  uint64_t barriers = 0;         // passed by a whole block

  void add(const Counters &other);
};

} // namespace llmc::ptx

#endif
