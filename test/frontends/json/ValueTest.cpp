// SPDX-License-Identifier: Apache-2.0
#include "frontends/json/Value.h"

#include "../Support.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

using namespace llmc;
using namespace llmc::json;

static std::string errorOf(std::string_view text) {
  Result<Value> value = parse(text, "f.json");
  return value ? "parsed" : value.error().message;
}

TEST(Json, ReadsEveryKindOfValue) {
  Result<Value> value = parse(R"({"a": [1, -2.5, "x\u00e4", true, null], "b": {}})", "f.json");
  ASSERT_TRUE(value.ok());
  const Value &list = *value->find("a");
  ASSERT_EQ(list.size(), 5u);
  EXPECT_EQ(list[0].integer, 1);
  EXPECT_EQ(list[1].real, -2.5);
  EXPECT_EQ(list[2].text(), "x\xC3\xA4");
  EXPECT_TRUE(list[3].boolean);
  EXPECT_TRUE(list[4].is(Value::Kind::Null));
  EXPECT_TRUE(value->find("b")->is(Value::Kind::Object));
  EXPECT_EQ(value->find("c"), nullptr);
}

TEST(Json, AnIntegerBeyond64BitsIsNotAnInteger) {
  EXPECT_TRUE(parse("9223372036854775807", "f")->is(Value::Kind::Integer));
  EXPECT_TRUE(parse("9223372036854775808", "f")->is(Value::Kind::Real));
  EXPECT_TRUE(parse("1e3", "f")->is(Value::Kind::Real));
}

TEST(Json, MalformedTextIsRefusedWithLineAndColumn) {
  EXPECT_EQ(errorOf("{\n  \"a\": tru\n}"), "f.json: line 2, column 11: error: found malformed JSON "
                                           "at '\"a\": tru<U+000A>', expected a JSON value");
  EXPECT_EQ(errorOf("{\"a\" 1}"),
            "f.json: line 1, column 6: error: found malformed JSON at '1', expected ':'");
  EXPECT_EQ(errorOf(""), "f.json: line 1, column 1: error: found malformed JSON at the end of the "
                         "file, expected '[', '{', or a literal");
  EXPECT_NE(errorOf("[1] 2").find("expected end of input"), std::string::npos);
  EXPECT_NE(errorOf("[1e999]").find("expected a JSON value"), std::string::npos);
  EXPECT_NE(errorOf("\"\xC3\"").find("error: found malformed JSON"), std::string::npos);
}

TEST(Json, DuplicateKeysAreRefusedWithTheirObject) {
  EXPECT_EQ(errorOf(R"({"x": [0, {"a": 1, "b": 2, "a": 3}]})"),
            "f.json: /x/1: error: found key \"a\" twice, expected each key once");
}

TEST(Json, TheSameKeyInDifferentObjectsIsFine) {
  EXPECT_EQ(errorOf(R"({"a": {"a": {"a": 1}}})"), "parsed");
}

TEST(Json, NestingOfAHundredThousandIsRefused) {
  std::string lists(100000, '[');
  EXPECT_NE(errorOf(lists).find("found JSON nested deeper than 64 levels, expected at most 64"),
            std::string::npos);
  std::string objects;
  for (int i = 0; i < 100000; ++i)
    objects += "{\"a\":";
  EXPECT_NE(errorOf(objects).find("found JSON nested deeper than 64 levels"), std::string::npos);
  EXPECT_EQ(errorOf(std::string(64, '[') + std::string(64, ']')), "parsed");
}

TEST(Json, ManyTinyValuesAreRefusedBeforeTheyFillMemory) {
  std::string text = "[0";
  for (int i = 0; i < 200000; ++i)
    text += ",0";
  EXPECT_NE(errorOf(text + "]").find("found far more values than a file of 400003 bytes needs"),
            std::string::npos);
}

TEST(Describe, NamesValuesForMessages) {
  EXPECT_EQ(describe(*parse("1e-5", "f")), "1e-05");
  EXPECT_EQ(describe(*parse("[1,2]", "f")), "a list of 2");
  EXPECT_EQ(describe(*parse("{}", "f")), "an object");
  EXPECT_EQ(describe(*parse(R"("a\u001b")", "f")), "\"a\\x1B\"");
}

TEST(ReadTextFile, RefusesFoldersPipesAndLargeFiles) {
  test::TemporaryFolder folder;
  folder.write("large.json", std::string(100, ' '));
  ASSERT_EQ(mkfifo(folder.file("pipe").c_str(), 0600), 0);
  EXPECT_EQ(readTextFile(folder.file("large.json"), 99).error().message,
            folder.file("large.json") + ": error: found 100 bytes, expected at most 99");
  EXPECT_NE(readTextFile(folder.path, 10).error().message.find("not a regular file"),
            std::string::npos);
  EXPECT_NE(readTextFile(folder.file("pipe"), 10).error().message.find("not a regular file"),
            std::string::npos);
  EXPECT_NE(readTextFile(folder.file("none"), 10).error().message.find("found no readable file"),
            std::string::npos);
}
