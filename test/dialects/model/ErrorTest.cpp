// SPDX-License-Identifier: Apache-2.0
#include "dialects/model/Error.h"

#include <gtest/gtest.h>

using namespace llmc;

TEST(Error, IsOneLineWithItsNotesBelow) {
  Error error = errorAt("a.json", "/x", "found 1, expected 2")
                    .withNote(noteAt("a.json", "/y", "2 comes from here"));
  EXPECT_EQ(error.str(),
            "a.json: /x: error: found 1, expected 2\na.json: /y: note: 2 comes from here");
}

TEST(Error, LeavesOutAnEmptyPlace) {
  EXPECT_EQ(errorAt("a", "", "found b").str(), "a: error: found b");
}

TEST(Error, EscapesControlBytesOfFileNames) {
  EXPECT_EQ(errorAt("a\x1b[2J\n", "", "found b").str(), "a\\x1B[2J\\x0A: error: found b");
}

TEST(Escaped, KeepsTextAndWellFormedUtf8) { EXPECT_EQ(escaped("w\xC3\xA4rme"), "w\xC3\xA4rme"); }

TEST(Escaped, EscapesBrokenUtf8AndControls) {
  EXPECT_EQ(escaped("\xC3"), "\\xC3");
  EXPECT_EQ(escaped("\xC0\x80"), "\\xC0\\x80");          // an overlong zero
  EXPECT_EQ(escaped("\xED\xA0\x80"), "\\xED\\xA0\\x80"); // a surrogate
  EXPECT_EQ(escaped("\xC2\x9B"), "\\xC2\\x9B");          // a control character above 127
  EXPECT_EQ(escaped("\xE2\x80\xAE"), "\\xE2\\x80\\xAE"); // right-to-left override
  EXPECT_EQ(escaped(std::string_view("\0\x7F", 2)), "\\x00\\x7F");
}

TEST(Escaped, ShortensLongText) { EXPECT_EQ(escaped("abcdef", 3), "abc..."); }

TEST(Result, HoldsAValueOrAnError) {
  Result<int> good = 3, bad = errorAt("f", "", "found none");
  ASSERT_TRUE(good.ok());
  EXPECT_EQ(*good, 3);
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().message, "f: error: found none");
}
