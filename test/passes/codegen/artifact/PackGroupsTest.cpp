// SPDX-License-Identifier: Apache-2.0
// Packing of groups and of 16-bit floats: unpack(pack(x)) is x to the bit, blocks lie as the layout
// says, what another format costs is told, and memory stays bounded.
#include "passes/codegen/artifact/Pack.h"
#include "passes/codegen/artifact/Panels.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <map>

using namespace llmc;
using namespace llmc::artifact;
using model::ElementType;
using model::Format;
using model::GroupFormat;
using model::GroupRows;

namespace {

constexpr uint64_t kGroup = model::groupSize;

uint64_t mixed(uint64_t word) {
  word = (word ^ word >> 29) * 0x9e3779b97f4a7c15u;
  return word ^ word >> 32;
}

// Groups in memory, whoever they belong to.
struct Groups {
  Groups(uint64_t rows, uint64_t columns)
      : columns(columns), codes(rows * columns), scales(rows * columns / kGroup),
        minimums(scales.size()) {}
  GroupRows from(uint64_t row, GroupFormat format) {
    const uint64_t group = row * columns / kGroup;
    return {codes.data() + row * columns, scales.data() + group,
            format.hasMinimum ? minimums.data() + group : nullptr};
  }
  uint64_t columns;
  std::vector<uint8_t> codes;
  std::vector<uint16_t> scales, minimums;
};

// Any codes, any finite scales and minimums: subnormal ones, zeros of both signs and negative ones.
Groups someGroups(uint64_t rows, uint64_t columns, GroupFormat format, uint64_t seed) {
  Groups groups(rows, columns);
  const uint8_t most = uint8_t((1 << format.bits) - 1);
  for (uint64_t i = 0; i < groups.codes.size(); ++i)
    groups.codes[i] = uint8_t(mixed(seed + i) & most);
  auto finite = [](uint64_t word) {
    const uint16_t half = uint16_t(word);
    return (half & 0x7C00) == 0x7C00 ? uint16_t(half & 0x83FF) : half;
  };
  for (uint64_t i = 0; i < groups.scales.size(); ++i) {
    groups.scales[i] = finite(mixed(seed + 1000003 + i));
    groups.minimums[i] = format.hasMinimum ? finite(mixed(seed + 2000003 + i)) : 0;
  }
  return groups;
}

// Tensors of every stored type.
class StoredWeights : public model::WeightSource {
public:
  void add(const std::string &name, int64_t rows, int64_t columns, ElementType type) {
    auto groups = model::groupFormat(type);
    Tensor tensor = {{name, {rows, columns}, type, "stored: " + name}, {}, {}};
    if (groups)
      tensor.groups.push_back(someGroups(uint64_t(rows), uint64_t(columns), *groups, name[0]));
    else
      for (int64_t i = 0; i < rows * columns; ++i)
        tensor.values.push_back(float(int32_t(mixed(uint64_t(i) + uint64_t(name[0])))) /
                                2147483648.0f);
    if (type == ElementType::F16 || type == ElementType::BF16)
      for (float &value : tensor.values)
        value = type == ElementType::F16 ? model::fromHalf(model::toHalf(value))
                                         : model::fromBFloat16(model::toBFloat16(value));
    tensors.emplace(name, std::move(tensor));
  }
  const model::TensorInfo *find(std::string_view name) const override {
    auto found = tensors.find(std::string(name));
    return found == tensors.end() ? nullptr : &found->second.info;
  }
  Status readRows(std::string_view name, int64_t first, int64_t count, float *out) const override {
    const Tensor &tensor = tensors.at(std::string(name));
    const int64_t columns = tensor.info.columns();
    if (Status status = note(count * columns * 4); !status)
      return status;
    if (auto format = model::groupFormat(tensor.info.elementType)) {
      model::dequantizeRow(stored(name).from(uint64_t(first), *format), count * columns, *format,
                           out);
      return {};
    }
    std::copy_n(tensor.values.begin() + first * columns, count * columns, out);
    return {};
  }
  Status readGroups(std::string_view name, int64_t first, int64_t count,
                    GroupRows out) const override {
    const model::TensorInfo &info = *find(name);
    const int64_t columns = info.columns();
    if (Status status = note(count * columns); !status)
      return status;
    GroupRows from = stored(name).from(uint64_t(first), *model::groupFormat(info.elementType));
    std::copy_n(from.codes, count * columns, out.codes);
    std::copy_n(from.scales, count * columns / model::groupSize, out.scales);
    if (out.minimums)
      std::copy_n(from.minimums, count * columns / model::groupSize, out.minimums);
    return {};
  }
  Groups &stored(std::string_view name) const {
    return const_cast<Groups &>(tensors.at(std::string(name)).groups.front());
  }
  std::vector<float> &values(const std::string &name) { return tensors.at(name).values; }

  mutable std::atomic<int64_t> largestRead{0};        // bytes asked for at once
  mutable std::atomic<int64_t> readsUntilFailure{-1}; // the read at 0 fails; negative: none does

private:
  struct Tensor {
    model::TensorInfo info;
    std::vector<float> values;
    std::vector<Groups> groups; // one, for types of groups
  };
  Status note(int64_t bytes) const {
    for (int64_t known = largestRead; known < bytes;)
      if (largestRead.compare_exchange_weak(known, bytes))
        break;
    if (readsUntilFailure >= 0 && readsUntilFailure-- == 0)
      return errorAt("stored", "w", "cannot be read");
    return {};
  }
  std::map<std::string, Tensor> tensors;
};

class MemorySink : public ByteSink {
public:
  Status write(const void *data, size_t size) override {
    bytes.insert(bytes.end(), static_cast<const uint8_t *>(data),
                 static_cast<const uint8_t *>(data) + size);
    largest = std::max(largest, size);
    return {};
  }
  std::vector<uint8_t> bytes;
  size_t largest = 0;
};

Tables tablesOf(uint64_t rows, uint64_t columns, Format format, uint64_t panelRows,
                std::vector<std::string> sources) {
  PackedWeight weight;
  weight.name = sources.front();
  weight.rows = rows;
  weight.columns = columns;
  weight.format = format;
  weight.panelRows = panelRows;
  weight.sources = std::move(sources);
  weight.bytes = packedBytes(format, rows, columns, panelRows);
  Tables tables;
  tables.weightsBytes = weight.bytes;
  tables.weights.push_back(std::move(weight));
  return tables;
}

PackReport pack(const Tables &tables, const StoredWeights &source, MemorySink &sink) {
  Result<PackReport> report = packWeights(tables, source, sink, {});
  EXPECT_TRUE(report.ok()) << (report ? "" : report.error().str());
  EXPECT_EQ(sink.bytes.size(), tables.weightsBytes);
  return report ? *report : PackReport{};
}

Format groupsOf(int bits, bool minimum = false) {
  return {ElementType::F32, GroupFormat{bits, minimum}};
}

void expectEqual(const Groups &found, const Groups &expected, const std::string &what) {
  EXPECT_EQ(found.codes, expected.codes) << what;
  EXPECT_EQ(found.scales, expected.scales) << what;
  EXPECT_EQ(found.minimums, expected.minimums) << what;
}

TEST(PackGroups, UnpackGivesTheSameBits) {
  for (ElementType type : {ElementType::Q8_0, ElementType::Q4_0, ElementType::Q4_1})
    for (uint64_t rows : {1, 31, 32, 33, 65})
      for (uint64_t columns : {32, 64, 96, 576})
        for (uint64_t panelRows : {1, 8, 32}) {
          StoredWeights source;
          source.add("w", int64_t(rows), int64_t(columns), type);
          const Format format = model::formatOf(type);
          Tables tables = tablesOf(rows, columns, format, panelRows, {"w"});
          MemorySink sink;
          PackReport report = pack(tables, source, sink);
          EXPECT_TRUE(report.losses.empty());
          Groups back(rows, columns);
          unpackGroups(sink.bytes.data(), rows, columns, *format.groups, panelRows,
                       back.from(0, *format.groups));
          expectEqual(back, source.stored("w"),
                      tables.weights[0].layout() + " " + std::to_string(rows) + " x " +
                          std::to_string(columns));
        }
}

// No stored type has it, so it only comes from re-quantising.
TEST(PackGroups, EightBitsWithAMinimumTooKeepTheirBits) {
  const GroupFormat format = {8, true};
  for (uint64_t rows : {1, 33}) {
    Groups groups = someGroups(rows, 96, format, 7), back(rows, 96);
    const uint64_t bytes = packedBytes({ElementType::F32, format}, rows, 96, 32);
    std::vector<uint8_t> packed(bytes, 0xAA), clean(bytes);
    packGroups(groups.from(0, format), rows, 96, format, 32, packed.data());
    packGroups(groups.from(0, format), rows, 96, format, 32, clean.data());
    EXPECT_EQ(packed, clean) << "what lay there before shows in the last panel";
    unpackGroups(packed.data(), rows, 96, format, 32, back.from(0, format));
    expectEqual(back, groups, std::to_string(rows));
  }
}

// LLMBase.td: byte i of word c of row n is the code of column 4c + i; then scales, then minimums.
TEST(PackGroups, BlocksFollowTheLayout) {
  for (ElementType type : {ElementType::Q8_0, ElementType::Q4_1}) {
    StoredWeights source;
    source.add("w", 6, 64, type);
    const GroupFormat format = *model::groupFormat(type);
    MemorySink sink;
    pack(tablesOf(6, 64, model::formatOf(type), 4, {"w"}), source, sink);
    const Groups &groups = source.stored("w");
    const uint64_t codeBytes = 4 * 32 * uint64_t(format.bits) / 8;
    const uint64_t block = codeBytes + 4 * (format.hasMinimum ? 4 : 2);
    for (uint64_t row = 0; row < 8; ++row)
      for (uint64_t column = 0; column < 64; ++column) {
        const uint8_t *at = sink.bytes.data() + (row / 4 * 2 + column / 32) * block;
        const uint64_t inGroup = column % 32, n = row % 4;
        const uint64_t folded = format.bits == 4 ? inGroup % 16 : inGroup;
        uint8_t code = at[(folded / 4 * 4 + n) * 4 + folded % 4];
        if (format.bits == 4)
          code = inGroup < 16 ? code & 15 : code >> 4;
        EXPECT_EQ(code, row < 6 ? groups.codes[row * 64 + column] : 0) << row << ", " << column;
        uint16_t half[2] = {};
        std::memcpy(&half[0], at + codeBytes + 2 * n, 2);
        EXPECT_EQ(half[0], row < 6 ? groups.scales[row * 2 + column / 32] : 0);
        if (format.hasMinimum)
          std::memcpy(&half[1], at + codeBytes + 8 + 2 * n, 2);
        EXPECT_EQ(half[1], row < 6 ? groups.minimums[row * 2 + column / 32] : 0);
      }
  }
}

TEST(PackGroups, SourcesStackByRowsAcrossPanels) {
  StoredWeights source;
  source.add("q", 45, 64, ElementType::Q4_1);
  source.add("k", 2, 64, ElementType::Q4_1);
  source.add("v", 30, 64, ElementType::Q4_1);
  const GroupFormat format = {4, true};
  MemorySink sink;
  PackReport report =
      pack(tablesOf(77, 64, {ElementType::F32, format}, 32, {"q", "k", "v"}), source, sink);
  EXPECT_EQ(report.sources.size(), 3u);
  Groups back(77, 64);
  unpackGroups(sink.bytes.data(), 77, 64, format, 32, back.from(0, format));
  uint64_t row = 0;
  for (const char *name : {"q", "k", "v"}) {
    const Groups &part = source.stored(name);
    EXPECT_TRUE(
        std::equal(part.codes.begin(), part.codes.end(), back.codes.begin() + long(row * 64)));
    EXPECT_TRUE(
        std::equal(part.scales.begin(), part.scales.end(), back.scales.begin() + long(row * 2)));
    EXPECT_TRUE(std::equal(part.minimums.begin(), part.minimums.end(),
                           back.minimums.begin() + long(row * 2)));
    row += part.codes.size() / 64;
  }
}

// A hash of a source changes with each of its three parts.
TEST(PackGroups, HashesCoverCodesScalesAndMinimums) {
  auto hash = [](int part) {
    StoredWeights source;
    source.add("w", 33, 64, ElementType::Q4_1);
    Groups &groups = source.stored("w");
    if (part == 1)
      groups.codes[40] ^= 1;
    if (part == 2)
      groups.scales[65] ^= 1;
    if (part == 3)
      groups.minimums[0] ^= 1;
    MemorySink sink;
    return pack(tablesOf(33, 64, groupsOf(4, true), 32, {"w"}), source, sink).sources["w"];
  };
  EXPECT_EQ(hash(0), hash(0));
  for (int part : {1, 2, 3})
    EXPECT_NE(hash(part), hash(0)) << part;
}

TEST(PackFloats, SixteenBitsKeepTheirBits) {
  for (ElementType type : {ElementType::F16, ElementType::BF16})
    for (uint64_t rows : {1, 32, 33})
      for (uint64_t columns : {1, 17, 64})
        for (uint64_t panelRows : {0, 7, 32}) {
          StoredWeights source;
          source.add("w", int64_t(rows), int64_t(columns), type);
          MemorySink sink;
          PackReport report =
              pack(tablesOf(rows, columns, {type, std::nullopt}, panelRows, {"w"}), source, sink);
          EXPECT_TRUE(report.losses.empty());
          const uint64_t panel = std::max<uint64_t>(1, panelRows);
          EXPECT_EQ(sink.bytes.size(), (rows + panel - 1) / panel * panel * columns * 2);
          std::vector<float> back(rows * columns);
          unpackFloats(sink.bytes.data(), rows, columns, {type, std::nullopt}, panelRows,
                       back.data());
          EXPECT_EQ(back, source.values("w"));
        }
}

// What re-quantising cost, of the whole tensor: as its unpacked values say.
TEST(PackLosses, AreThoseOfTheUnpackedValues) {
  const Format formats[] = {groupsOf(8),
                            groupsOf(8, true),
                            groupsOf(4),
                            groupsOf(4, true),
                            {ElementType::BF16, std::nullopt},
                            {ElementType::F16, std::nullopt}};
  for (ElementType type : {ElementType::F32, ElementType::Q4_1})
    for (const Format &format : formats) {
      if (model::formatOf(type) == format)
        continue;
      StoredWeights source;
      source.add("w", 70, 96, type);
      if (type == ElementType::Q4_1) // scales that a checkpoint might have
        for (uint64_t i = 0; i < source.stored("w").scales.size(); ++i) {
          source.stored("w").scales[i] = model::toHalf(0.01f + 0.001f * float(i % 7));
          source.stored("w").minimums[i] = model::toHalf(-0.1f + 0.03f * float(i % 5));
        }
      MemorySink sink;
      PackReport report = pack(tablesOf(70, 96, format, 32, {"w"}), source, sink);
      std::vector<float> before(70 * 96), after(70 * 96);
      ASSERT_TRUE(source.readRows("w", 0, 70, before.data()).ok());
      if (format.groups) {
        Groups back(70, 96);
        unpackGroups(sink.bytes.data(), 70, 96, *format.groups, 32, back.from(0, *format.groups));
        model::dequantizeRow(back.from(0, *format.groups), 70 * 96, *format.groups, after.data());
      } else {
        unpackFloats(sink.bytes.data(), 70, 96, format, 32, after.data());
      }
      double error = 0, squares = 0;
      for (size_t i = 0; i < before.size(); ++i) {
        error += (double(before[i]) - after[i]) * (double(before[i]) - after[i]);
        squares += double(before[i]) * before[i];
      }
      const std::string what = std::string(model::name(type)) + " to " + model::name(format);
      ASSERT_EQ(report.losses.count("w"), 1u) << what;
      EXPECT_NEAR(report.losses["w"].relative(), std::sqrt(error / squares), 1e-12) << what;
      EXPECT_LT(report.losses["w"].relative(), 0.1) << what;
    }
}

TEST(PackLosses, AreNoneWhereNothingIsLost) {
  for (ElementType type : {ElementType::F32, ElementType::F16, ElementType::Q8_0}) {
    StoredWeights source;
    source.add("w", 33, 64, type);
    MemorySink sink;
    EXPECT_TRUE(pack(tablesOf(33, 64, {}, 32, {"w"}), source, sink).losses.empty());
    std::vector<float> before(33 * 64), after(33 * 64);
    ASSERT_TRUE(source.readRows("w", 0, 33, before.data()).ok());
    unpackFloats(sink.bytes.data(), 33, 64, {}, 32, after.data());
    EXPECT_EQ(after, before);
  }
}

TEST(PackGroups, AFailingReadEndsThePacking) {
  for (ElementType type : {ElementType::Q8_0, ElementType::F32})
    for (int64_t reads : {0, 1, 2}) {
      StoredWeights source;
      source.add("w", 4096, 1024, type);
      source.readsUntilFailure = reads;
      Tables tables = tablesOf(4096, 1024, groupsOf(8), 32, {"w"});
      MemorySink sink;
      Result<PackReport> report = packWeights(tables, source, sink, {});
      ASSERT_FALSE(report.ok());
      EXPECT_EQ(report.error().str(), "stored: w: error: cannot be read");
      EXPECT_LT(sink.bytes.size(), tables.weightsBytes);
    }
}

TEST(PackGroups, RefusesNumbersThatHaveNoCode) {
  for (float bad : {NAN, INFINITY, -INFINITY}) {
    StoredWeights source;
    source.add("w", 40, 64, ElementType::F32);
    source.values("w")[38 * 64 + 5] = bad;
    MemorySink sink;
    Result<PackReport> report =
        packWeights(tablesOf(40, 64, groupsOf(4), 32, {"w"}), source, sink, {});
    ASSERT_FALSE(report.ok());
    const std::string found = std::isnan(bad) ? "NaN" : "an infinite value";
    EXPECT_EQ(report.error().str(), "stored: w: row 38: error: found " + found +
                                        ", expected finite values to quantise; keep the tensor's "
                                        "format with --quant keep");
  }
}

// Reads and writes are of a block of panels, whatever the tensor's size.
TEST(PackGroups, MemoryIsBoundedByABlock) {
  for (ElementType type : {ElementType::Q4_0, ElementType::F32}) {
    StoredWeights source;
    source.add("large", 8200, 1024, type);
    MemorySink sink;
    pack(tablesOf(8200, 1024, groupsOf(4), 32, {"large"}), source, sink);
    EXPECT_LE(sink.largest, size_t(1) << 20);
    EXPECT_LE(source.largestRead, int64_t(1) << 20);
  }
}

} // namespace
