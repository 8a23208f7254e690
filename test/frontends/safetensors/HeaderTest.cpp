// SPDX-License-Identifier: Apache-2.0
#include "frontends/safetensors/Header.h"

#include <gtest/gtest.h>

using namespace llmc;
using namespace llmc::safetensors;

// Parses `text` as the header of a file with `dataSize` bytes behind it.
static Result<std::vector<StoredTensor>> parseWithData(std::string_view text, uint64_t dataSize) {
  return parseHeader(text, "w.safetensors", 8 + text.size() + dataSize);
}

static std::string errorOf(std::string_view text, uint64_t dataSize) {
  auto tensors = parseWithData(text, dataSize);
  return tensors ? "parsed" : tensors.error().str();
}

TEST(SafetensorsHeader, ReadsTensorsInTheOrderOfTheirBytes) {
  std::string text = R"({"__metadata__": {"format": "pt"},
    "b": {"dtype": "F16", "shape": [2, 3], "data_offsets": [4, 16]}, "a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]},
    "empty": {"dtype": "F32", "shape": [0, 5], "data_offsets": [16, 16]}})";
  auto tensors = parseWithData(text, 16);
  ASSERT_TRUE(tensors.ok()) << tensors.error().str();
  ASSERT_EQ(tensors->size(), 3u);
  EXPECT_EQ((*tensors)[0].name, "a");
  EXPECT_EQ((*tensors)[1].shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ((*tensors)[1].begin, 8 + text.size() + 4);
}

struct Fault {
  const char *header;
  uint64_t dataSize;
  const char *error;
};
static std::ostream &operator<<(std::ostream &out, const Fault &fault) {
  return out << fault.error;
}

class HeaderRefuses : public testing::TestWithParam<Fault> {};

TEST_P(HeaderRefuses, Fault) {
  EXPECT_EQ(errorOf(GetParam().header, GetParam().dataSize),
            "w.safetensors: " + std::string(GetParam().error));
}

static const Fault faults[] = {
    {R"([1])", 0, "/: error: found a list of 1 as header, expected an object"},
    {R"({"a": 5})", 0,
     "tensor 'a': error: found 5, expected an object with dtype, shape and data_offsets"},
    {R"({"a": {"dtype": "F33", "shape": [1], "data_offsets": [0, 4]}})", 4,
     "tensor 'a': error: found \"F33\" as \"dtype\", expected a type that safetensors has, such as "
     "F32, F16 or BF16"},
    {R"({"a": {"dtype": "F32", "data_offsets": [0, 4]}})", 4,
     "tensor 'a': error: found nothing as \"shape\", expected a list of at most 8 sizes"},
    {R"({"a": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}})", 4,
     "tensor 'a': error: found -1 in \"shape\", expected an integer of at least 0"},
    {R"({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4], "x": 1}})", 4,
     "tensor 'a': error: found unknown key \"x\", expected dtype, shape and data_offsets"},
    {R"({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0]}})", 4,
     "tensor 'a': error: found a list of 1 as \"data_offsets\", expected two integers [begin, "
     "end]"},
    {R"({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}})", 4,
     "tensor 'a': error: found data_offsets [0, 8], expected 0 <= begin <= end <= 4 (the bytes "
     "after the header)"},
    {R"({"a": {"dtype": "F32", "shape": [1], "data_offsets": [4, 0]}})", 4,
     "tensor 'a': error: found data_offsets [4, 0], expected 0 <= begin <= end <= 4 (the bytes "
     "after the header)"},
    {R"({"a": {"dtype": "F32", "shape": [4294967296, 4294967296], "data_offsets": [0, 4]}})", 4,
     "tensor 'a': error: found \"shape\" [4294967296, 4294967296] of F32, which is more bytes than "
     "64 bits can count, "
     "expected at most 4 (the bytes after the header)"},
    {R"({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}})", 4,
     "tensor 'a': error: found data_offsets [0, 4] of 4 bytes, expected 8 bytes for \"shape\" [2] "
     "of F32"},
    {R"({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}, "b": {"dtype": "F32", "shape": [2], "data_offsets": [4, 12]}})",
     12,
     "tensor 'b': error: found data_offsets that begin at 4 and overlap another tensor, expected 8 "
     "or later\n"
     "w.safetensors: tensor 'a': note: this tensor's bytes end at 8"},
    {R"({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}, "b": {"dtype": "F32", "shape": [1], "data_offsets": [8, 12]}})",
     12, "tensor 'b': error: found data_offsets that begin at 8 and leave a hole, expected 4"},
    {R"({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}})", 9,
     "end of data: error: found 5 bytes after the last tensor, expected none"},
    {R"({"__metadata__": {"a": 1}})", 0, "/__metadata__/a: error: found 1, expected a string"},
    {R"({"a": 1, "a": 2})", 0, "/: error: found key \"a\" twice, expected each key once"},
};

INSTANTIATE_TEST_SUITE_P(Faults, HeaderRefuses, testing::ValuesIn(faults));
