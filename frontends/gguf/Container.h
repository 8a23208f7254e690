// SPDX-License-Identifier: Apache-2.0
// The frame of a GGUF file, versions 2 and 3: keys with typed values, and a table of tensors.
// Everything that the rest of llmc relies on is checked here: no key or tensor comes twice, each
// tensor's bytes lie inside the file, aligned, and no two tensors share one. Opening reads the
// metadata only, once, into memory; nothing is reserved because a number in the file asks for it.
#pragma once

#include "frontends/gguf/BlockTypes.h"
#include "frontends/safetensors/File.h"

namespace llmc::gguf {

using safetensors::File;

enum class ValueType : uint32_t {
  U8,
  I8,
  U16,
  I16,
  U32,
  I32,
  F32,
  Bool,
  String,
  Array,
  U64,
  I64,
  F64,
};
const char *name(ValueType type); // "u8", ..., "string", "list"

// A value stays where it is in the metadata; this says what lies there.
struct Value {
  ValueType type = ValueType::U8;
  ValueType element = ValueType::U8; // of an Array
  uint64_t count = 1;                // bytes of a String, elements of an Array
  uint64_t offset = 0;               // from the start of the file
};

struct KeyValue {
  std::string key;
  Value value;
};

struct StoredTensor {
  std::string name;
  std::vector<int64_t> shape; // outermost first, as everywhere in llmc
  const BlockType *type = nullptr;
  uint64_t begin = 0; // from the start of the file
  uint64_t bytes = 0;

  int64_t columns() const { return shape.back(); }
};

// Limits of the format's specification, and three of ours: published files have less than a hundred
// keys, some thousand tensors and 20 MB of metadata, nearly all of it vocabulary.
inline constexpr uint64_t maxKeyBytes = 65535;
inline constexpr uint64_t maxTensorNameBytes = 64;
inline constexpr uint64_t maxMetadataBytes = uint64_t(256) << 20;
inline constexpr uint64_t maxKeys = uint64_t(1) << 16;
inline constexpr uint64_t maxTensors = uint64_t(1) << 17;
inline constexpr uint32_t maxDimensions = 4;
inline constexpr int maxArrayDepth = 4;

class Container {
public:
  static Result<Container> open(const std::string &path);

  const std::string &path() const { return file->path; }
  const std::shared_ptr<File> &handle() const { return file; }
  const std::vector<KeyValue> &keys() const { return metadata; }
  const std::vector<StoredTensor> &tensors() const { return table; }
  const KeyValue *find(std::string_view key) const;
  const StoredTensor *findTensor(std::string_view name) const;

  // Of a value of one of the numeric types, at index `i` of an Array or alone.
  std::optional<int64_t> integer(const Value &value, uint64_t i = 0) const; // fits a signed 64
  std::optional<double> number(const Value &value, uint64_t i = 0) const;   // floats, integers
  bool boolean(const Value &value, uint64_t i = 0) const;
  // Views into the container, valid while it lives.
  std::string_view text(const Value &value) const;
  std::vector<std::string_view> texts(const Value &value) const; // of an Array of String

  // For messages: `32`, `1e-05`, `true`, `"text"` (escaped, shortened), `a list of 3 u32`.
  std::string describe(const Value &value) const;

  Error errorAtKey(std::string_view key, std::string_view text) const;
  Error errorAtTensor(std::string_view name, std::string_view text) const;
  std::string noteAtKey(std::string_view key, std::string_view text) const;
  std::string noteAtTensor(std::string_view name, std::string_view text) const;

private:
  friend class Parser;
  uint64_t bits(uint64_t offset, uint32_t width) const;

  std::shared_ptr<File> file;
  std::string bytes; // the file's metadata, from its first byte
  std::vector<KeyValue> metadata;
  std::vector<StoredTensor> table;
  std::unordered_map<std::string, size_t> keyIndex, tensorIndex;
};

// The decimal with the fewest digits that is this float: 1e-05, where a plain conversion to double
// gives 9.999999747378752e-06. So a model is the same from a GGUF file and from a config.json.
double shortestDecimal(float value);

std::string keyPlace(std::string_view key); // "key 'NAME'"

} // namespace llmc::gguf
