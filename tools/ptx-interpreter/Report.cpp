// SPDX-License-Identifier: Apache-2.0
// Collects findings and words them.
#include "tools/ptx-interpreter/Report.h"

namespace llmc::ptx {

namespace {
constexpr size_t mostEntries = 1000;
}

const char *reportKindName(ReportKind kind) {
  switch (kind) {
  case ReportKind::UninitialisedRegister:
    return "uninitialised-register";
  case ReportKind::UninitialisedShared:
    return "uninitialised-shared";
  case ReportKind::UninitialisedGlobal:
    return "uninitialised-global";
  case ReportKind::UninitialisedLocal:
    return "uninitialised-local";
  case ReportKind::SharedReadAfterWrite:
    return "shared-read-after-write";
  case ReportKind::SharedWriteAfterRead:
    return "shared-write-after-read";
  case ReportKind::SharedWriteAfterWrite:
    return "shared-write-after-write";
  case ReportKind::BlocksReadAfterWrite:
    return "blocks-read-after-write";
  case ReportKind::BlocksWriteAfterRead:
    return "blocks-write-after-read";
  case ReportKind::BlocksWriteAfterWrite:
    return "blocks-write-after-write";
  case ReportKind::ShuffleFromAbsentLane:
    return "shuffle-from-absent-lane";
  case ReportKind::CopyStillInFlight:
    return "copy-still-in-flight";
  case ReportKind::PendingCopiesAtExit:
    return "pending-copies-at-exit";
  case ReportKind::OutOfBounds:
    return "out-of-bounds";
  case ReportKind::Misaligned:
    return "misaligned";
  case ReportKind::PartialWarp:
    return "partial-warp";
  case ReportKind::BarrierMismatch:
    return "barrier-mismatch";
  case ReportKind::BudgetSpent:
    return "budget-spent";
  case ReportKind::Trapped:
    return "trapped";
  case ReportKind::TooManyCopies:
    return "too-many-copies";
  case ReportKind::PastTheEnd:
    return "past-the-end";
  }
  return "unknown";
}

bool ReportLog::isNew(ReportKind kind, const std::string &kernel, uint32_t line) {
  auto found = places.find({kernel, line, kind});
  if (found == places.end())
    return true;
  ++entries[found->second].count;
  return false;
}

void ReportLog::add(Report report) {
  if (entries.size() >= mostEntries) {
    ++droppedCount;
    return;
  }
  places[{report.kernel, report.line, report.kind}] = entries.size();
  entries.push_back(std::move(report));
}

void ReportLog::clear() {
  entries.clear();
  places.clear();
  droppedCount = 0;
}

std::string describe(const Report &report, const std::string &fileName) {
  std::string text = fileName + ":" + std::to_string(report.line) + ": error: in kernel '" +
                     report.kernel + "': " + reportKindName(report.kind) + ": '" + report.form +
                     "': " + report.detail;
  if (report.count > 1)
    text += " (" + std::to_string(report.count) + " times)";
  return text;
}

void Counters::add(const Counters &other) {
  instructions += other.instructions;
  globalAccesses += other.globalAccesses;
  globalSectors += other.globalSectors;
  globalBytesRead += other.globalBytesRead;
  globalBytesWritten += other.globalBytesWritten;
  sharedAccesses += other.sharedAccesses;
  sharedWavefronts += other.sharedWavefronts;
  barriers += other.barriers;
}

} // namespace llmc::ptx
