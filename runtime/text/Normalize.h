// SPDX-License-Identifier: Apache-2.0
// The steps that change a text before it is cut into words.
#pragma once

#include "runtime/text/Array.h"
#include "runtime/text/Tables.h"

namespace llmc::text {

// Unicode's normal forms, linear in the length of the text whatever it holds.
// Appends `text`, well-formed, in `form` (LLMC_TEXT_NFC, ..._NFD, ..._NFKC, ..._NFKD).
class NormalForm {
public:
  explicit NormalForm(const Allocator &allocator) : points(allocator), sorted(allocator) {}
  void append(Array<char> &out, Text text, uint32_t form);
  bool failed() const { return points.failed() || sorted.failed(); }

private:
  void island(Array<char> &out, Text text, uint32_t form);
  void order();
  void sortMarks(size_t begin, size_t end);

  Array<int32_t> points;
  Array<int32_t> sorted;
};

} // namespace llmc::text
