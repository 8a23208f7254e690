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
constexpr int64_t kChunkBytes = 32 << 10; // memory that a claimed chunk should at least move, to hide the claim
constexpr int64_t kMostRowTile = 8;

constexpr int64_t kUnpackedColumns = 2048; // of a panel, a byte each and their factors: at most 80 KiB, on the stack and in L2

constexpr int64_t kRowsOfALine = 32; // keys of bf16 in a cache line
constexpr int64_t kBlockBytes = 128 << 10; // of scratch, for a block of attention
constexpr int64_t kMostBlockRows = 16;     // more would leave few programs to share out

struct Fields {
  int64_t lanes = 0, kSplit = 1, kvChunk = 0, rowTile = 1, panels = 1, across = 0, kTile = 0, chunk = 1;
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
      // Keys are columns: neighbouring rows write to the same lines of cache, which threads should not pass to and fro.
      f.chunk = graph::graphNameOf(region) == "prefill" ? kRowsOfALine : 1;
      reason = llvm::formatv("one program a row, {0} rows at a time", f.chunk).str();
      break;
    case KernelKind::Attention:
      attention(region, f, reason);
      break;
    case KernelKind::Verify:
      reason = "one program a sequence";
      break;
    }
    return ScheduleAttr::get(region.getContext(), f.lanes, f.kSplit, f.kvChunk, f.rowTile, f.panels, f.across, f.kTile, f.chunk);
  }

private:
  static int64_t chunkOf(int64_t bytesPerProgram) { return std::max<int64_t>(1, kChunkBytes / std::max<int64_t>(1, bytesPerProgram)); }

  void linear(FusedOp region, Fields &f, std::string &reason) const {
    int64_t projections = 0, panelBytes = 0;
    bool inGroups = false, nibbles = false;
    for (Operation &op : region.getBody().front())
      if (FlatSymbolRefAttr symbol = graph::multipliedBy(&op)) {
        ++projections;
        WeightType type = lookupWeight(&op, symbol).getType();
        inGroups = bool(type.getGroups());
        nibbles = inGroups && type.getGroups().getBits() == 4;
        int64_t rows = type.getRows() + (kPanelRows - type.getRows() % kPanelRows) % kPanelRows;
        panelBytes += int64_t(type.getBytes()) / rows * kPanelRows;
      }
    int64_t vectors = kPanelRows / description.vectorLanes; // registers of one accumulator
    // Groups: integer and float sums of one projection at a time. Floats: sums of all.
    int64_t sums = vectors * (inGroups ? 2 : projections);
    int64_t fits = std::max<int64_t>((description.vectorRegisters - vectors - 1) / sums, 1);
    f.rowTile = std::min(inGroups ? std::max<int64_t>(fits / 2 * 2, 1) : floorOfTwo(fits), kMostRowTile);
    f.kTile = inGroups ? 0 : 16;
    bool splits = inGroups && fits < 2;
    if (splits) { // few registers: one of a panel's at a time, for as many rows as then fit
      f.across = description.vectorLanes;
      f.rowTile = (description.vectorRegisters - 4) / 2;
    }
    bool manyRows = graph::graphNameOf(region) == "prefill" && lineOf(region->getResult(0).getType()) == Line::Row;
    if ((manyRows && nibbles) || splits)
      f.kTile = (splits ? kUnpackedColumns / 2 : kUnpackedColumns) / projections;
    // A panel's weights serve many rows: arithmetic, and single panels are what threads can share out evenly.
    if (!manyRows) {
      f.panels = std::min(floorOfTwo(fits), int64_t(level.streams));
      f.chunk = chunkOf(panelBytes * f.panels);
    }
    reason = llvm::formatv("{0} rows share a loaded weight, one row reads {1} panels at a time", f.rowTile, f.panels).str();
  }

  /// One row streams its keys past the query heads that share them. Many rows of a sequence take turns at a chunk of keys: as many
  /// as fit into the scratch.
  void attention(FusedOp region, Fields &f, std::string &reason) const {
    AttentionOp attention = graph::findIn<AttentionOp>(region);
    KVCacheType cache = attention.getView().getType().getCache();
    f.lanes = f.kvChunk = int64_t(cache.getChunk());
    f.kSplit = int64_t(attention.getParts());
    int64_t heads = int64_t(attention.getHeads() / cache.getHeads());
    if (graph::graphNameOf(region) == "decode") {
      reason = llvm::formatv("one row: {0} query heads share keys", heads).str();
      return;
    }
    int64_t turnedKeys = f.kvChunk * int64_t(cache.getKey()), padding = 6,
            ofQuery = int64_t(cache.getKey() + 2 * cache.getValue()) + f.kvChunk + 8;
    f.rowTile = kMostBlockRows;
    while (f.rowTile > 1 && 4 * (turnedKeys + ofQuery * (f.rowTile * heads + padding)) > kBlockBytes)
      f.rowTile /= 2;
    f.chunk = f.rowTile * int64_t(cache.getHeads());
    reason = llvm::formatv("{0} rows of a sequence share a chunk of keys, with {1} query heads each", f.rowTile, heads).str();
  }

  static int64_t floorOfTwo(int64_t count) { return int64_t(llvm::bit_floor(uint64_t(count))); }

  cpu::CpuLevel level;
  TargetFacts description;
};

} // namespace

std::unique_ptr<Target> llmc::createCpuTarget(StringRef level, std::string &error) {
  std::optional<cpu::CpuLevel> parsed = cpu::parseCpuLevel(level, error);
  return parsed ? std::make_unique<CpuTarget>(*parsed) : nullptr;
}
