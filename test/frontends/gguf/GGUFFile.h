// SPDX-License-Identifier: Apache-2.0
// Writes GGUF files for tests: right ones, and ones with a single fault. Written from the format's
// description, not with the reader's tables.
#pragma once

#include "test/frontends/Support.h"

namespace llmc::test {

// GGUF's numbers for the types of values and tensors.
enum GGUFValue : uint32_t {
  U8 = 0,
  I8,
  U16,
  I16,
  U32,
  I32,
  F32Value,
  BoolValue,
  StringValue,
  ArrayValue,
  U64,
  I64,
  F64Value
};
enum GGUFType : uint32_t {
  F32Tensor = 0,
  F16Tensor = 1,
  Q4_0Tensor = 2,
  Q4_1Tensor = 3,
  Q8_0Tensor = 8,
  BF16Tensor = 30
};

// `value` as `width` little-endian bytes.
std::string littleEndian(uint64_t value, int width);
std::string floatBytes(float value);
std::string ggufString(std::string_view text); // its length, then its bytes

struct GGUFKey {
  std::string name;
  uint32_t type;
  std::string bytes; // of the value
};
GGUFKey u32Key(const std::string &name, uint32_t value);
GGUFKey f32Key(const std::string &name, float value);
GGUFKey boolKey(const std::string &name, bool value);
GGUFKey stringKey(const std::string &name, std::string_view value);
GGUFKey listKey(const std::string &name, uint32_t element, uint64_t count, std::string_view bytes);
GGUFKey stringsKey(const std::string &name, const std::vector<std::string> &values);

struct GGUFTensor {
  std::string name;
  std::vector<uint64_t> dims; // the first is the width of a row
  uint32_t type = F32Tensor;
  std::string bytes;
  std::optional<uint64_t> offset = std::nullopt; // when absent: after the tensor before
};

struct GGUFFile {
  std::string magic = "GGUF";
  uint32_t version = 3;
  uint64_t alignment = 32;
  std::vector<GGUFKey> keys;
  std::vector<GGUFTensor> tensors;
  std::optional<uint64_t> keyCount, tensorCount; // when absent: the true ones

  GGUFKey *find(const std::string &name);
  GGUFTensor *findTensor(const std::string &name);
  void set(GGUFKey key); // in place of the key of that name, or at the end
  std::string bytes() const;
  uint64_t metadataBytes() const; // where padding before the data begins
};

// A block of 32 codes as GGUF packs them; codes as llmc counts them (unsigned).
std::string ggufBlock(uint32_t type, const std::vector<uint8_t> &codes, uint16_t scale,
                      uint16_t minimum);

// A right file of `architecture` ("llama", "qwen2", "qwen3"): hidden 64, MLP 96, 4 heads and 2
// key/value heads of 16, 2 layers, vocabulary 40. Linears and the embedding are of `type`.
struct TinyGGUF {
  GGUFFile file;
  model::ModelConfig config; // what it says
};
TinyGGUF tinyGGUF(const std::string &architecture, uint32_t type = F32Tensor);

// Rows (or values of a vector) as converters to llama put them: of each head first those of pair 0,
// then of pair 1, ... `width` bytes a row.
std::string pairedRows(const std::string &bytes, size_t width, int64_t headDim);

} // namespace llmc::test
