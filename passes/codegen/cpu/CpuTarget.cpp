// SPDX-License-Identifier: Apache-2.0
//
// The CPU as a target. Schedules are chosen by shape and register file; measured reasons are in this folder's README.
#include "passes/codegen/cpu/CpuTarget.h"
#include "passes/codegen/cpu/CpuLevel.h"
#include "passes/codegen/cpu/Passes.h"
#include "llvm/Support/FormatVariadic.h"
#include "passes/graph/Regions.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::llm;

namespace {

constexpr int64_t kPanelRows = 32;
constexpr int64_t kChunkBytes = 64 << 10; // memory that a claimed chunk should at least move, to hide the claim
constexpr int64_t kMostRowTile = 8;
constexpr int64_t kMostStreams = 4; // of packed weights, read at a time by one thread

struct Fields {
  int64_t lanes = 0, kSplit = 1, kvChunk = 0, rowTile = 1, panels = 1, kTile = 0, chunk = 1;
};

class CpuTarget : public Target {
public:
  explicit CpuTarget(cpu::CpuLevel chosen) : level(std::move(chosen)) {
    description.name = "cpu:" + level.name;
    description.vectorLanes = level.lanes();
    description.vectorRegisters = level.vectorRegisters;
  }

  const TargetFacts &facts() const override { return description; }
  void addKernelPasses(OpPassManager &passes) const override { cpu::addKernelPasses(passes, level.name); }

  ScheduleAttr schedule(FusedOp region, KernelKind kind, std::string &reason) const override {
    Fields f;
    f.lanes = 4 * description.vectorLanes; // four chains hide the latency of an add
    switch (kind) {
    case KernelKind::RowWise:
      f.chunk = chunkOf(widthOf(region->getResult(0).getType()) * 4 * 2);
      reason = "four vectors of lanes";
      break;
    case KernelKind::Linear:
      linear(region, f, reason);
      break;
    case KernelKind::RopeAppend:
      reason = "one program a row";
      break;
    case KernelKind::Attention:
      f.lanes = description.vectorLanes;
      f.kvChunk = 64;
      reason = "one program a row and query head";
      break;
    case KernelKind::Verify:
      reason = "one program a sequence";
      break;
    }
    return ScheduleAttr::get(region.getContext(), f.lanes, f.kSplit, f.kvChunk, f.rowTile, f.panels, f.kTile, f.chunk);
  }

private:
  static int64_t chunkOf(int64_t bytesPerProgram) { return std::max<int64_t>(1, kChunkBytes / std::max<int64_t>(1, bytesPerProgram)); }

  void linear(FusedOp region, Fields &f, std::string &reason) const {
    int64_t projections = 0, panelBytes = 0;
    bool inGroups = false;
    for (Operation &op : region.getBody().front())
      if (FlatSymbolRefAttr symbol = graph::multipliedBy(&op)) {
        ++projections;
        WeightType type = lookupWeight(&op, symbol).getType();
        inGroups = bool(type.getGroups());
        int64_t rows = type.getRows() + (kPanelRows - type.getRows() % kPanelRows) % kPanelRows;
        panelBytes += int64_t(type.getBytes()) / rows * kPanelRows;
      }
    auto graph = region->getParentOfType<FunctionOpInterface>()->getAttrOfType<StringAttr>(kGraphAttrName);
    int64_t vectors = kPanelRows / description.vectorLanes; // registers of one accumulator
    // Groups: integer and float sums of one projection at a time. Floats: sums of all.
    int64_t sums = vectors * (inGroups ? 2 : projections);
    int64_t fits = (description.vectorRegisters - vectors - 1) / sums;
    bool decodes = graph && graph.getValue() == "decode";
    if (!decodes)
      f.rowTile = inGroups ? std::clamp<int64_t>(fits / 2 * 2, 1, kMostRowTile)
                           : std::clamp<int64_t>(int64_t(llvm::bit_floor(uint64_t(std::max<int64_t>(fits, 1)))), 1, kMostRowTile);
    // One row leaves registers free, and several streams read faster than one.
    else if (inGroups)
      f.panels = std::clamp<int64_t>(int64_t(llvm::bit_floor(uint64_t(std::max<int64_t>(fits, 1)))), 1, kMostStreams);
    f.kTile = 16;
    f.chunk = chunkOf(panelBytes * f.panels);
    reason = llvm::formatv("{0} rows share a loaded weight, {1} panels at a time: {2} of {3} registers hold sums", f.rowTile, f.panels,
                           f.rowTile * f.panels * sums,
                           description.vectorRegisters)
                 .str();
  }

  cpu::CpuLevel level;
  TargetFacts description;
};

} // namespace

std::unique_ptr<Target> llmc::createCpuTarget(StringRef level, std::string &error) {
  std::optional<cpu::CpuLevel> parsed = cpu::parseCpuLevel(level, error);
  return parsed ? std::make_unique<CpuTarget>(*parsed) : nullptr;
}
