// SPDX-License-Identifier: Apache-2.0
// Walks through a file's metadata and proves it right. Counts are held against the bytes that are
// left before anything is done for them, so a small file cannot ask for much.
#include "frontends/gguf/Container.h"
#include "frontends/gguf/Cursor.h"
#include "frontends/safetensors/Header.h"

#include <algorithm>

namespace llmc::gguf {

using safetensors::shapeText;
using safetensors::tensorPlace;

namespace {

constexpr uint64_t defaultAlignment = 32;
constexpr uint64_t maxAlignment = uint64_t(1) << 20;
// The fewest bytes that a key with its value, and an entry of the tensor table, can take.
constexpr uint64_t leastKeyBytes = 8 + 1 + 4 + 1;
constexpr uint64_t leastTensorBytes = 8 + 1 + 4 + 8 + 4 + 8;

// Bytes of one value; 0 for strings and lists, whose size is in the file.
uint32_t width(ValueType type) {
  switch (type) {
  case ValueType::U8:
  case ValueType::I8:
  case ValueType::Bool:
    return 1;
  case ValueType::U16:
  case ValueType::I16:
    return 2;
  case ValueType::U32:
  case ValueType::I32:
  case ValueType::F32:
    return 4;
  case ValueType::U64:
  case ValueType::I64:
  case ValueType::F64:
    return 8;
  case ValueType::String:
  case ValueType::Array:
    return 0;
  }
  return 0;
}

// The fewest bytes that an element of a list can take.
uint64_t leastBytes(ValueType type) {
  return type == ValueType::String ? 8 : type == ValueType::Array ? 12 : width(type);
}

std::string text(uint64_t number) { return std::to_string(number); }

} // namespace

class Parser {
public:
  explicit Parser(std::shared_ptr<File> file)
      : file(std::move(file)), cursor(*this->file, maxMetadataBytes) {}

  Result<Container> parse();

private:
  Error error(std::string_view place, std::string_view text) const {
    return errorAt(file->path, place, text);
  }
  Status readFrame();
  Result<uint64_t> readCount(const char *place, uint64_t leastEach, uint64_t most);
  Status readKey(uint64_t index);
  Result<std::string> readName(const std::string &place, uint64_t most);
  Result<ValueType> readType(const std::string &place, const char *what);
  Status readValue(const std::string &place, Value &value);
  Status readArray(const std::string &place, Value &value, int depth);
  Status checkBooleans(const std::string &place, const Value &value);
  Result<uint64_t> readAlignment() const;
  Status readTensor(uint64_t index);
  Status readShape(const std::string &place, StoredTensor &tensor, uint64_t &count);
  Status placeTensors(uint64_t alignment);
  Status checkOverlaps() const;

  std::shared_ptr<File> file;
  Cursor cursor;
  Container container;
  uint64_t tensorCount = 0, keyCount = 0;
};

Status Parser::readFrame() {
  Result<uint64_t> magic = cursor.number(4, "magic", "the word GGUF");
  if (!magic)
    return magic.takeError();
  if (cursor.view(0, 4) != "GGUF")
    return error("magic", "found \"" + escaped(cursor.view(0, 4)) + "\", expected \"GGUF\"");
  Result<uint64_t> version = cursor.number(4, "version", "the version");
  if (!version)
    return version.takeError();
  if (*version == 1)
    return error("version", "found 1, expected 2 or 3; convert the model again");
  if (*version == 0x02000000 || *version == 0x03000000)
    return error("version", "found a big-endian file, expected little-endian; convert the model "
                            "without --bigendian");
  if (*version != 2 && *version != 3)
    return error("version", "found " + text(*version) + ", expected 2 or 3");
  Result<uint64_t> tensors = readCount("tensor count", leastTensorBytes, maxTensors);
  if (!tensors)
    return tensors.takeError();
  Result<uint64_t> keys = readCount("key count", leastKeyBytes, maxKeys);
  if (!keys)
    return keys.takeError();
  tensorCount = *tensors;
  keyCount = *keys;
  return {};
}

Result<uint64_t> Parser::readCount(const char *place, uint64_t leastEach, uint64_t most) {
  Result<uint64_t> count = cursor.number(8, place, "a count");
  uint64_t room = std::min(most, cursor.remaining() / leastEach);
  if (count && *count > room)
    return error(place, "found " + text(*count) + ", expected at most " + text(room) +
                            " in a file of " + text(file->size) + " bytes");
  return count;
}

Result<std::string> Parser::readName(const std::string &place, uint64_t most) {
  Result<uint64_t> length = cursor.number(8, place, "a name's length");
  if (!length)
    return length.takeError();
  if (*length < 1 || *length > most)
    return error(place, "found a name of " + text(*length) + " bytes, expected 1 to " + text(most));
  if (Status status = cursor.skip(*length, place, "a name"); !status)
    return status.takeError();
  return std::string(cursor.view(cursor.position() - *length, *length));
}

Result<ValueType> Parser::readType(const std::string &place, const char *what) {
  Result<uint64_t> type = cursor.number(4, place, what);
  if (!type)
    return type.takeError();
  if (*type > static_cast<uint64_t>(ValueType::F64))
    return error(place, "found " + text(*type) + " as " + what + ", expected 0 to 12");
  return static_cast<ValueType>(*type);
}

Status Parser::checkBooleans(const std::string &place, const Value &value) {
  for (char byte : cursor.view(value.offset, value.count))
    if (byte != 0 && byte != 1)
      return error(place, "found " + text(static_cast<unsigned char>(byte)) +
                              " as a boolean, expected 0 or 1");
  return {};
}

Status Parser::readArray(const std::string &place, Value &value, int depth) {
  if (depth > maxArrayDepth)
    return error(place, "found lists nested deeper than " + text(maxArrayDepth) +
                            ", expected fewer levels");
  Result<ValueType> element = readType(place, "the type of a list's elements");
  if (!element)
    return element.takeError();
  Result<uint64_t> count = cursor.number(8, place, "a list's length");
  if (!count)
    return count.takeError();
  uint64_t least = leastBytes(*element);
  if (*count > cursor.remaining() / least)
    return error(place, "found a list of " + text(*count) + " " + name(*element) +
                            ", expected at most " + text(cursor.remaining() / least) +
                            ", which the rest of the file can hold");
  value.element = *element;
  value.count = *count;
  value.offset = cursor.position();
  if (uint32_t size = width(*element)) {
    if (Status status = cursor.skip(*count * size, place, "a list"); !status)
      return status;
    return *element == ValueType::Bool ? checkBooleans(place, value) : Status();
  }
  for (uint64_t i = 0; i < *count; ++i) {
    Value inner;
    if (*element == ValueType::Array) {
      if (Status status = readArray(place, inner, depth + 1); !status)
        return status;
      continue;
    }
    Result<uint64_t> length = cursor.number(8, place, "a string's length");
    if (!length)
      return length.takeError();
    if (Status status = cursor.skip(*length, place, "a string"); !status)
      return status;
  }
  return {};
}

Status Parser::readValue(const std::string &place, Value &value) {
  Result<ValueType> type = readType(place, "the type of a value");
  if (!type)
    return type.takeError();
  value.type = *type;
  if (*type == ValueType::Array)
    return readArray(place, value, 1);
  uint64_t size = width(*type);
  if (*type == ValueType::String) {
    Result<uint64_t> length = cursor.number(8, place, "a string's length");
    if (!length)
      return length.takeError();
    size = value.count = *length;
  }
  value.offset = cursor.position();
  if (Status status = cursor.skip(size, place, "a value"); !status)
    return status;
  return *type == ValueType::Bool ? checkBooleans(place, value) : Status();
}

Status Parser::readKey(uint64_t index) {
  KeyValue entry;
  Result<std::string> key =
      readName("key " + text(index + 1) + " of " + text(keyCount), maxKeyBytes);
  if (!key)
    return key.takeError();
  entry.key = std::move(*key);
  if (!container.keyIndex.emplace(entry.key, container.metadata.size()).second)
    return error(keyPlace(entry.key), "found the key twice, expected each key once");
  if (Status status = readValue(keyPlace(entry.key), entry.value); !status)
    return status;
  container.metadata.push_back(std::move(entry));
  return {};
}

Result<uint64_t> Parser::readAlignment() const {
  auto found = container.keyIndex.find("general.alignment");
  if (found == container.keyIndex.end())
    return defaultAlignment;
  const Value &value = container.metadata[found->second].value;
  std::string place = keyPlace("general.alignment");
  if (value.type != ValueType::U32)
    return error(place,
                 std::string("found a value of type ") + name(value.type) + ", expected u32");
  uint64_t alignment = 0;
  for (uint32_t i = 0; i < 4; ++i)
    alignment |= uint64_t(static_cast<unsigned char>(cursor.view(value.offset, 4)[i])) << (8 * i);
  if (alignment < 8 || alignment > maxAlignment || (alignment & (alignment - 1)) != 0)
    return error(place, "found " + text(alignment) + ", expected a power of two from 8 to " +
                            text(maxAlignment));
  return alignment;
}

// `count`: of the tensor's values.
Status Parser::readShape(const std::string &place, StoredTensor &tensor, uint64_t &count) {
  Result<uint64_t> dimensions = cursor.number(4, place, "the number of dimensions");
  if (!dimensions)
    return dimensions.takeError();
  if (*dimensions < 1 || *dimensions > maxDimensions)
    return error(place, "found " + text(*dimensions) + " dimensions, expected 1 to " +
                            text(maxDimensions));
  constexpr uint64_t most = static_cast<uint64_t>(model::maxElements);
  count = 1;
  for (uint64_t i = 0; i < *dimensions; ++i) {
    Result<uint64_t> size = cursor.number(8, place, "a dimension");
    if (!size)
      return size.takeError();
    if (*size < 1 || *size > most / count)
      return error(place, "found dimension " + text(i + 1) + " of " + text(*size) +
                              ", expected 1 to " + text(most / count) + " (a tensor has at most " +
                              text(most) + " values)");
    count *= *size;
    tensor.shape.insert(tensor.shape.begin(), static_cast<int64_t>(*size));
  }
  return {};
}

Status Parser::readTensor(uint64_t index) {
  StoredTensor tensor;
  Result<std::string> name =
      readName("tensor " + text(index + 1) + " of " + text(tensorCount), maxTensorNameBytes);
  if (!name)
    return name.takeError();
  tensor.name = std::move(*name);
  std::string place = tensorPlace(tensor.name);
  if (!container.tensorIndex.emplace(tensor.name, container.table.size()).second)
    return error(place, "found the tensor twice, expected each tensor once");
  uint64_t count = 0;
  if (Status status = readShape(place, tensor, count); !status)
    return status;
  Result<uint64_t> type = cursor.number(4, place, "the type of a tensor");
  if (!type)
    return type.takeError();
  tensor.type = findBlockType(static_cast<uint32_t>(*type));
  if (!tensor.type)
    return error(place, "found type number " + text(*type) + ", expected " + readableTypes(true));
  if (static_cast<uint64_t>(tensor.columns()) % tensor.type->values != 0)
    return error(place, "found rows of " + text(static_cast<uint64_t>(tensor.columns())) +
                            " values of type " + tensor.type->name + ", expected a multiple of " +
                            text(tensor.type->values));
  tensor.bytes = count / tensor.type->values * tensor.type->bytes;
  Result<uint64_t> offset = cursor.number(8, place, "the offset of a tensor");
  if (!offset)
    return offset.takeError();
  tensor.begin = *offset; // from the start of the data, until placeTensors
  container.table.push_back(std::move(tensor));
  return {};
}

// Offsets count from the first aligned byte after the metadata.
Status Parser::placeTensors(uint64_t alignment) {
  uint64_t start = (cursor.position() + alignment - 1) / alignment * alignment;
  uint64_t available = file->size > start ? file->size - start : 0;
  for (StoredTensor &tensor : container.table) {
    std::string place = tensorPlace(tensor.name);
    if (tensor.begin % alignment != 0)
      return error(place, "found offset " + text(tensor.begin) + ", expected a multiple of " +
                              text(alignment) + " (general.alignment)");
    if (tensor.begin > available || tensor.bytes > available - tensor.begin)
      return error(place, "found " + text(tensor.bytes) + " bytes at offset " + text(tensor.begin) +
                              ", expected all of them within the " + text(available) +
                              " bytes of data; the file may be cut off");
    tensor.begin += start;
  }
  return {};
}

Status Parser::checkOverlaps() const {
  std::vector<const StoredTensor *> order;
  for (const StoredTensor &tensor : container.table)
    order.push_back(&tensor);
  std::sort(order.begin(), order.end(), [](const StoredTensor *a, const StoredTensor *b) {
    return a->begin != b->begin ? a->begin < b->begin : a->name < b->name;
  });
  for (size_t i = 1; i < order.size(); ++i) {
    const StoredTensor &before = *order[i - 1], &tensor = *order[i];
    if (uint64_t end = before.begin + before.bytes; tensor.begin < end)
      return error(tensorPlace(tensor.name), "found data that begin at byte " + text(tensor.begin) +
                                                 ", expected byte " + text(end) + " or later")
          .withNote(noteAt(file->path, tensorPlace(before.name),
                           "this tensor of shape " + shapeText(before.shape) + " ends at byte " +
                               text(end)));
  }
  return {};
}

Result<Container> Parser::parse() {
  if (Status status = readFrame(); !status)
    return status.takeError();
  for (uint64_t i = 0; i < keyCount; ++i)
    if (Status status = readKey(i); !status)
      return status.takeError();
  Result<uint64_t> alignment = readAlignment();
  if (!alignment)
    return alignment.takeError();
  for (uint64_t i = 0; i < tensorCount; ++i)
    if (Status status = readTensor(i); !status)
      return status.takeError();
  if (Status status = placeTensors(*alignment); !status)
    return status.takeError();
  if (Status status = checkOverlaps(); !status)
    return status.takeError();
  container.bytes = cursor.takeBytes();
  container.file = file;
  return std::move(container);
}

Result<Container> Container::open(const std::string &path) {
  Result<std::shared_ptr<File>> file = File::open(path, "a GGUF file");
  if (!file)
    return file.takeError();
  return Parser(std::move(*file)).parse();
}

} // namespace llmc::gguf
