// SPDX-License-Identifier: Apache-2.0
#include "tools/llmc/TokenIds.h"
#include <gtest/gtest.h>

namespace llmc::test {
namespace {

TEST(TokenIds, CommasSpacesAndLineEndsPartIds) {
  using Ids = std::vector<int64_t>;
  EXPECT_EQ(tool::parseIds("1,2,3").ids, (Ids{1, 2, 3}));
  EXPECT_EQ(tool::parseIds(" 1 , 2\n3 -4\r\n").ids, (Ids{1, 2, 3, -4}));
  EXPECT_EQ(tool::parseIds(" \n").ids, Ids{});
}

TEST(TokenIds, ErrorsNameThePlaceInTheList) {
  const std::vector<std::pair<const char *, const char *>> cases = {
      {"1,,2", "id 2: found \"\""},
      {",1", "id 1: found \"\""},
      {"1,", "id 2: found \"\""},
      {"1,2x", "id 2: found \"2x\""},
      {"1.5", "id 1: found \"1.5\""},
      {"+1", "id 1: found \"+1\""},
      {"99999999999999999999", "id 1: found"},
      {"1;2", "id 1: found \"1;2\""},
  };
  for (const auto &[text, expected] : cases) {
    const tool::ParsedIds parsed = tool::parseIds(text);
    const std::string message = parsed.badPlace + ": " + parsed.badText;
    EXPECT_EQ(message.rfind(expected, 0), 0u) << message;
  }
}

TEST(TokenIds, JoinedIdsAreParsedBack) {
  EXPECT_EQ(tool::joinIds({}), "");
  EXPECT_EQ(tool::joinIds({7}), "7");
  EXPECT_EQ(tool::joinIds({1, 20, 3}), "1,20,3");
}

} // namespace
} // namespace llmc::test
