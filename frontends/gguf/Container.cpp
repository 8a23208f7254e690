// SPDX-License-Identifier: Apache-2.0
// Reads values out of metadata that the parser has proved right.
#include "frontends/gguf/Container.h"
#include "frontends/safetensors/Header.h"

#include <cmath>
#include <cstdio>
#include <cstring>

namespace llmc::gguf {

const char *name(ValueType type) {
  static constexpr const char *names[] = {"u8",   "i8",     "u16",  "i16", "u32", "i32", "f32",
                                          "bool", "string", "list", "u64", "i64", "f64"};
  return names[static_cast<size_t>(type)];
}

std::string keyPlace(std::string_view key) { return "key '" + escaped(key, 120) + "'"; }

double shortestDecimal(float value) {
  char text[32];
  for (int digits = 6; digits < 9; ++digits) {
    std::snprintf(text, sizeof text, "%.*g", digits, static_cast<double>(value));
    if (std::strtof(text, nullptr) == value)
      return std::strtod(text, nullptr);
  }
  return static_cast<double>(value);
}

const KeyValue *Container::find(std::string_view key) const {
  auto found = keyIndex.find(std::string(key));
  return found == keyIndex.end() ? nullptr : &metadata[found->second];
}

const StoredTensor *Container::findTensor(std::string_view name) const {
  auto found = tensorIndex.find(std::string(name));
  return found == tensorIndex.end() ? nullptr : &table[found->second];
}

uint64_t Container::bits(uint64_t offset, uint32_t width) const {
  uint64_t value = 0;
  for (uint32_t i = 0; i < width; ++i)
    value |= uint64_t(static_cast<unsigned char>(bytes[offset + i])) << (8 * i);
  return value;
}

std::optional<int64_t> Container::integer(const Value &value, uint64_t i) const {
  switch (value.type == ValueType::Array ? value.element : value.type) {
  case ValueType::U8:
    return static_cast<int64_t>(bits(value.offset + i, 1));
  case ValueType::I8:
    return static_cast<int8_t>(bits(value.offset + i, 1));
  case ValueType::U16:
    return static_cast<int64_t>(bits(value.offset + 2 * i, 2));
  case ValueType::I16:
    return static_cast<int16_t>(bits(value.offset + 2 * i, 2));
  case ValueType::U32:
    return static_cast<int64_t>(bits(value.offset + 4 * i, 4));
  case ValueType::I32:
    return static_cast<int32_t>(bits(value.offset + 4 * i, 4));
  case ValueType::U64:
    if (uint64_t wide = bits(value.offset + 8 * i, 8); wide <= INT64_MAX)
      return static_cast<int64_t>(wide);
    return std::nullopt;
  case ValueType::I64:
    return static_cast<int64_t>(bits(value.offset + 8 * i, 8));
  default:
    return std::nullopt;
  }
}

std::optional<double> Container::number(const Value &value, uint64_t i) const {
  ValueType type = value.type == ValueType::Array ? value.element : value.type;
  if (type == ValueType::F32) {
    uint32_t word = static_cast<uint32_t>(bits(value.offset + 4 * i, 4));
    float single;
    std::memcpy(&single, &word, sizeof single);
    return shortestDecimal(single);
  }
  if (type == ValueType::F64) {
    uint64_t word = bits(value.offset + 8 * i, 8);
    double wide;
    std::memcpy(&wide, &word, sizeof wide);
    return wide;
  }
  std::optional<int64_t> whole = integer(value, i);
  return whole ? std::optional<double>(static_cast<double>(*whole)) : std::nullopt;
}

bool Container::boolean(const Value &value, uint64_t i) const {
  return bytes[value.offset + i] != 0;
}

std::string_view Container::text(const Value &value) const {
  return std::string_view(bytes).substr(value.offset, value.count);
}

std::vector<std::string_view> Container::texts(const Value &value) const {
  std::vector<std::string_view> all;
  all.reserve(value.count); // at most an eighth of the bytes that the parser went through
  uint64_t offset = value.offset;
  for (uint64_t i = 0; i < value.count; ++i) {
    uint64_t length = bits(offset, 8);
    all.push_back(std::string_view(bytes).substr(offset + 8, length));
    offset += 8 + length;
  }
  return all;
}

std::string Container::describe(const Value &value) const {
  switch (value.type) {
  case ValueType::String:
    return "\"" + escaped(text(value), 80) + "\"";
  case ValueType::Array:
    return "a list of " + std::to_string(value.count) + " " + name(value.element);
  case ValueType::Bool:
    return boolean(value) ? "true" : "false";
  case ValueType::F32:
  case ValueType::F64: {
    char out[32];
    std::snprintf(out, sizeof out, "%.9g", *number(value));
    return out;
  }
  default:
    break;
  }
  std::optional<int64_t> whole = integer(value);
  return whole ? std::to_string(*whole) : std::to_string(bits(value.offset, 8));
}

Error Container::errorAtKey(std::string_view key, std::string_view text) const {
  return errorAt(path(), keyPlace(key), text);
}
Error Container::errorAtTensor(std::string_view name, std::string_view text) const {
  return errorAt(path(), safetensors::tensorPlace(name), text);
}
std::string Container::noteAtKey(std::string_view key, std::string_view text) const {
  return noteAt(path(), keyPlace(key), text);
}
std::string Container::noteAtTensor(std::string_view name, std::string_view text) const {
  return noteAt(path(), safetensors::tensorPlace(name), text);
}

} // namespace llmc::gguf
