// SPDX-License-Identifier: Apache-2.0
// Plain stdio underneath.
#include "tools/llmc/Format.h"
#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace llmc::tool {

std::string formatted(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  va_list again;
  va_copy(again, arguments);
  const int length = vsnprintf(nullptr, 0, format, arguments);
  va_end(arguments);
  std::string text(static_cast<size_t>(std::max(length, 0)), '\0');
  vsnprintf(text.data(), text.size() + 1, format, again);
  va_end(again);
  return text;
}

std::string sizeInWords(uint64_t bytes) {
  static constexpr const char *kUnits[] = {"KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes) / 1024;
  if (value < 1)
    return formatted("%llu bytes", static_cast<unsigned long long>(bytes));
  size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(kUnits); ++unit)
    value /= 1024;
  return formatted("%.1f %s (%llu bytes)", value, kUnits[unit],
                   static_cast<unsigned long long>(bytes));
}

std::string timeInWords(double seconds) {
  if (seconds < 1e-3)
    return formatted("%.1f us", seconds * 1e6);
  if (seconds < 1)
    return formatted("%.2f ms", seconds * 1e3);
  return formatted("%.2f s", seconds);
}

Table::Table(std::vector<std::string> headings) {
  for (std::string &heading : headings) {
    right.push_back(!heading.empty() && heading[0] == '>');
    if (right.back())
      heading.erase(0, 1);
  }
  rows.push_back(std::move(headings));
}

void Table::add(std::vector<std::string> cells) { rows.push_back(std::move(cells)); }

std::string Table::text() const {
  std::vector<size_t> widths(right.size());
  for (const std::vector<std::string> &row : rows)
    for (size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const std::vector<std::string> &row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string gap(widths[i] - row[i].size(), ' ');
      line += i ? "  " : "";
      line += right[i] ? gap + row[i] : row[i] + gap;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

void print(std::string_view text) { fwrite(text.data(), 1, text.size(), stdout); }

Status finishOutput() {
  errno = 0;
  if (!fflush(stdout) && !ferror(stdout))
    return {};
  const std::string reason = errno ? strerror(errno) : "an earlier write failed";
  return errorAt("standard output", "", "cannot be written: " + reason);
}

int withOutput(int status) {
  Status written = finishOutput();
  if (written || status)
    return status;
  fprintf(stderr, "%s\n", written.error().str().c_str());
  return 1;
}

} // namespace llmc::tool
