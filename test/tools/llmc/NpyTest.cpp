// SPDX-License-Identifier: Apache-2.0
#include "tools/llmc/Npy.h"
#include "test/frontends/Support.h"
#include "test/tools/llmc/Program.h"
#include <cstring>
#include <gtest/gtest.h>

namespace llmc::test {
namespace {

TEST(Npy, HeaderThenValuesRowAfterRow) {
  TemporaryFolder folder;
  const float values[] = {1, 2, 3, -4, 5, 0.5f};
  ASSERT_TRUE(tool::writeNpy(folder.file("a.npy"), values, 2, 3));
  const std::string bytes = readFile(folder.file("a.npy"));
  // Magic, version 1.0, a header of 0x76 bytes that ends at 128.
  const std::string dictionary = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  ASSERT_EQ(bytes.size(), 128 + sizeof values);
  EXPECT_EQ(bytes.substr(0, 10), std::string("\x93NUMPY\1\0\x76\0", 10));
  EXPECT_EQ(bytes.substr(10, 118), dictionary + std::string(117 - dictionary.size(), ' ') + "\n");
  EXPECT_EQ(memcmp(&bytes[128], values, sizeof values), 0);
}

TEST(Npy, NoRowsIsAHeaderAlone) {
  TemporaryFolder folder;
  ASSERT_TRUE(tool::writeNpy(folder.file("a.npy"), nullptr, 0, 3));
  EXPECT_EQ(readFile(folder.file("a.npy")).size(), 128u);
}

} // namespace
} // namespace llmc::test
