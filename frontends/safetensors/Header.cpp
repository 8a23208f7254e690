// SPDX-License-Identifier: Apache-2.0
// Reads a header's JSON and proves its tensors' bytes to be inside the file, of the right number,
// and apart.
#include "frontends/safetensors/Header.h"

#include "frontends/json/Value.h"

#include <algorithm>

namespace llmc::safetensors {

using json::Value;

std::string tensorPlace(std::string_view name) { return "tensor '" + escaped(name, 120) + "'"; }

std::string shapeText(const std::vector<int64_t> &shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size() && i < 8; ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + (shape.size() > 8 ? ", ...]" : "]");
}

namespace {

// Bits of an element; 0 for a type that the format does not have.
unsigned bitsOf(std::string_view type) {
  struct Row {
    std::string_view type;
    unsigned bits;
  };
  static constexpr Row rows[] = {
      {"F32", 32}, {"F16", 16},    {"BF16", 16},   {"F64", 64},    {"I64", 64}, {"I32", 32},
      {"I16", 16}, {"I8", 8},      {"U8", 8},      {"U16", 16},    {"U32", 32}, {"U64", 64},
      {"BOOL", 8}, {"F8_E4M3", 8}, {"F8_E5M2", 8}, {"F8_E8M0", 8}, {"F4", 4},
  };
  for (const Row &row : rows)
    if (row.type == type)
      return row.bits;
  return 0;
}

// Bytes of a tensor, or nothing when the number does not fit.
std::optional<uint64_t> bytesOf(const std::vector<int64_t> &shape, unsigned bits) {
  uint64_t total = bits;
  bool empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
  for (int64_t size : shape)
    if (!empty && __builtin_mul_overflow(total, static_cast<uint64_t>(size), &total))
      return std::nullopt;
  return empty ? 0 : (total + 7) / 8;
}

class TensorReader {
public:
  TensorReader(std::string_view file, uint64_t dataStart, uint64_t dataSize)
      : file(file), dataStart(dataStart), dataSize(dataSize) {}

  Result<StoredTensor> read(const std::string &name, const Value &entry);

private:
  Error error(const StoredTensor &tensor, const std::string &text) const {
    return errorAt(file, tensorPlace(tensor.name), text);
  }
  Status readShape(const Value *value, StoredTensor &tensor) const;
  Status readOffsets(const Value *value, StoredTensor &tensor) const;

  std::string_view file;
  uint64_t dataStart, dataSize;
};

std::string found(const Value *value) {
  return value ? "found " + json::describe(*value) : "found nothing";
}

Status TensorReader::readShape(const Value *value, StoredTensor &tensor) const {
  if (!value || !value->is(Value::Kind::Array) || value->size() > 8)
    return error(tensor, found(value) + " as \"shape\", expected a list of at most 8 sizes");
  for (size_t i = 0; i < value->size(); ++i) {
    const Value &size = (*value)[i];
    if (!size.is(Value::Kind::Integer) || size.integer < 0)
      return error(tensor, "found " + json::describe(size) +
                               " in \"shape\", expected an integer of at least 0");
    tensor.shape.push_back(size.integer);
  }
  return {};
}

Status TensorReader::readOffsets(const Value *value, StoredTensor &tensor) const {
  bool two = value && value->is(Value::Kind::Array) && value->size() == 2;
  if (!two || !(*value)[0].is(Value::Kind::Integer) || !(*value)[1].is(Value::Kind::Integer))
    return error(tensor, found(value) + " as \"data_offsets\", expected two integers [begin, end]");
  int64_t begin = (*value)[0].integer, end = (*value)[1].integer;
  std::string range =
      "found data_offsets [" + std::to_string(begin) + ", " + std::to_string(end) + "]";
  if (begin < 0 || end < begin || static_cast<uint64_t>(end) > dataSize)
    return error(tensor, range + ", expected 0 <= begin <= end <= " + std::to_string(dataSize) +
                             " (the bytes after the header)");
  std::optional<uint64_t> bytes = bytesOf(tensor.shape, bitsOf(tensor.type));
  std::string size = "\"shape\" " + shapeText(tensor.shape) + " of " + tensor.type;
  if (!bytes)
    return error(tensor, "found " + size +
                             ", which is more bytes than 64 bits can count, expected at most " +
                             std::to_string(dataSize) + " (the bytes after the header)");
  uint64_t covered = static_cast<uint64_t>(end - begin);
  if (covered != *bytes)
    return error(tensor, range + " of " + std::to_string(covered) + " bytes, expected " +
                             std::to_string(*bytes) + " bytes for " + size);
  tensor.begin = dataStart + static_cast<uint64_t>(begin);
  tensor.end = dataStart + static_cast<uint64_t>(end);
  return {};
}

Result<StoredTensor> TensorReader::read(const std::string &name, const Value &entry) {
  StoredTensor tensor;
  tensor.name = name;
  if (!entry.is(Value::Kind::Object))
    return error(tensor, "found " + json::describe(entry) +
                             ", expected an object with dtype, shape and data_offsets");
  for (size_t i = 0; i < entry.size(); ++i)
    if (const std::string &key = entry.key(i);
        key != "dtype" && key != "shape" && key != "data_offsets")
      return error(tensor, "found unknown key \"" + escaped(key, 80) +
                               "\", expected dtype, shape and data_offsets");
  const Value *type = entry.find("dtype");
  if (!type || !type->is(Value::Kind::String) || bitsOf(type->text()) == 0)
    return error(
        tensor,
        found(type) +
            " as \"dtype\", expected a type that safetensors has, such as F32, F16 or BF16");
  tensor.type = type->text();
  if (Status status = readShape(entry.find("shape"), tensor); !status)
    return status.takeError();
  if (Status status = readOffsets(entry.find("data_offsets"), tensor); !status)
    return status.takeError();
  return tensor;
}

Status checkMetadata(const Value &metadata, std::string_view file) {
  if (!metadata.is(Value::Kind::Object))
    return errorAt(file, "/__metadata__",
                   "found " + json::describe(metadata) + ", expected an object of strings");
  for (size_t i = 0; i < metadata.size(); ++i)
    if (!metadata[i].is(Value::Kind::String))
      return errorAt(file, "/__metadata__/" + escaped(metadata.key(i), 80),
                     "found " + json::describe(metadata[i]) + ", expected a string");
  return {};
}

// The tensors, in order, fill the data exactly.
Status checkCover(const std::vector<StoredTensor> &tensors, std::string_view file,
                  uint64_t dataStart, uint64_t fileSize) {
  uint64_t position = dataStart;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const StoredTensor &tensor = tensors[i];
    std::string start = std::to_string(tensor.begin - dataStart),
                expected = std::to_string(position - dataStart);
    if (tensor.begin < position)
      return errorAt(file, tensorPlace(tensor.name),
                     "found data_offsets that begin at " + start +
                         " and overlap another tensor, expected " + expected + " or later")
          .withNote(noteAt(file, tensorPlace(tensors[i - 1].name),
                           "this tensor's bytes end at " + expected));
    if (tensor.begin > position)
      return errorAt(file, tensorPlace(tensor.name),
                     "found data_offsets that begin at " + start + " and leave a hole, expected " +
                         expected);
    position = tensor.end;
  }
  if (position != fileSize)
    return errorAt(file, "end of data",
                   "found " + std::to_string(fileSize - position) +
                       " bytes after the last tensor, expected none");
  return {};
}

} // namespace

Result<std::vector<StoredTensor>> parseHeader(std::string_view text, std::string_view file,
                                              uint64_t fileSize) {
  Result<Value> tree = json::parse(text, file);
  if (!tree)
    return tree.takeError();
  if (!tree->is(Value::Kind::Object))
    return errorAt(file, "/", "found " + json::describe(*tree) + " as header, expected an object");
  uint64_t dataStart = 8 + text.size();
  TensorReader reader(file, dataStart, fileSize - dataStart);
  std::vector<StoredTensor> tensors;
  for (size_t i = 0; i < tree->size(); ++i) {
    if (tree->key(i) == "__metadata__") {
      if (Status status = checkMetadata((*tree)[i], file); !status)
        return status.takeError();
      continue;
    }
    Result<StoredTensor> tensor = reader.read(tree->key(i), (*tree)[i]);
    if (!tensor)
      return tensor.takeError();
    tensors.push_back(std::move(*tensor));
  }
  std::sort(tensors.begin(), tensors.end(), [](const StoredTensor &a, const StoredTensor &b) {
    return a.begin != b.begin ? a.begin < b.begin
           : a.end != b.end   ? a.end < b.end
                              : a.name < b.name;
  });
  if (Status status = checkCover(tensors, file, dataStart, fileSize); !status)
    return status.takeError();
  return tensors;
}

} // namespace llmc::safetensors
