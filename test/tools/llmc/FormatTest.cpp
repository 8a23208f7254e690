// SPDX-License-Identifier: Apache-2.0
#include "tools/llmc/Format.h"
#include <gtest/gtest.h>

namespace llmc::test {
namespace {

TEST(Format, SizesHaveUnitsAndTheExactNumber) {
  EXPECT_EQ(tool::sizeInWords(0), "0 bytes");
  EXPECT_EQ(tool::sizeInWords(1023), "1023 bytes");
  EXPECT_EQ(tool::sizeInWords(1536), "1.5 KiB (1536 bytes)");
  EXPECT_EQ(tool::sizeInWords(uint64_t(3) << 30), "3.0 GiB (3221225472 bytes)");
}

TEST(Format, TimesChooseTheirUnit) {
  EXPECT_EQ(tool::timeInWords(12.34e-6), "12.3 us");
  EXPECT_EQ(tool::timeInWords(0.00456), "4.56 ms");
  EXPECT_EQ(tool::timeInWords(1.234), "1.23 s");
}

TEST(Format, TableColumnsLineUp) {
  tool::Table table({"name", ">us", "kernel"});
  table.add({"a", "1.5", "x"});
  table.add({"longer", "100.0", "yy"});
  EXPECT_EQ(table.text(), "name       us  kernel\n"
                          "a         1.5  x\n"
                          "longer  100.0  yy\n");
}

} // namespace
} // namespace llmc::test
