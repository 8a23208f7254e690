// SPDX-License-Identifier: Apache-2.0
// Numbers out of text, one by one, so that an error can say which.
#include "tools/llmc/TokenIds.h"
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>

namespace llmc::tool {
namespace {

constexpr std::string_view kSpace = " \t\r\n";
constexpr uint64_t kLargestFile = uint64_t(64) << 20;

// Takes the text up to the next comma or, where there is none between two ids, the next space.
std::string_view takeItem(std::string_view &text) {
  const size_t end = std::min(text.find_first_of(", \t\r\n"), text.size());
  const std::string_view item = text.substr(0, end);
  text.remove_prefix(end);
  text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
  if (!text.empty() && text.front() == ',') {
    text.remove_prefix(1);
    text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
    if (text.empty())
      text = ","; // a comma at the end: an item is missing after it
  }
  return item;
}

} // namespace

ParsedIds parseIds(std::string_view text) {
  ParsedIds parsed;
  text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
  while (!text.empty()) {
    const std::string_view item = takeItem(text);
    int64_t id = 0;
    const auto [end, code] = std::from_chars(item.data(), item.data() + item.size(), id);
    if (code != std::errc() || end != item.data() + item.size()) {
      parsed.badPlace = "id " + std::to_string(parsed.ids.size() + 1);
      parsed.badText = "found \"" + escaped(item, 40) + "\", expected a token id, a whole number";
      break;
    }
    parsed.ids.push_back(id);
  }
  return parsed;
}

Result<std::string> readSmallFile(const std::string &path, const char *what) {
  const std::unique_ptr<FILE, int (*)(FILE *)> opened(
      path == "-" ? nullptr : fopen(path.c_str(), "rb"), [](FILE *file) { return fclose(file); });
  FILE *file = path == "-" ? stdin : opened.get();
  std::string text;
  char piece[1 << 16];
  while (file && text.size() <= kLargestFile) {
    const size_t count = fread(piece, 1, sizeof piece, file);
    text.append(piece, count);
    if (count < sizeof piece)
      break;
  }
  const std::string name = path == "-" ? "standard input" : path;
  if (!file || ferror(file))
    return errorAt(name, "", std::string("cannot be read: ") + strerror(errno));
  if (text.size() > kLargestFile)
    return errorAt(name, "",
                   "found more than " + std::to_string(kLargestFile) + " bytes, expected " + what +
                       " of at most so many");
  return text;
}

std::string joinIds(const std::vector<int32_t> &ids) {
  std::string text;
  for (const int32_t id : ids)
    text += (text.empty() ? "" : ",") + std::to_string(id);
  return text;
}

} // namespace llmc::tool
