// SPDX-License-Identifier: Apache-2.0
// Numbers as text and back, as Python writes and reads them. Independent of the program's locale.
#pragma once

#include "runtime/text/template/Value.h"

namespace llmc::templates {

// Text of a number in place.
struct NumberText {
  char bytes[352];
  size_t size = 0;
  Text text() const { return Text(bytes, size); }
};

NumberText printInteger(int64_t value);
// The shortest digits that read back as the same number: 0.1, 1e+16, -0.0, inf, nan.
NumberText printFloat(double value);
// With a fixed number of digits after the point, at most 30.
NumberText printFixed(double value, int digits);

// An optional sign, digits of the base with single underscores between them; a prefix 0x, 0o or 0b
// where the base is that one's, or 0, which means what the prefix says. False if it is no such
// number or beyond 64 bits.
bool parseInteger(Text text, int base, int64_t *value);
// "1", "1.5", ".5", "1e9", "inf", "nan"; underscores between digits. False if it is none.
bool parseFloat(Text text, double *value);

} // namespace llmc::templates
