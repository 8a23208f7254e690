// SPDX-License-Identifier: Apache-2.0
// Format versions 1.0 and 2.0. The header is a Python dictionary, of which three keys matter; what
// numpy writes is looked for, and nothing else is taken.
#include "tools/llmc/NpyReader.h"
#include <cerrno>
#include <charconv>
#include <cstring>

namespace llmc::tool {
namespace {

constexpr size_t kLongestHeader = 1u << 16;

// What follows `key` in the header, spaces left out.
std::string_view valueOf(std::string_view header, std::string_view key) {
  const size_t at = header.find(key);
  if (at == header.npos)
    return {};
  header.remove_prefix(at + key.size());
  header.remove_prefix(std::min(header.find_first_not_of(": "), header.size()));
  return header;
}

bool takeNumber(std::string_view &text, uint64_t &number) {
  text.remove_prefix(std::min(text.find_first_not_of("(, "), text.size()));
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return code == std::errc();
}

bool readShape(std::string_view header, uint64_t shape[2]) {
  std::string_view text = valueOf(header, "'shape'");
  if (text.empty() || text[0] != '(' || !takeNumber(text, shape[0]) || !takeNumber(text, shape[1]))
    return false;
  text.remove_prefix(std::min(text.find_first_not_of(", "), text.size()));
  return !text.empty() && text[0] == ')';
}

} // namespace

Result<NpyReader> NpyReader::open(const std::string &path) {
  NpyReader reader;
  reader.path = path;
  reader.file.reset(fopen(path.c_str(), "rb"));
  if (!reader.file)
    return errorAt(path, "", std::string("cannot be read: ") + strerror(errno));
  FILE *file = reader.file.get();
  unsigned char start[12] = {};
  const bool hasStart = fread(start, 1, 10, file) == 10 && !memcmp(start, "\x93NUMPY", 6);
  size_t length = start[8] | static_cast<size_t>(start[9]) << 8;
  if (hasStart && start[6] == 2 && fread(start + 10, 1, 2, file) == 2)
    length |= static_cast<size_t>(start[10]) << 16 | static_cast<size_t>(start[11]) << 24;
  if (!hasStart || start[6] < 1 || start[6] > 2 || length > kLongestHeader)
    return errorAt(path, "header", "found none of a .npy file, expected version 1.0 or 2.0");
  std::string header(length, '\0');
  if (fread(header.data(), 1, length, file) != length)
    return errorAt(path, "header", "found a file that ends inside it, expected all of it");
  if (valueOf(header, "'descr'").substr(0, 5) != "'<f4'" ||
      valueOf(header, "'fortran_order'").substr(0, 5) != "False" ||
      !readShape(header, reader.shape))
    return errorAt(path, "header",
                   "found " + escaped(header, 120) +
                       ", expected '<f4' in C order with two dimensions");
  const long data = ftell(file);
  const uint64_t limit = uint64_t(1) << 46;
  const bool isSmall = reader.rows() < limit && reader.columns() < limit &&
                       (!reader.columns() || reader.rows() < limit / reader.columns());
  const uint64_t bytes = isSmall ? reader.rows() * reader.columns() * sizeof(float) : 0;
  if (!isSmall || fseek(file, 0, SEEK_END) ||
      static_cast<uint64_t>(ftell(file)) != static_cast<uint64_t>(data) + bytes ||
      fseek(file, data, SEEK_SET))
    return errorAt(path, "",
                   "found another length than the header's " + std::to_string(reader.rows()) +
                       " rows of " + std::to_string(reader.columns()) +
                       " values take, expected it");
  return reader;
}

Status NpyReader::readRows(float *data, uint64_t count) {
  const size_t values = count * columns();
  if (fread(data, sizeof(float), values, file.get()) == values)
    return {};
  return errorAt(path, "", "found the end of the file, expected more rows");
}

} // namespace llmc::tool
