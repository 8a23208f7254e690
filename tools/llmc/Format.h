// SPDX-License-Identifier: Apache-2.0
// Text for people: printf into strings, sizes with units, tables with aligned columns.
#pragma once

#include "dialects/model/Error.h"
#include <cstdint>

namespace llmc::tool {

[[gnu::format(printf, 1, 2)]] std::string formatted(const char *format, ...);

// "512 bytes", "1.5 MiB (1572864 bytes)"
std::string sizeInWords(uint64_t bytes);
// Seconds as "12.3 us", "4.56 ms" or "1.23 s"
std::string timeInWords(double seconds);

// Columns as wide as their widest cell, two spaces between them.
class Table {
public:
  // A heading that starts with '>' is set right, and so is its column.
  explicit Table(std::vector<std::string> headings);
  void add(std::vector<std::string> cells);
  std::string text() const;

private:
  std::vector<std::vector<std::string>> rows;
  std::vector<bool> right;
};

// Prints to stdout; a failure shows in finishOutput.
void print(std::string_view text);
// Whether all that was printed has arrived, a full disk being the usual reason why not.
Status finishOutput();
// The exit code of a command once all of its output is written: 1, with a message, where it is not.
int withOutput(int status);

} // namespace llmc::tool
