// SPDX-License-Identifier: Apache-2.0
// `llmc run` with text: the demo model with a small tokenizer. What is shown is the text of the ids
// that the same prompt as ids gives; conversations keep their meaning turn by turn, and Ctrl-C ends
// an answer only.
#include "test/frontends/Support.h"
#include "test/tools/llmc/Program.h"
#include "tools/llmc/TokenIds.h"
#include <algorithm>
#include <csignal>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace llmc::test {
namespace {

using Arguments = std::vector<std::string>;

const std::string kBytes = "abcdefghijklmnopqrstuvwxyz \n.,?!-:\xc3\xa9\x30\x31";

// Ids of a text of known bytes, special tokens written out.
std::vector<int32_t> idsOf(std::string text) {
  std::vector<int32_t> ids;
  while (!text.empty()) {
    size_t used = 1;
    if (!text.rfind("<|im_start|>", 0)) {
      ids.push_back(38);
      used = 12;
    } else if (!text.rfind("<|im_end|>", 0)) {
      ids.push_back(39);
      used = 10;
    } else if (kBytes.find(text[0]) != kBytes.npos) {
      ids.push_back(static_cast<int32_t>(kBytes.find(text[0])));
    } else {
      ADD_FAILURE() << "no token for byte " << static_cast<int>(text[0]);
    }
    text.erase(0, used);
  }
  return ids;
}

// The text of ids: halves of a character that stand alone are U+FFFD, special tokens nothing.
std::string textOf(const std::vector<int32_t> &ids) {
  std::string text;
  bool pending = false; // the first half came last
  const auto close = [&] {
    text += pending ? "\xef\xbf\xbd" : "";
    pending = false;
  };
  for (const int32_t id : ids) {
    if (id >= 38)
      continue;
    if (id == 35 && pending) {
      text += "\xc3\xa9";
      pending = false;
      continue;
    }
    close();
    if (id == 34)
      pending = true;
    else
      text +=
          id == 35 ? std::string("\xef\xbf\xbd") : std::string(1, kBytes[static_cast<size_t>(id)]);
  }
  close();
  return text;
}

Outcome run(Arguments more, std::string_view input = "", const char *model = "demo_text") {
  Arguments arguments = {"run", demoPath(model)};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return llmc(arguments, input);
}

std::vector<int32_t> newIds(const std::string &prompt, Arguments more) {
  more.insert(more.end(), {"--prompt-ids", tool::joinIds(idsOf(prompt))});
  const Outcome outcome = run(more);
  EXPECT_EQ(outcome.code, 0) << outcome.error;
  std::vector<int32_t> ids;
  for (const int64_t id : tool::parseIds(outcome.lastLine()).ids)
    ids.push_back(static_cast<int32_t>(id));
  return ids;
}

// Something to say with every seed.
Arguments warm(const char *seed, const char *count = "60") {
  return {"--temperature", "2", "--seed", seed, "--max-new-tokens", count};
}

Arguments joined(Arguments first, const Arguments &second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

TEST(Text, WhatIsShownIsTheTextOfTheIds) {
  size_t broken = 0;
  for (const char *seed : {"1", "2", "3", "4", "5"}) {
    const std::string expected = textOf(newIds("hello, you", warm(seed)));
    const Outcome outcome = run(joined(warm(seed), {"--prompt", "hello, you"}));
    EXPECT_EQ(outcome.code, 0) << outcome.error;
    EXPECT_EQ(outcome.out, expected + "\n") << seed;
    EXPECT_TRUE(contains(outcome.error, "prompt: 10 tokens")) << outcome.error;
    broken += contains(expected, "\xef\xbf\xbd");
  }
  EXPECT_GT(broken, 0u); // else halves of characters were not tried
}

TEST(Text, PromptMayComeFromAFileOrStandardInput) {
  TemporaryFolder folder;
  folder.write("prompt", "hello");
  const std::string expected = run(joined(warm("1"), {"--prompt", "hello"})).out;
  EXPECT_EQ(run(joined(warm("1"), {"--prompt-file", folder.file("prompt")})).out, expected);
  EXPECT_EQ(run(joined(warm("1"), {"--prompt-file", "-"}), "hello").out, expected);
}

TEST(Text, IdsAreTheLastLineWhereAskedFor) {
  const Outcome outcome = run(joined(warm("1"), {"--prompt", "hello", "--print-ids"}));
  EXPECT_EQ(outcome.out, tool::joinIds(newIds("hello", warm("1"))) + "\n");
}

TEST(Text, ChatIsTheTemplateAroundTheMessage) {
  const std::string user = "<|im_start|>user\nwho is it?<|im_end|>\n<|im_start|>assistant\n";
  EXPECT_EQ(run(joined(warm("7"), {"--prompt", "who is it?", "--chat", "--print-ids"})).out,
            tool::joinIds(newIds(user, warm("7"))) + "\n");
  const std::string system = "<|im_start|>system\nbe kind.<|im_end|>\n";
  EXPECT_EQ(
      run(joined(warm("7"), {"--prompt", "who is it?", "--system", "be kind.", "--print-ids"})).out,
      tool::joinIds(newIds(system + user, warm("7"))) + "\n");
}

TEST(Text, StopStringsEndTheTextBeforeThem) {
  const std::string whole = run(joined(warm("4"), {"--prompt", "hello", "--ignore-eos"})).out;
  for (const size_t at : {3u, 11u, 20u}) {
    // A string of three characters from the middle; where it comes first the text ends.
    size_t begin = at;
    while (static_cast<unsigned char>(whole[begin]) >= 0x80)
      ++begin;
    const std::string stop = whole.substr(begin, 3);
    for (const char *drafts : {"", "ngram"}) {
      Arguments more = joined(
          warm("4"), {"--prompt", "hello", "--ignore-eos", "--stop", "not there", "--stop", stop});
      if (*drafts)
        more.insert(more.end(), {"--speculate", drafts});
      EXPECT_EQ(run(more).out, whole.substr(0, whole.find(stop)) + "\n") << stop;
    }
  }
  // Ids end with the token that completed the string.
  const std::string stop = whole.substr(4, 2);
  const Arguments ids = {"--prompt", "hello", "--ignore-eos", "--stop", stop, "--print-ids"};
  std::vector<int32_t> expected = newIds("hello", joined(warm("4"), {"--ignore-eos"}));
  const Outcome outcome = run(joined(warm("4"), ids));
  const size_t count = tool::parseIds(outcome.lastLine()).ids.size();
  ASSERT_LT(count, expected.size());
  expected.resize(count);
  EXPECT_EQ(outcome.lastLine(), tool::joinIds(expected));
}

TEST(Text, DefaultIsAsManyAsFit) {
  const std::string prompt(990, 'a');
  const Outcome outcome = run({"--prompt", prompt, "--ignore-eos"});
  EXPECT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_TRUE(contains(outcome.error, "new: 10 tokens")) << outcome.error;
}

TEST(Text, WrongRequestsAreNamed) {
  const std::vector<std::pair<Arguments, const char *>> cases = {
      {{"--prompt", std::string(1000, 'a')},
       "--prompt: error: found 1000 prompt tokens, expected at most 999, so that one can follow"},
      {{"--prompt", std::string(990, 'a'), "--max-new-tokens", "11"},
       "found 990 prompt tokens and 11 new ones"},
      {{"--prompt", "hello", "--stop", ""}, "--stop: error: stop strings: string 0"},
      {{"--prompt-ids", "1", "--stop", std::string(70000, 'x')}, "--stop: error: "},
  };
  for (const auto &[arguments, expected] : cases) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, 1) << outcome.error;
    EXPECT_TRUE(contains(outcome.error, expected)) << outcome.error;
    EXPECT_EQ(std::count(outcome.error.begin(), outcome.error.end(), '\n'), 1) << outcome.error;
    EXPECT_EQ(outcome.out, "");
  }
  TemporaryFolder folder;
  folder.write("nul", std::string("a\0b", 3));
  const Outcome outcome = run({"--prompt-file", folder.file("nul"), "--chat"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(contains(outcome.error, "nul: byte 2: error: found a NUL")) << outcome.error;
}

// ---- Conversations ----

std::string turn(const std::string &role, const std::string &content) {
  return "<|im_start|>" + role + "\n" + content + "<|im_end|>\n";
}

TEST(Text, EachTurnSeesTheOnesBefore) {
  const Arguments options = {"--temperature", "0.5", "--max-new-tokens", "30", "--top-k", "30"};
  std::string history, expected;
  for (const char *message : {"hello", "who are you?", "good"}) {
    history += turn("user", message);
    const Outcome answer = run(joined(options, {"--prompt", history + "<|im_start|>assistant\n"}));
    ASSERT_EQ(answer.code, 0) << answer.error;
    expected += answer.out;
    history += turn("assistant", answer.out.substr(0, answer.out.size() - 1));
  }
  for (const char *drafts : {"", "ngram"}) {
    Arguments more = joined(options, {"--chat"});
    if (*drafts)
      more.insert(more.end(), {"--speculate", drafts});
    const Outcome outcome = run(more, "hello\nwho are you?\n\ngood");
    EXPECT_EQ(outcome.code, 0) << outcome.error;
    EXPECT_EQ(outcome.out, expected);
    EXPECT_TRUE(contains(outcome.error, "tok/s")) << outcome.error;
  }
}

TEST(Text, ABadMessageIsToldAndForgotten) {
  const std::string expected = run({"--chat"}, "hello\nagain\n").out;
  const Outcome outcome =
      run({"--chat"}, "hello\n" + std::string(2000, 'a') + "\n\xff\xfe\nagain\n");
  EXPECT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_EQ(outcome.out, expected);
  EXPECT_TRUE(contains(outcome.error, "message: error: found a conversation of "));
  EXPECT_TRUE(contains(outcome.error, "message: byte 1: error: found 0xff, expected UTF-8"));
}

TEST(Text, AnAnswerThatIsCutSaysWhy) {
  const Outcome few = run({"--chat", "--ignore-eos", "--max-new-tokens", "5"}, "hello\n");
  EXPECT_TRUE(contains(few.error, "(cut after --max-new-tokens 5)")) << few.error;
  const Outcome full = run({"--chat", "--ignore-eos"}, std::string(900, 'a') + "\n");
  EXPECT_EQ(full.code, 0) << full.error;
  EXPECT_TRUE(contains(full.error, "(cut: the model has 1000 positions, and all are in use)"))
      << full.error;
}

TEST(Text, ModelWithoutATemplateSaysSoFirst) {
  const Outcome outcome = run({"--chat"}, "hello\n", "demo");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(contains(outcome.error, "demo.so: error: ")) << outcome.error;
  EXPECT_EQ(outcome.out, "");
}

// A conversation whose input and signals come from the test.
class Talk {
public:
  explicit Talk(const Arguments &arguments) {
    int in[2], out[2];
    EXPECT_EQ(pipe(in) | pipe(out), 0);
    child = fork();
    if (!child) {
      dup2(in[0], 0);
      dup2(out[1], 1);
      for (const int end : {in[0], in[1], out[0], out[1]})
        close(end);
      std::vector<char *> words;
      for (const std::string &word : arguments)
        words.push_back(const_cast<char *>(word.c_str()));
      words.push_back(nullptr);
      execv(LLMC_PROGRAM, words.data());
      _exit(127);
    }
    close(in[0]);
    close(out[1]);
    input = in[1];
    output = out[0];
  }
  ~Talk() { close(output); }

  void say(const std::string &line) {
    EXPECT_EQ(write(input, line.data(), line.size()), static_cast<ssize_t>(line.size()));
  }
  // At least one byte more, or nothing at the end.
  std::string hear() {
    char bytes[4096];
    const ssize_t count = read(output, bytes, sizeof bytes);
    return std::string(bytes, static_cast<size_t>(std::max<ssize_t>(count, 0)));
  }
  void interrupt() { kill(child, SIGINT); }
  // Ends the input; the rest of what is said, and the exit code, or 128 + signal.
  std::pair<std::string, int> finish() {
    close(input);
    std::string rest;
    for (std::string more = hear(); !more.empty(); more = hear())
      rest += more;
    int status = 0;
    waitpid(child, &status, 0);
    return {rest, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status)};
  }

private:
  pid_t child = -1;
  int input = -1, output = -1;
};

// The slow demo, so that the signal finds an answer being written. Whatever the moment: the program
// lives, and the next answer comes.
TEST(Text, InterruptEndsTheAnswerAlone) {
  Talk talk({"llmc", "run", demoPath("demo_text_delay"), "--chat", "--ignore-eos", "--temperature",
             "1.5"});
  talk.say("hello\n");
  std::string heard = talk.hear();
  EXPECT_FALSE(heard.empty());
  talk.interrupt();
  // The end of the first answer, and at least something of the second.
  while (heard.back() != '\n') {
    const std::string more = talk.hear();
    ASSERT_FALSE(more.empty());
    heard += more;
  }
  talk.say("again\n");
  EXPECT_FALSE(talk.hear().empty());
  talk.interrupt();
  talk.interrupt();
  const auto [rest, code] = talk.finish();
  EXPECT_EQ(code, 0);
  EXPECT_EQ(rest.back(), '\n');
}

TEST(Text, InterruptWhileNothingIsSaidIsForgotten) {
  const std::string expected = run({"--chat"}, "hello\n").out;
  Talk talk({"llmc", "run", demoPath("demo_text"), "--chat"});
  // Once it has answered it handles the signal.
  talk.say("hello\n");
  std::string heard;
  while (heard.size() < expected.size()) {
    const std::string more = talk.hear();
    ASSERT_FALSE(more.empty());
    heard += more;
  }
  talk.interrupt();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  talk.say("hello\n");
  EXPECT_FALSE(talk.hear().empty());
  EXPECT_EQ(talk.finish().second, 0);
  EXPECT_EQ(heard, expected);
}

} // namespace
} // namespace llmc::test
