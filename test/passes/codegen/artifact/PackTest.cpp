// SPDX-License-Identifier: Apache-2.0
// Packing: nothing is lost, panels cross the borders of stacked sources, memory stays bounded,
// hashes are XXH64.
#include "passes/codegen/artifact/Pack.h"
#include "passes/codegen/artifact/Panels.h"
#include "passes/codegen/artifact/Xxh64.h"
#include "test/passes/codegen/artifact/ToyModel.h"

#include "llvm/Support/xxhash.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace llmc::artifact;
using namespace llmc::artifact::test;

namespace {

class MemorySink : public ByteSink {
public:
  llmc::Status write(const void *data, size_t size) override {
    bytes.append(static_cast<const char *>(data), size);
    largest = std::max(largest, size);
    return {};
  }
  const float *floats(uint64_t offset) const {
    return reinterpret_cast<const float *>(bytes.data() + offset);
  }
  std::string bytes;
  size_t largest = 0;
};

// Places a weight behind the others.
void place(Tables &tables, uint64_t rows, uint64_t columns, uint64_t panelRows,
           std::vector<std::string> sources) {
  PackedWeight weight;
  weight.name = sources.front();
  weight.rows = rows;
  weight.columns = columns;
  weight.panelRows = panelRows;
  weight.sources = std::move(sources);
  const uint64_t panel = std::max<uint64_t>(1, panelRows);
  weight.offset = (tables.weightsBytes + 63) / 64 * 64;
  weight.bytes = (rows + panel - 1) / panel * panel * columns * sizeof(float);
  tables.weightsBytes = weight.offset + weight.bytes;
  tables.weights.push_back(std::move(weight));
}

PackReport pack(const Tables &tables, const ToyWeights &source, MemorySink &sink) {
  llmc::Result<PackReport> report = packWeights(tables, source, sink, {});
  EXPECT_TRUE(report.ok()) << (report ? "" : report.error().str());
  return report ? *report : PackReport{};
}

TEST(Pack, UnpackGivesTheSameBits) {
  for (int64_t rows : {1, 3, 32, 33, 65})
    for (int64_t columns : {1, 5, 16, 17, 40})
      for (uint64_t panelRows : {0, 1, 4, 7, 32}) {
        ToyWeights source;
        source.add("w", {rows, columns});
        Tables tables;
        place(tables, uint64_t(rows), uint64_t(columns), panelRows, {"w"});
        MemorySink sink;
        pack(tables, source, sink);
        ASSERT_EQ(sink.bytes.size(), tables.weightsBytes);
        std::vector<float> rowsBack(size_t(rows * columns)), direct(size_t(rows * columns));
        unpackFloats(sink.bytes.data(), uint64_t(rows), uint64_t(columns), {}, panelRows,
                     rowsBack.data());
        ASSERT_TRUE(source.readRows("w", 0, rows, direct.data()).ok());
        EXPECT_EQ(rowsBack, direct) << rows << " x " << columns << " in panels of " << panelRows;
      }
}

TEST(Pack, PanelsFollowTheLayoutAndEndInZeros) {
  ToyWeights source;
  source.add("w", {6, 3});
  Tables tables;
  place(tables, 6, 3, 4, {"w"});
  MemorySink sink;
  pack(tables, source, sink);
  for (int64_t n = 0; n < 8; ++n)
    for (int64_t k = 0; k < 3; ++k)
      EXPECT_EQ(sink.floats(0)[((n / 4) * 3 + k) * 4 + n % 4],
                n < 6 ? source.value("w", n, k) : 0.0f)
          << n << ", " << k;
}

TEST(Pack, SourcesStackByRowsAcrossPanels) {
  ToyWeights source;
  source.add("q", {5, 3});
  source.add("k", {2, 3});
  source.add("v", {4, 3});
  Tables tables;
  place(tables, 11, 3, 4, {"q", "k", "v"});
  MemorySink sink;
  PackReport report = pack(tables, source, sink);
  std::vector<float> rows(33);
  unpackFloats(sink.bytes.data(), 11, 3, {}, 4, rows.data());
  EXPECT_EQ(rows[4 * 3 + 1], source.value("q", 4, 1));
  EXPECT_EQ(rows[5 * 3 + 1], source.value("k", 0, 1));
  EXPECT_EQ(rows[6 * 3 + 2], source.value("k", 1, 2));
  EXPECT_EQ(rows[7 * 3 + 0], source.value("v", 0, 0));
  std::vector<float> v(12);
  ASSERT_TRUE(source.readRows("v", 0, 4, v.data()).ok());
  EXPECT_EQ(report.sources["v"],
            llvm::xxHash64(llvm::StringRef(reinterpret_cast<char *>(v.data()), 48)));
}

TEST(Pack, VectorsJoinIntoOneRow) {
  ToyWeights source;
  source.add("bias.q", {5});
  source.add("bias.k", {3});
  Tables tables;
  place(tables, 1, 8, 0, {"bias.q", "bias.k"});
  MemorySink sink;
  pack(tables, source, sink);
  EXPECT_EQ(sink.floats(0)[4], source.value("bias.q", 0, 4));
  EXPECT_EQ(sink.floats(0)[5], source.value("bias.k", 0, 0));
}

TEST(Pack, GapsAreZerosAndHashesAreXxh64) {
  ToyWeights source;
  source.add("a", {3, 3});
  source.add("b", {2, 5});
  Tables tables;
  place(tables, 3, 3, 0, {"a"});
  place(tables, 2, 5, 0, {"b"});
  MemorySink sink;
  PackReport report = pack(tables, source, sink);
  EXPECT_EQ(sink.bytes.substr(36, 28), std::string(28, '\0'));
  EXPECT_EQ(report.hashes.all, llvm::xxHash64(sink.bytes));
  EXPECT_EQ(report.hashes.weights[0], llvm::xxHash64(llvm::StringRef(sink.bytes).take_front(36)));
  EXPECT_EQ(report.hashes.weights[1], llvm::xxHash64(llvm::StringRef(sink.bytes).drop_front(64)));
}

TEST(Pack, MemoryIsBoundedByABlock) {
  ToyWeights source;
  source.add("large", {4099, 1031}); // 16 MiB
  Tables tables;
  place(tables, 4099, 1031, 32, {"large"});
  MemorySink sink;
  PackReport report = pack(tables, source, sink);
  EXPECT_EQ(sink.bytes.size(), tables.weightsBytes);
  EXPECT_LE(sink.largest, size_t(1) << 20);
  // Hashes are of the whole weight, in however many blocks it came.
  std::vector<float> values(size_t(4099) * 1031);
  ASSERT_TRUE(source.readRows("large", 0, 4099, values.data()).ok());
  EXPECT_EQ(report.sources["large"],
            llvm::xxHash64(llvm::StringRef(reinterpret_cast<char *>(values.data()),
                                           values.size() * sizeof(float))));
  EXPECT_EQ(report.hashes.weights[0], llvm::xxHash64(sink.bytes));
}

TEST(Pack, RopeRowsHoldCosinesThenSines) {
  RopeTable table{{1.0f, 0.3f, 1e-4f}, 1.5f};
  float row[6];
  ropeRow(table, 1000, row);
  for (int i = 0; i < 3; ++i) {
    const double angle = double(1000.0f * table.frequencies[size_t(i)]);
    EXPECT_EQ(row[i], 1.5f * float(std::cos(angle))) << i;
    EXPECT_EQ(row[3 + i], 1.5f * float(std::sin(angle))) << i;
  }
}

TEST(Xxh64, EqualsLLVMHoweverTheBytesCome) {
  std::string bytes;
  for (int i = 0; i < 300; ++i)
    bytes += char(i * 131 + i / 7);
  for (size_t size : {0, 1, 3, 4, 7, 8, 31, 32, 33, 63, 64, 100, 299})
    for (size_t step : {1, 5, 32, 40, 300}) {
      Xxh64 hash;
      for (size_t at = 0; at < size; at += step)
        hash.add(bytes.data() + at, std::min(step, size - at));
      EXPECT_EQ(hash.value(), llvm::xxHash64(llvm::StringRef(bytes).take_front(size)))
          << size << " by " << step;
    }
}

struct BadSource {
  const char *what;
  uint64_t rows, columns;
  std::vector<std::string> sources;
  const char *message;
};

TEST(Pack, RefusesSourcesThatDoNotFitBeforeWriting) {
  const BadSource cases[] = {
      {"missing", 2, 3, {"absent"}, "found no tensor 'absent'"},
      {"too few rows", 5, 3, {"w"}, "found 4 rows in all its sources, expected 5"},
      {"other columns", 4, 5, {"w"}, "toy: w: w: error: found shape 4 x 3, expected 5 columns"},
      {"matrix among vectors", 1, 7, {"v", "w"}, "found shape 4 x 3, expected 1 row"},
      {"vectors too short", 1, 9, {"v", "v"}, "found 8 columns in all its sources, expected 9"},
  };
  for (const BadSource &bad : cases) {
    ToyWeights source;
    source.add("w", {4, 3});
    source.add("v", {4});
    Tables tables;
    place(tables, bad.rows, bad.columns, 0, bad.sources);
    MemorySink sink;
    llmc::Result<PackReport> report = packWeights(tables, source, sink, {});
    ASSERT_FALSE(report.ok()) << bad.what;
    EXPECT_NE(report.error().message.find(bad.message), std::string::npos)
        << bad.what << ": " << report.error().message;
    EXPECT_TRUE(sink.bytes.empty()) << bad.what;
  }
}

} // namespace
