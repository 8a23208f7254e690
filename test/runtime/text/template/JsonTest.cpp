// SPDX-License-Identifier: Apache-2.0
// JSON read into values, seen through what a template prints of them, and what is refused.
#include "Support.h"
#include <gtest/gtest.h>

using namespace llmc::templates;

static std::string printed(const std::string &json) {
  return renderText("{{ v | tojson }}", "{\"v\": " + json + "}").text;
}

TEST(ReadJson, EveryKindOfValue) {
  EXPECT_EQ(printed("null"), "null");
  EXPECT_EQ(printed("true"), "true");
  EXPECT_EQ(printed("-12"), "-12");
  EXPECT_EQ(printed("1.50e2"), "150.0");
  EXPECT_EQ(printed(" [ 1 , [ ] , { } ] "), "[1, [], {}]");
  EXPECT_EQ(printed("{\"a\": {\"b\": \"c\"}, \"d\": 1}"), "{\"a\": {\"b\": \"c\"}, \"d\": 1}");
}

TEST(ReadJson, EscapesAndSurrogates) {
  EXPECT_EQ(printed(R"("\"\\\/\b\f\n\r\t")"), R"("\"\\/\b\f\n\r\t")");
  EXPECT_EQ(printed(R"("\u00e9\ud83d\ude42")"), "\"é🙂\"");
  EXPECT_EQ(printed(R"("\ud83dx")"), "\"\uFFFDx\"");
}

TEST(ReadJson, TheLastOfDoubledKeysHolds) {
  EXPECT_EQ(printed(R"({"a": 1, "b": 2, "a": 3})"), R"({"a": 3, "b": 2})");
}

TEST(ReadJson, IntegersBeyond64BitsBecomeFloats) {
  EXPECT_EQ(printed("9223372036854775807"), "9223372036854775807");
  EXPECT_EQ(printed("9223372036854775808"), "9.223372036854776e+18");
}

TEST(ReadJson, LargeObjectsKeepOrderAndAreFound) {
  std::string json = "{", wanted;
  for (int i = 0; i < 500; ++i)
    json += (i ? ", \"k" : "\"k") + std::to_string(i * 7 % 500) + "\": " + std::to_string(i);
  const Rendering all =
      renderText("{% for k in v %}{{ v[k] }},{% endfor %}{{ v.k7 }}", "{\"v\": " + json + "}}");
  for (int i = 0; i < 500; ++i)
    wanted += std::to_string(i) + ",";
  EXPECT_EQ(all.text, wanted + "1") << all.message;
}

struct Refusal {
  const char *json;
  const char *message;
};

TEST(ReadJson, WhatIsRefusedAndWhere) {
  const Refusal refusals[] = {
      {"", "variables:1:1: error: found the end of the JSON, expected a value"},
      {"{\"a\": }", "variables:1:7: error: found '}', expected a value"},
      {"{\"a\" 1}", "variables:1:6: error: found '1', expected ':'"},
      {"{\"a\": 1", "variables:1:8: error: found the end of the JSON, expected ',' or '}'"},
      {"{a: 1}", "variables:1:2: error: found 'a', expected a key in double quotes"},
      {"{\"a\": 1,}", "variables:1:9: error: found '}', expected a key in double quotes"},
      {"[1 2]", "variables:1:4: error: found '2', expected ',' or ']'"},
      {"{} x", "variables:1:4: error: found 'x', expected the end of the JSON"},
      {"{\"a\":\n  01}", "variables:2:3: error: found '0', expected a number as JSON has it, of at "
                         "most 400 characters"},
      {"{\"a\": -}",
       "variables:1:7: error: found '-', expected a number as JSON has it, of at most "
       "400 characters"},
      {"{\"a\": 1.}", "variables:1:7: error: found '1', expected a number as JSON has it, of at "
                      "most 400 characters"},
      {"{\"a\": nul}", "variables:1:7: error: found 'n', expected a value"},
      {"{\"é\": \"x", "variables:1:7: error: found a string without an end, expected '\"'"},
      {"\"a\nb\"",
       "variables:1:3: error: found a control character in a string, expected an escape "
       "such as \\n"},
      {"\"\\x\"",
       "variables:1:2: error: found a bad escape, expected one of JSON's, such as \\n or "
       "\\u00e9"},
      {"\"\\u12g4\"",
       "variables:1:2: error: found a bad escape, expected one of JSON's, such as \\n "
       "or \\u00e9"},
      {"[1]", "chat template:1:1: error: found a list as its variables, expected a mapping"},
  };
  for (const Refusal &refusal : refusals) {
    const Rendering got = renderText("x", refusal.json);
    EXPECT_EQ(got.status, LLMC_INVALID_ARGUMENT) << refusal.json;
    EXPECT_EQ(got.message, refusal.message) << refusal.json;
  }
}

TEST(ReadJson, DeepNestingIsRefused) {
  const std::string deep = std::string(100000, '[') + std::string(100000, ']');
  const Rendering got = renderText("x", "{\"a\": " + deep + "}");
  EXPECT_EQ(got.status, LLMC_INVALID_ARGUMENT);
  EXPECT_NE(got.message.find("200 levels of nested"), std::string::npos) << got.message;
}
