// SPDX-License-Identifier: Apache-2.0
// Right tables with bytes changed: three bytes of input say which of two kinds, and each following
// group of five changes one place. Opening refuses them, or they are safe to use.
#include "test/fuzz/TinyTokenizers.h"
#include "test/fuzz/UseTokenizer.h"

using namespace llmc;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const std::string kinds[] = {fuzz::tinyTables(true), fuzz::tinyTables(false)};
  if (size < 1)
    return 0;
  std::string tables = kinds[data[0] % 2];
  const bool whole = data[0] & 2; // the rest is the tables themselves
  if (whole)
    tables.assign(reinterpret_cast<const char *>(data + 1), size - 1);
  for (size_t at = 1; !whole && at + 6 <= size; at += 6) {
    uint16_t place;
    memcpy(&place, data + at, sizeof place);
    memcpy(tables.data() + place % (tables.size() - 3), data + at + 2, 4);
  }
  fuzz::useTokenizer(tables, "ab c\xc3\xa9 <s> <l> 1234 \xff ab\r\n  x\xe2\x96\x81y");
  return 0;
}
