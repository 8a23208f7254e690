// SPDX-License-Identifier: Apache-2.0
// Threads read and pack blocks of whole panels; hashing and writing go in the order of the file.
#include "passes/codegen/artifact/Pack.h"
#include "passes/codegen/artifact/PackBlock.h"
#include "passes/codegen/artifact/Panels.h"
#include "passes/codegen/artifact/Pipeline.h"
#include "passes/codegen/artifact/Xxh64.h"

#include <algorithm>
#include <atomic>
#include <cmath>

namespace llmc::artifact {
namespace {

// Enough for a disk to stream, and little enough for a core's cache; a single row or panel may be
// larger. Errors of rounding are summed by blocks: another size changes the sums' last bits.
constexpr uint64_t kBlockElements = 1u << 18;
// Hashing and writing, which go in order, keep no more than these busy.
constexpr unsigned kMostProcessors = 8;

std::string shapeText(uint64_t rows, uint64_t columns) {
  return std::to_string(rows) + " x " + std::to_string(columns);
}

Status checkWeight(const PackedWeight &weight, const model::WeightSource &source) {
  const bool vectors = joinsVectors(weight);
  uint64_t sum = 0;
  for (const std::string &name : weight.sources) {
    const model::TensorInfo *info = source.find(name);
    if (!info)
      return errorAt("weights", escaped(weight.name),
                     "found no tensor '" + escaped(name) +
                         "', expected one of the model's weights");
    const uint64_t rows = uint64_t(info->rows()), columns = uint64_t(info->columns());
    if (vectors ? rows != 1 : columns != weight.columns)
      return errorAt(info->place, escaped(weight.name),
                     "found shape " + shapeText(rows, columns) + ", expected " +
                         (vectors ? "1 row" : std::to_string(weight.columns) + " columns"));
    sum += vectors ? columns : rows;
  }
  const uint64_t expected = vectors ? weight.columns : weight.rows;
  if (sum != expected)
    return errorAt("weights", escaped(weight.name),
                   "found " + std::to_string(sum) + (vectors ? " columns" : " rows") +
                       " in all its sources, expected " + std::to_string(expected));
  return {};
}

// The hash of each source, row by row, from parts in order.
class SourceHashes {
public:
  explicit SourceHashes(PackReport &report) : report(report) {}

  void add(const PackedWeight &weight, PackBlock &block) {
    for (const BlockPart &part : block.parts()) {
      if (weight.format.groups)
        addGroups(block.groupsOf(part), part.count);
      else
        values.add(block.valuesOf(part), part.count * sizeof(float));
      if (part.hasLoss) {
        model::RoundingLoss &loss = report.losses[*part.source];
        loss.squaredError += part.loss.squaredError;
        loss.squares += part.loss.squares;
      }
      if (part.isLast)
        finish(*part.source, weight.format.groups.has_value());
    }
  }

private:
  void addGroups(model::GroupRows rows, uint64_t count) {
    const uint64_t halves = count / model::groupSize * sizeof(uint16_t);
    values.add(rows.codes, count);
    scales.add(rows.scales, halves);
    if (rows.minimums)
      minimums.add(rows.minimums, halves);
  }

  void finish(const std::string &source, bool hasGroups) {
    if (hasGroups)
      for (const Xxh64 *part : {&scales, &minimums}) {
        const uint64_t value = part->value();
        values.add(&value, sizeof value);
      }
    report.sources[source] = values.value();
    values = scales = minimums = Xxh64();
  }

  PackReport &report;
  Xxh64 values, scales, minimums; // values: of groups, the codes
};

class Packer {
public:
  Packer(const Tables &tables, const model::WeightSource &source, ByteSink &sink,
         const Progress &progress)
      : tables(tables), source(source), sink(sink), progress(progress), sourceHashes(report) {}

  Result<PackReport> run(unsigned threads) {
    // Two hashing steps, so that two threads can hash at once.
    Pipeline<Piece> pipeline([this](Piece &piece) { return take(piece); },
                             [this](Piece &piece) { make(piece); },
                             {[this](Piece &piece) { hashSources(piece); },
                              [this](Piece &piece) { hashPacked(piece); },
                              [this](Piece &piece) { write(piece); }});
    pipeline.run(threads, 2 * threads);
    if (failed != kNone)
      return std::move(error);
    report.hashes.all = all.value();
    return std::move(report);
  }

private:
  static constexpr uint64_t kNone = ~uint64_t(0);

  struct Piece {
    uint64_t index = 0; // from 0 on
    const PackedWeight *weight = nullptr;
    uint64_t row = 0, numRows = 0;
    uint64_t gap = 0; // bytes of zeros before it
    PackBlock block;
    bool isFirst() const { return row == 0; }
    bool isLast() const { return row + numRows == weight->rows; }
  };

  // The next piece in the order of the file.
  bool take(Piece &piece) {
    for (; weight < tables.weights.size() && row >= tables.weights[weight].rows; row = 0)
      ++weight;
    if (weight == tables.weights.size() || failed != kNone)
      return false;
    const PackedWeight &from = tables.weights[weight];
    piece.index = pieces++;
    piece.weight = &from;
    piece.row = row;
    piece.numRows = std::min(rowsOfBlock(from), from.rows - row);
    piece.gap = piece.isFirst() ? from.offset - planned : 0;
    planned += piece.gap + packedBytes(from.format, piece.numRows, from.columns, from.panelRows);
    row += piece.numRows;
    return true;
  }

  static uint64_t rowsOfBlock(const PackedWeight &weight) {
    const uint64_t panel = std::max<uint64_t>(weight.panelRows, 1);
    return panel * std::max<uint64_t>(1, kBlockElements / (panel * weight.columns));
  }

  // Pieces before one that failed go on, and only they: the error is the first in the file's order,
  // and what is written does not depend on the threads.
  bool goesOn(const Piece &piece) const { return piece.index < failed; }
  void fail(const Piece &piece, Error &&found) {
    std::lock_guard<std::mutex> lock(failing);
    if (!goesOn(piece))
      return;
    failed = piece.index;
    error = std::move(found);
  }

  void make(Piece &piece) {
    if (Status status = piece.block.make(*piece.weight, source, piece.row, piece.numRows); !status)
      fail(piece, status.takeError());
  }

  void hashSources(Piece &piece) {
    if (goesOn(piece))
      sourceHashes.add(*piece.weight, piece.block);
  }

  void hashPacked(Piece &piece) {
    if (!goesOn(piece))
      return;
    const std::vector<uint8_t> &packed = piece.block.packed();
    if (piece.isFirst())
      one = Xxh64();
    one.add(packed.data(), packed.size());
    if (piece.isLast())
      report.hashes.weights.push_back(one.value());
    zeros(piece.gap, [&](const char *data, size_t size) { all.add(data, size); });
    all.add(packed.data(), packed.size());
  }

  void write(Piece &piece) {
    if (!goesOn(piece))
      return;
    Status status;
    zeros(piece.gap, [&](const char *data, size_t size) {
      if (status)
        status = put(data, size);
    });
    if (status)
      status = put(piece.block.packed().data(), piece.block.packed().size());
    if (!status)
      fail(piece, status.takeError());
  }

  // The gap before a weight; small in a sane plan, but taken in parts whatever it is.
  template <typename Take> static void zeros(uint64_t bytes, Take take) {
    static constexpr char kZeros[4096] = {};
    for (uint64_t part; bytes; bytes -= part) {
      part = std::min<uint64_t>(bytes, sizeof kZeros);
      take(kZeros, part);
    }
  }

  Status put(const void *data, size_t size) {
    if (Status status = sink.write(data, size); !status)
      return status;
    done += size;
    if (progress)
      progress(done, tables.weightsBytes);
    return {};
  }

  const Tables &tables;
  const model::WeightSource &source;
  ByteSink &sink;
  const Progress &progress;
  PackReport report;

  size_t weight = 0; // of take()
  uint64_t row = 0, pieces = 0, planned = 0;

  std::mutex failing;
  Error error;
  std::atomic<uint64_t> failed{kNone}; // index of the piece

  SourceHashes sourceHashes;
  Xxh64 one, all;
  uint64_t done = 0;
};

// One for each processor, and a second one always, so that reading and writing overlap; a small
// model needs no other.
unsigned threadsFor(const Tables &tables) {
  const uint64_t processors = std::clamp(usableProcessors(), 2u, kMostProcessors);
  return unsigned(std::min<uint64_t>(processors, 1 + tables.weightsBytes / kBlockElements));
}

} // namespace

PackReport emptyReport(const Tables &tables, const model::WeightSource &source) {
  PackReport report;
  report.hashes.weights.resize(tables.weights.size());
  for (const PackedWeight &weight : tables.weights)
    for (const std::string &name : weight.sources) {
      report.sources[name] = 0;
      if (losesIn(weight, source.find(name)))
        report.losses[name] = {};
    }
  return report;
}

Status checkSources(const Tables &tables, const model::WeightSource &source) {
  for (const PackedWeight &weight : tables.weights)
    if (!weight.computed)
      if (Status status = checkWeight(weight, source); !status)
        return status;
  return {};
}

Result<PackReport> packWeights(const Tables &tables, const model::WeightSource &source,
                               ByteSink &sink, const Progress &progress, unsigned threads) {
  if (Status status = checkSources(tables, source); !status)
    return status.takeError();
  return Packer(tables, source, sink, progress).run(threads ? threads : threadsFor(tables));
}

void ropeRow(const RopeTable &table, uint64_t position, float *out) {
  const size_t half = table.frequencies.size();
  for (size_t i = 0; i < half; ++i) {
    const float angle = static_cast<float>(position) * table.frequencies[i];
    out[i] = table.magnitude * static_cast<float>(std::cos(static_cast<double>(angle)));
    out[half + i] = table.magnitude * static_cast<float>(std::sin(static_cast<double>(angle)));
  }
}

} // namespace llmc::artifact
