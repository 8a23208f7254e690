// SPDX-License-Identifier: Apache-2.0
// `llmc tokenize` on the demo model with a tokenizer, and on a tokenizer.json alone: ids on one
// line, bytes as they are, and one line for what is wrong.
#include "test/frontends/Support.h"
#include "test/frontends/text/TinyTokenizer.h"
#include "test/tools/llmc/Program.h"
#include <gtest/gtest.h>

namespace llmc::test {
namespace {

Outcome tokenize(std::vector<std::string> more, std::string_view input = "") {
  more.insert(more.begin(), {"tokenize", demoPath("demo_text")});
  return llmc(more, input);
}

TEST(Tokenize, TextFileAndStandardInputGiveTheSameLine) {
  TemporaryFolder folder;
  folder.write("text", "hello");
  const Outcome text = tokenize({"--text", "hello"});
  EXPECT_EQ(text.code, 0) << text.error;
  EXPECT_EQ(text.out, "7,4,11,11,14\n");
  EXPECT_EQ(tokenize({"--file", folder.file("text")}).out, text.out);
  EXPECT_EQ(tokenize({"--file", "-"}, "hello").out, text.out);
  EXPECT_EQ(tokenize({"--text", ""}).out, "\n");
}

TEST(Tokenize, DecodedBytesAreAllThatIsPrinted) {
  const Outcome outcome = tokenize({"--decode", "7, 4,11\n11 14"});
  EXPECT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_EQ(outcome.out, "hello");
  EXPECT_EQ(tokenize({"--decode", "38,7"}).out, "<|im_start|>h");
}

TEST(Tokenize, SpecialTokensAreReadOrNot) {
  EXPECT_EQ(tokenize({"--text", "<|im_end|>a"}).out, "39,0\n");
  EXPECT_EQ(tokenize({"--text", "<|im_end|>a", "--parse-special"}).out, "39,0\n");
  EXPECT_NE(tokenize({"--text", "<|im_end|>a", "--no-parse-special"}).out, "39,0\n");
}

TEST(Tokenize, SourcesNeedNoModelAroundThem) {
  TemporaryFolder folder;
  folder.write("tokenizer.json", tinyCharacters().dump());
  folder.write("tokenizer_config.json", R"({"bos_token": "<s>"})");
  EXPECT_EQ(llmc({"tokenize", folder.path, "--text", "ab c"}).out, "1,3,7,3,6\n");
  EXPECT_EQ(llmc({"tokenize", folder.path, "--text", "ab c", "--no-bos"}).out, "3,7,3,6\n");
  EXPECT_EQ(llmc({"tokenize", folder.path, "--text", "ab c", "--add-bos"}).out, "1,3,7,3,6\n");
  Json bytes = tinyBytes(); // whose texts begin with nothing
  bytes["post_processor"] = nullptr;
  folder.write("tokenizer.json", bytes.dump());
  EXPECT_EQ(llmc({"tokenize", folder.path, "--text", "ab"}).out, "7\n");
  EXPECT_EQ(llmc({"tokenize", folder.path, "--text", "ab", "--add-bos"}).out, "1,7\n");
}

TEST(Tokenize, WhatIsWrongIsOneLine) {
  const struct {
    std::vector<std::string> arguments;
    int code;
    const char *text;
  } cases[] = {
      {{"--decode", "7,999"}, 1, "--decode: id 2: error: found token id 999, expected 0 to "},
      {{"--decode", "7,x"}, 1, "--decode: id 2: error: found"},
      {{"--file", "/nowhere"}, 1, "/nowhere: error: "},
      {{"--chat", "/nowhere"}, 1, "/nowhere: error: "},
      {{}, 2, "found none of --text, --file, --decode and --chat, expected one of them"},
      {{"--text", "a", "--decode", "1"}, 2, "found both of --text and --decode"},
      {{"--text", "a", "--add-bos", "--no-bos"}, 2, "found both of --add-bos and --no-bos"},
  };
  for (const auto &one : cases) {
    const Outcome outcome = tokenize(one.arguments);
    EXPECT_EQ(outcome.code, one.code) << one.text;
    EXPECT_TRUE(contains(outcome.error, one.text)) << outcome.error;
    EXPECT_EQ(outcome.error.find('\n'), outcome.error.size() - 1) << outcome.error;
    EXPECT_EQ(outcome.out, "");
  }
  EXPECT_TRUE(contains(llmc({"tokenize", demoPath(), "--text", "a"}).error,
                       "error: found a model without a tokenizer"));
}

TEST(Tokenize, MessagesMustBeMessages) {
  TemporaryFolder folder;
  const std::string deep(1000000, '[');
  const struct {
    std::string text, error;
  } all[] = {
      {"", "found malformed JSON"},
      {"[1", "found malformed JSON"},
      {"[\"\xff\"]", "found malformed JSON"},
      {deep, "found JSON nested more than 64 deep"},
      {deep + std::string(deep.size(), ']'), "found JSON nested more than 64 deep"},
      {"[]", "found no messages"},
      {"{}", "found no messages"},
      {"7", "found no messages"},
      {"{\"messages\": 1}", "found no messages"},
  };
  for (const auto &one : all) {
    folder.write("m.json", one.text);
    const Outcome outcome = tokenize({"--chat", folder.file("m.json")});
    EXPECT_EQ(outcome.code, 1) << one.text.substr(0, 100);
    EXPECT_TRUE(contains(outcome.error, "m.json: error: " + one.error)) << outcome.error;
  }
  for (const char *text : {"[{\"role\": 1}]", "[{\"role\": null}]", "[{\"role\": []}]", "[1]", "[[]]"}) {
    folder.write("m.json", text); // what that means is the template's to say
    const Outcome outcome = tokenize({"--chat", folder.file("m.json")});
    EXPECT_TRUE(outcome.code == 0 || outcome.code == 1) << text << outcome.code;
  }
  folder.write("m.json", R"([{"role": "user", "content": "hi"}])");
  const Outcome outcome = tokenize({"--chat", folder.file("m.json")});
  EXPECT_EQ(outcome.out, "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n")
      << outcome.error;
}

} // namespace
} // namespace llmc::test
