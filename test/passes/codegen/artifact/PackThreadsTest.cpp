// SPDX-License-Identifier: Apache-2.0
// Threads change nothing: the same bytes, hashes, losses and errors with any number of them, however
// long each read takes.
#include "passes/codegen/artifact/Pack.h"
#include "passes/codegen/artifact/Panels.h"
#include "passes/codegen/artifact/Pipeline.h"

#include <atomic>
#include <chrono>
#include <cmath>
#include <gtest/gtest.h>
#include <thread>

using namespace llmc;
using namespace llmc::artifact;
using model::ElementType;
using model::Format;
using model::GroupFormat;

namespace {

// Sooner or later, and not in the order of the calls.
void dawdle(uint64_t seed) {
  std::this_thread::sleep_for(std::chrono::microseconds(seed * 2654435761u % 700));
}

TEST(Pipeline, StepsSeePiecesInOrderAndOneAtATime) {
  for (unsigned threads : {1, 2, 5})
    for (unsigned pieces : {1, 3, 12}) {
      uint64_t planned = 0;
      std::vector<uint64_t> seen[2];
      std::atomic<int> inside[2] = {{0}, {0}};
      auto step = [&](int which) {
        return [&, which](uint64_t &piece) {
          EXPECT_EQ(inside[which]++, 0);
          dawdle(piece + uint64_t(which));
          seen[which].push_back(piece);
          --inside[which];
        };
      };
      Pipeline<uint64_t> pipeline(
          [&](uint64_t &piece) {
            piece = planned++;
            return piece < 40;
          },
          [](uint64_t &piece) { dawdle(piece); }, {step(0), step(1)});
      pipeline.run(threads, pieces);
      for (const auto &order : seen) {
        ASSERT_EQ(order.size(), 40u) << threads << " threads, " << pieces << " pieces";
        for (uint64_t i = 0; i < order.size(); ++i)
          EXPECT_EQ(order[i], i);
      }
    }
}

// Values that depend on name and index; a few of them may be no numbers.
class SlowWeights : public model::WeightSource {
public:
  void add(const std::string &name, int64_t rows, int64_t columns) {
    tensors.push_back({name, {rows, columns}, ElementType::F32, "slow: " + name});
  }
  const model::TensorInfo *find(std::string_view name) const override {
    for (const model::TensorInfo &info : tensors)
      if (info.name == name)
        return &info;
    return nullptr;
  }
  Status readRows(std::string_view name, int64_t first, int64_t count, float *out) const override {
    dawdle(uint64_t(first + name[0]));
    const int64_t columns = find(name)->columns();
    for (int64_t row = first; row < first + count; ++row)
      for (int64_t k = 0; k < columns; ++k)
        *out++ = std::find(bad.begin(), bad.end(), row) != bad.end() && k == 3
                     ? NAN
                     : float((row * 7 + k * 13 + name[0]) % 101 - 50) / 37;
    return {};
  }
  std::vector<int64_t> bad; // rows

private:
  std::vector<model::TensorInfo> tensors;
};

class Sink : public ByteSink {
public:
  Status write(const void *data, size_t size) override {
    if (bytes.size() + size > room)
      return errorAt("sink", "", "is full");
    bytes.append(static_cast<const char *>(data), size);
    return {};
  }
  std::string bytes;
  size_t room = ~size_t(0);
};

void place(Tables &tables, uint64_t rows, uint64_t columns, Format format, uint64_t panelRows,
           std::vector<std::string> sources) {
  PackedWeight weight;
  weight.name = sources.empty() ? "rope" : sources.front();
  weight.rows = rows;
  weight.columns = columns;
  weight.format = format;
  weight.panelRows = panelRows;
  if (sources.empty())
    weight.computed = RopeTable{std::vector<float>(columns / 2, 0.3f), 1.0f};
  weight.sources = std::move(sources);
  weight.offset = (tables.weightsBytes + 63) / 64 * 64;
  weight.bytes = packedBytes(format, rows, columns, panelRows);
  tables.weightsBytes = weight.offset + weight.bytes;
  tables.weights.push_back(std::move(weight));
}

// Weights of several blocks, stacked and computed ones, each format, and gaps between them.
Tables manyBlocks(SlowWeights &source) {
  source.add("a", 700, 1024);
  source.add("b", 333, 1024);
  source.add("c", 5, 7);
  source.add("d", 900, 1024);
  Tables tables;
  place(tables, 1033, 1024, {ElementType::F32, GroupFormat{4, true}}, 32, {"a", "b"});
  place(tables, 5, 7, {}, 0, {"c"});
  place(tables, 3000, 64, {}, 0, {});
  place(tables, 900, 1024, {ElementType::BF16, {}}, 32, {"d"});
  return tables;
}

TEST(PackThreads, AnyNumberGivesTheSame) {
  SlowWeights source;
  const Tables tables = manyBlocks(source);
  Sink alone;
  Result<PackReport> expected = packWeights(tables, source, alone, {}, 1);
  ASSERT_TRUE(expected.ok());
  EXPECT_EQ(alone.bytes.size(), tables.weightsBytes);
  EXPECT_EQ(expected->losses.size(), 4u - 1); // all but "c", which stays f32
  for (unsigned threads : {2, 3, 8}) {
    Sink sink;
    uint64_t last = 0;
    const Progress progress = [&](uint64_t done, uint64_t total) {
      EXPECT_GT(done, last);
      EXPECT_EQ(total, tables.weightsBytes);
      last = done;
    };
    Result<PackReport> report = packWeights(tables, source, sink, progress, threads);
    ASSERT_TRUE(report.ok());
    EXPECT_EQ(last, tables.weightsBytes);
    EXPECT_TRUE(sink.bytes == alone.bytes) << threads;
    EXPECT_EQ(report->hashes.all, expected->hashes.all);
    EXPECT_EQ(report->hashes.weights, expected->hashes.weights);
    EXPECT_EQ(report->sources, expected->sources);
    for (const auto &[name, loss] : expected->losses) {
      EXPECT_EQ(report->losses[name].squaredError, loss.squaredError) << name;
      EXPECT_EQ(report->losses[name].squares, loss.squares) << name;
    }
  }
}

TEST(PackThreads, TheFirstErrorInTheFileIsTheOneTold) {
  for (unsigned threads : {1, 2, 8}) {
    SlowWeights source;
    const Tables tables = manyBlocks(source);
    source.bad = {310, 611}; // of the first weight, in its second and third block
    Sink sink;
    Result<PackReport> report = packWeights(tables, source, sink, {}, threads);
    ASSERT_FALSE(report.ok());
    EXPECT_NE(report.error().message.find("slow: a: row 310: error: found NaN"), std::string::npos)
        << report.error().message;
    EXPECT_EQ(sink.bytes.size(),
              packedBytes(tables.weights[0].format, 256, 1024, 32)) // the block before
        << threads;
  }
}

TEST(PackThreads, AFullSinkComesBeforeABadValueBehindIt) {
  for (unsigned threads : {1, 2, 8}) {
    SlowWeights source;
    const Tables tables = manyBlocks(source);
    source.bad = {611};
    Sink sink;
    sink.room = packedBytes(tables.weights[0].format, 300, 1024, 32); // ends in the second block
    Result<PackReport> report = packWeights(tables, source, sink, {}, threads);
    ASSERT_FALSE(report.ok());
    EXPECT_EQ(report.error().str(), "sink: error: is full") << threads;
  }
}

} // namespace
