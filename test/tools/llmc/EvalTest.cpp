// SPDX-License-Identifier: Apache-2.0
// `llmc eval`: statistics by hand, a text's loss from the engine's own logits, and models against
// themselves, altered copies and .npy files.
#include "test/frontends/Support.h"
#include "test/tools/llmc/DemoModel.h"
#include "test/tools/llmc/Program.h"
#include "tools/llmc/EvalStatistics.h"
#include "tools/llmc/NpyReader.h"
#include "tools/llmc/TokenIds.h"
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace llmc::test {
namespace {

using tool::divergence;
using tool::logSumExp;

// ---- Statistics ----

TEST(EvalStatistics, LogSumExpByHand) {
  const float logits[] = {0, std::log(2.f), std::log(5.f)};
  EXPECT_NEAR(logSumExp(logits, 3), std::log(8.0), 1e-7);
  const float large[] = {1e30f, 1e30f};
  EXPECT_EQ(logSumExp(large, 2), static_cast<double>(1e30f));
  const float broken[] = {0, std::numeric_limits<float>::quiet_NaN()};
  EXPECT_FALSE(std::isfinite(logSumExp(broken, 2)));
}

TEST(EvalStatistics, DivergenceByHand) {
  // p = (1/4, 3/4), q = (1/2, 1/2): 1/4 ln 1/2 + 3/4 ln 3/2
  const float p[] = {0, std::log(3.f)}, q[] = {7, 7};
  const double expected = 0.25 * std::log(0.5) + 0.75 * std::log(1.5);
  EXPECT_NEAR(divergence(p, logSumExp(p, 2), q, logSumExp(q, 2), 2), expected, 1e-7);
  EXPECT_NE(divergence(q, logSumExp(q, 2), p, logSumExp(p, 2), 2), expected);
  EXPECT_EQ(divergence(p, logSumExp(p, 2), p, logSumExp(p, 2), 2), 0);
  // A token that p never takes counts nothing.
  const float never[] = {-3e38f, 0};
  EXPECT_NEAR(divergence(never, logSumExp(never, 2), q, logSumExp(q, 2), 2), std::log(2.0), 1e-7);
}

TEST(EvalStatistics, NinetyNineOfAHundredAreNoLarger) {
  std::vector<double> values;
  for (int i = 100; i > 0; --i)
    values.push_back(i);
  EXPECT_EQ(tool::percentile99(values), 99);
  values.push_back(1000);
  EXPECT_EQ(tool::percentile99(values), 100);
  EXPECT_EQ(tool::percentile99({5}), 5);
  EXPECT_EQ(tool::percentile99({}), 0);
  EXPECT_EQ(tool::meanOf({1, 2, 6}), 3);
}

// ---- The command ----

std::vector<int32_t> someIds(size_t count) {
  std::vector<int32_t> ids;
  for (size_t i = 0; i < count; ++i)
    ids.push_back(static_cast<int32_t>(i * i * 7 % 40));
  return ids;
}

// The number after "WHAT: " in what was printed.
double valueOf(const Outcome &outcome, const std::string &what) {
  const std::string text = "\n" + outcome.out;
  const size_t at = text.find("\n" + what + ": ");
  EXPECT_NE(at, text.npos) << what << " in " << outcome.out << outcome.error;
  return at == text.npos ? -1 : std::strtod(&text[at + what.size() + 3], nullptr);
}

class Eval : public testing::Test {
protected:
  Outcome eval(std::vector<std::string> more, const std::string &model = demoPath()) {
    std::vector<std::string> arguments = {"eval", model, "--ids", folder.file("ids")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return llmc(arguments);
  }
  void writeIds(const std::vector<int32_t> &ids) { folder.write("ids", tool::joinIds(ids)); }

  TemporaryFolder folder;
  DemoModel demo;
};

// Mean of -ln softmax(logits of token i)[token i + 1] in the plainest way.
double lossOf(const DemoModel &demo, const std::vector<int32_t> &ids) {
  const std::vector<float> logits = demo.logits(ids);
  const size_t vocabulary = logits.size() / ids.size();
  long double sum = 0;
  for (size_t i = 0; i + 1 < ids.size(); ++i) {
    long double total = 0;
    for (size_t v = 0; v < vocabulary; ++v)
      total += std::exp(static_cast<long double>(logits[i * vocabulary + v]));
    sum += std::log(total) -
           static_cast<long double>(logits[i * vocabulary + static_cast<size_t>(ids[i + 1])]);
  }
  return static_cast<double>(sum / static_cast<long double>(ids.size() - 1));
}

TEST_F(Eval, LossIsThatOfTheLogits) {
  const std::vector<int32_t> ids = someIds(150);
  writeIds(ids);
  const Outcome outcome = eval({});
  ASSERT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_TRUE(contains(outcome.out, "tokens: 150 in 1 window, 149 predicted")) << outcome.out;
  const double loss = lossOf(demo, ids);
  EXPECT_NEAR(valueOf(outcome, "mean NLL"), loss, 1e-5);
  EXPECT_NEAR(valueOf(outcome, "perplexity"), std::exp(loss), 1e-3);
  EXPECT_EQ(eval({"--threads", "1"}).out, outcome.out);
}

TEST_F(Eval, WindowsAreTextsOfTheirOwn) {
  const std::vector<int32_t> ids = someIds(100);
  writeIds(ids);
  const Outcome outcome = eval({"--window", "60"});
  EXPECT_TRUE(contains(outcome.out, "tokens: 100 in 2 windows, 98 predicted")) << outcome.out;
  const std::vector<int32_t> first(ids.begin(), ids.begin() + 60),
      rest(ids.begin() + 60, ids.end());
  EXPECT_NEAR(valueOf(outcome, "mean NLL"),
              (lossOf(demo, first) * 59 + lossOf(demo, rest) * 39) / 98, 1e-5);
  EXPECT_NEAR(valueOf(eval({"--tokens", "60"}), "mean NLL"), lossOf(demo, first), 1e-5);
}

TEST_F(Eval, NothingDivergesFromItself) {
  writeIds(someIds(90));
  const Outcome outcome = eval({"--against", demoPath()});
  ASSERT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_EQ(valueOf(outcome, "mean KL"), 0);
  EXPECT_EQ(valueOf(outcome, "largest KL"), 0);
  EXPECT_EQ(valueOf(outcome, "top-1 agreement"), 100);
  EXPECT_EQ(valueOf(outcome, "its mean NLL"), valueOf(outcome, "mean NLL"));
}

TEST_F(Eval, AnAlteredCopyDiverges) {
  const std::vector<int32_t> ids = someIds(40);
  writeIds(ids);
  DemoModel altered;
  const auto *weights = reinterpret_cast<const float *>(
      reinterpret_cast<const char *>(&altered.artifact().weights_delta) +
      altered.artifact().weights_delta);
  for (size_t i = 0; i < 400; ++i)
    altered.alter(weights[i], weights[i] * 1.1f + 0.01f);
  altered.writeCopy(folder.file("altered.so"));
  const Outcome outcome = eval({"--against", folder.file("altered.so")});
  ASSERT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_GT(valueOf(outcome, "mean KL"), 1e-6);
  EXPECT_GE(valueOf(outcome, "p99 KL"), valueOf(outcome, "mean KL"));
  EXPECT_NE(valueOf(outcome, "its mean NLL"), valueOf(outcome, "mean NLL"));
  // The other way round it is another number.
  const Outcome turned = eval({"--against", demoPath()}, folder.file("altered.so"));
  EXPECT_EQ(valueOf(turned, "its mean NLL"), valueOf(outcome, "mean NLL"));
  EXPECT_NE(valueOf(turned, "mean KL"), valueOf(outcome, "mean KL"));
}

TEST_F(Eval, LogitsMayComeFromAFile) {
  const std::vector<int32_t> ids = someIds(70);
  writeIds(ids);
  ASSERT_EQ(llmc({"run", demoPath(), "--prompt-ids", tool::joinIds(ids), "--max-new-tokens", "0",
                  "--logits-out", folder.file("l.npy")})
                .code,
            0);
  const Outcome outcome = eval({"--against", folder.file("l.npy")});
  ASSERT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_EQ(valueOf(outcome, "mean KL"), 0);
  // One number of one row that is wrong shows.
  std::string bytes = readFile(folder.file("l.npy"));
  const float wrong = 9;
  bytes.replace(bytes.size() - 4 * 40 * 3, sizeof wrong,
                std::string(reinterpret_cast<const char *>(&wrong), sizeof wrong));
  folder.write("wrong.npy", bytes);
  EXPECT_GT(valueOf(eval({"--against", folder.file("wrong.npy")}), "largest KL"), 0.01);
}

TEST_F(Eval, WrongRequestsAreNamed) {
  writeIds(someIds(50));
  folder.write("one", "5");
  folder.write("far", "1,2,40");
  folder.write("text", "hello");
  folder.write("short.npy", std::string("\x93NUMPY\1\0\6\0", 10) + "{'descr");
  folder.write("wide.npy", std::string("\x93NUMPY\1\0\x3c\0", 10) +
                               "{'descr': '<f4', 'fortran_order': False, 'shape': (50, 40), }");
  const auto ids = [&](const char *file) {
    return llmc({"eval", demoPath(), "--ids", folder.file(file)});
  };
  const std::vector<std::pair<Outcome, const char *>> cases = {
      {ids("one"), "one: error: found 1 tokens, expected at least 2"},
      {ids("far"), "far: id 3: error: found 40, expected 0 to 39"},
      {ids("nothing"), "nothing: error: cannot be read"},
      {eval({"--window", "1001"}), "--window: error: found 1001, expected 2 to 1000"},
      {eval({"--against", "/no/such.so"}), "/no/such.so: error: "},
      {eval({"--against", folder.file("short.npy")}), "short.npy: header: error: "},
      {eval({"--against", folder.file("wide.npy")}), "wide.npy: error: found another length"},
      {llmc({"eval", demoPath(), "--text", folder.file("text")}), "demo.so: error: "},
      {llmc({"eval", DEMO_FOLDER, "--ids", folder.file("ids")}), "not compiled"},
  };
  for (const auto &[outcome, expected] : cases) {
    EXPECT_EQ(outcome.code, 1) << expected;
    EXPECT_TRUE(contains(outcome.error, expected)) << outcome.error;
    EXPECT_EQ(std::count(outcome.error.begin(), outcome.error.end(), '\n'), 1) << outcome.error;
    EXPECT_EQ(outcome.out, "");
  }
  EXPECT_EQ(llmc({"eval", demoPath()}).code, 2);
  EXPECT_EQ(eval({"--text", "-"}).code, 2);
}

// ---- .npy ----

TEST(NpyReader, RefusesWhatIsNotItsKind) {
  TemporaryFolder folder;
  const auto refuse = [&](const std::string &header, const char *words) {
    std::string bytes("\x93NUMPY\1\0", 8);
    bytes += static_cast<char>(header.size());
    bytes += '\0';
    folder.write("a.npy", bytes + header + std::string(16, '\0'));
    Result<tool::NpyReader> reader = tool::NpyReader::open(folder.file("a.npy"));
    ASSERT_FALSE(reader) << header;
    EXPECT_TRUE(contains(reader.error().message, words)) << reader.error().message;
  };
  refuse("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }", "expected '<f4'");
  refuse("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }", "in C order");
  refuse("{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }", "two dimensions");
  refuse("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2, 2), }", "two dimensions");
  refuse("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }", "another length");
  refuse("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4), }",
         "another length");
  folder.write("ok.npy", std::string("\x93NUMPY\1\0\x3b\0", 10) +
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }" +
                             std::string(16, '\0'));
  EXPECT_TRUE(tool::NpyReader::open(folder.file("ok.npy")));
}

} // namespace
} // namespace llmc::test
