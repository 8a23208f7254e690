// SPDX-License-Identifier: Apache-2.0
// Rows come in blocks of whole panels, cross the borders between stacked sources, and leave packed.
#include "passes/codegen/artifact/Pack.h"
#include "passes/codegen/artifact/Panels.h"
#include "passes/codegen/artifact/Xxh64.h"

#include <algorithm>
#include <cmath>

namespace llmc::artifact {
namespace {

// Enough for a disk to stream; a single row or panel may be larger.
constexpr uint64_t kBlockBytes = 1u << 20;

std::string shapeText(uint64_t rows, uint64_t columns) {
  return std::to_string(rows) + " x " + std::to_string(columns);
}

// Vectors joined into one longer vector: each source is one row and their columns add up.
bool joinsVectors(const PackedWeight &weight) {
  return weight.rows == 1 && weight.sources.size() > 1;
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

// Some rows of a weight: values, or groups.
struct Rows {
  std::vector<float> values;
  std::vector<uint8_t> codes;
  std::vector<uint16_t> scales, minimums;

  void resize(const PackedWeight &weight, uint64_t numRows) {
    const uint64_t count = numRows * weight.columns;
    if (!weight.format.groups)
      return values.resize(count);
    codes.resize(count);
    scales.resize(count / model::groupSize);
    minimums.resize(weight.format.groups->hasMinimum ? scales.size() : 0);
  }
  model::GroupRows groupsFrom(uint64_t element) {
    const uint64_t group = element / model::groupSize;
    return {codes.data() + element, scales.data() + group,
            minimums.empty() ? nullptr : minimums.data() + group};
  }
};

// Whether a tensor is packed in another format than it is stored in, and f32 does not hold it all.
bool losesIn(const PackedWeight &weight, const model::TensorInfo *stored) {
  return stored && !(weight.format == model::Format()) &&
         !(model::formatOf(stored->elementType) == weight.format);
}

// The rows of one weight, in order, whatever they are stacked from or computed by.
class RowReader {
public:
  RowReader(const PackedWeight &weight, const model::WeightSource &source, PackReport &report)
      : weight(weight), source(source), report(report) {}

  Status read(uint64_t numRows, Rows &rows) {
    rows.resize(weight, numRows);
    if (weight.computed)
      return compute(numRows, rows.values.data());
    if (joinsVectors(weight))
      return readVectors(rows.values.data());
    for (uint64_t done = 0; done < numRows;) {
      const uint64_t available = rowsOf(current) - next;
      const uint64_t taken = std::min(available, numRows - done);
      if (Status status = readPart(taken, rows, done * weight.columns); !status)
        return status;
      done += taken;
      next += taken;
      if (taken == available)
        finishSource();
    }
    return {};
  }

private:
  uint64_t rowsOf(size_t index) const {
    return uint64_t(source.find(weight.sources[index])->rows());
  }

  Status compute(uint64_t numRows, float *out) {
    for (uint64_t row = 0; row < numRows; ++row, ++next)
      ropeRow(*weight.computed, next, out + row * weight.columns);
    return {};
  }

  Status readVectors(float *out) {
    for (const std::string &name : weight.sources) {
      const uint64_t columns = uint64_t(source.find(name)->columns());
      if (Status status = source.readRows(name, 0, 1, out); !status)
        return status;
      hash.add(out, columns * sizeof(float));
      out += columns;
      finishSource();
    }
    return {};
  }

  // Rows of the current source, from element `first` of `rows` on.
  Status readPart(uint64_t count, Rows &rows, uint64_t first) {
    const std::string &name = weight.sources[current];
    model::RoundingLoss *loss =
        losesIn(weight, source.find(name)) ? &report.losses[name] : nullptr;
    const uint64_t elements = count * weight.columns;
    if (!weight.format.groups) {
      float *out = rows.values.data() + first;
      Status status = model::readRowsAs(source, name, weight.format, int64_t(next), int64_t(count),
                                        out, loss);
      if (status)
        hash.add(out, elements * sizeof(float));
      return status;
    }
    model::GroupRows out = rows.groupsFrom(first);
    Status status = model::readGroupsAs(source, name, *weight.format.groups, int64_t(next),
                                        int64_t(count), out, loss);
    if (!status)
      return status;
    const uint64_t halves = elements / model::groupSize * sizeof(uint16_t);
    hash.add(out.codes, elements);
    scales.add(out.scales, halves);
    if (out.minimums)
      minimums.add(out.minimums, halves);
    return {};
  }

  void finishSource() {
    if (weight.format.groups)
      for (Xxh64 *part : {&scales, &minimums}) {
        const uint64_t value = part->value();
        hash.add(&value, sizeof value);
        *part = Xxh64();
      }
    report.sources[weight.sources[current]] = hash.value();
    hash = Xxh64();
    ++current;
    next = 0;
  }

  const PackedWeight &weight;
  const model::WeightSource &source;
  PackReport &report;
  size_t current = 0;
  uint64_t next = 0;
  Xxh64 hash, scales, minimums;
};

class Packer {
public:
  Packer(const Tables &tables, const model::WeightSource &source, ByteSink &sink,
         const Progress &progress)
      : tables(tables), source(source), sink(sink), progress(progress) {}

  Result<PackReport> run() {
    for (const PackedWeight &weight : tables.weights)
      if (Status status = packWeight(weight); !status)
        return status.takeError();
    report.hashes.all = all.value();
    return std::move(report);
  }

private:
  Status packWeight(const PackedWeight &weight) {
    if (Status status = fill(weight.offset - done); !status)
      return status;
    one = Xxh64();
    RowReader reader(weight, source, report);
    const uint64_t panel = std::max<uint64_t>(weight.panelRows, 1);
    const uint64_t panels =
        std::max<uint64_t>(1, kBlockBytes / (panel * weight.columns * sizeof(float)));
    const uint64_t blockRows = panels * panel;
    for (uint64_t row = 0; row < weight.rows; row += blockRows)
      if (Status status = packBlock(weight, reader, std::min(blockRows, weight.rows - row));
          !status)
        return status;
    report.hashes.weights.push_back(one.value());
    return {};
  }

  Status packBlock(const PackedWeight &weight, RowReader &reader, uint64_t numRows) {
    if (Status status = reader.read(numRows, rows); !status)
      return status;
    packed.resize(packedBytes(weight.format, numRows, weight.columns, weight.panelRows));
    if (weight.format.groups)
      packGroups(rows.groupsFrom(0), numRows, weight.columns, *weight.format.groups,
                 weight.panelRows, packed.data());
    else
      packFloats(rows.values.data(), numRows, weight.columns, weight.format, weight.panelRows,
                 packed.data());
    return put(packed.data(), packed.size());
  }

  // The gap before a weight; small in a sane plan, but written in pieces whatever it is.
  Status fill(uint64_t bytes) {
    static constexpr char kZeros[4096] = {};
    for (uint64_t piece; bytes; bytes -= piece) {
      piece = std::min<uint64_t>(bytes, sizeof kZeros);
      if (Status status = put(kZeros, piece); !status)
        return status;
    }
    return {};
  }

  Status put(const void *data, size_t size) {
    one.add(data, size);
    all.add(data, size);
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
  Xxh64 one;
  Xxh64 all;
  uint64_t done = 0;
  Rows rows;
  std::vector<uint8_t> packed;
};

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
                               ByteSink &sink, const Progress &progress) {
  if (Status status = checkSources(tables, source); !status)
    return status.takeError();
  return Packer(tables, source, sink, progress).run();
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
