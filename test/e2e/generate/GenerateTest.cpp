// SPDX-License-Identifier: Apache-2.0
//
// Text from compiled models: prompt lookup gives the tokens of plain decoding, on texts that repeat
// and on texts that mislead; a seed gives the same text alone and among four; a prompt of 4,000
// tokens can be cancelled.
#include "llmc/generate.h"
#include "test/e2e/Goldens.h"
#include "test/e2e/compiled/CompileModel.h"
#include "test/e2e/compiled/Runner.h"

#include <chrono>
#include <filesystem>
#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>

namespace llmc::test {
namespace {

using Tokens = std::vector<int32_t>;
using Chain = std::vector<llmc_transform>;

const Chain kGreedy = {{LLMC_TEMPERATURE, 0, 0, 0}};
const Chain kWarm = {{LLMC_REPETITION_PENALTY, 32, 1.1f, 0},
                     {LLMC_TEMPERATURE, 0, 0.9f, 0},
                     {LLMC_TOP_K, 20, 0, 0},
                     {LLMC_TOP_P, 0, 0.95f, 0}};

std::string modelPath(const std::string &name) {
  std::filesystem::create_directories(LLMC_TEST_MODELS);
  return std::string(LLMC_TEST_MODELS) + "/" + name + "-" + std::to_string(getpid());
}

struct Setup {
  Chain chain = kGreedy;
  uint32_t drafts = 0;
  uint64_t sequence = 0;
};

class Writer {
public:
  Writer(Runner &runner, const Setup &setup) : drafts(setup.drafts), sequence(runner.sequence()) {
    const llmc_sampler_options sampler = {
        sizeof sampler, static_cast<uint32_t>(setup.chain.size()), setup.chain.data(), 7, nullptr,
        nullptr};
    llmc_generator_options options = {};
    options.struct_size = sizeof options;
    options.draft_tokens = setup.drafts;
    options.sampler = &sampler;
    options.sequence_id = setup.sequence;
    options.ignore_stop_ids = 1;
    error.struct_size = sizeof error;
    EXPECT_EQ(llmc_generator_create(runner.session(), sequence, &options, &generator, &error),
              LLMC_OK)
        << error.message;
  }
  ~Writer() {
    llmc_generator_destroy(generator);
    llmc_sequence_release(sequence, nullptr);
  }

  Tokens write(const Tokens &prompt, size_t count) {
    EXPECT_EQ(llmc_generator_prompt(generator, prompt.data(), uint32_t(prompt.size()), &error),
              LLMC_OK)
        << error.message;
    Tokens written;
    while (written.size() < count) {
      llmc_generated generated = {};
      generated.struct_size = sizeof generated;
      const llmc_status status =
          llmc_generator_next(generator, uint32_t(count - written.size()), &generated, &error);
      EXPECT_EQ(status, LLMC_OK) << error.message;
      if (status)
        break;
      written.insert(written.end(), generated.tokens, generated.tokens + generated.n_tokens);
      drafted += generated.n_drafted;
      accepted += generated.n_accepted;
    }
    return written;
  }

  const uint32_t drafts;
  llmc_sequence *sequence;
  llmc_generator *generator = nullptr;
  llmc_error error = {};
  uint32_t drafted = 0, accepted = 0;
};

// The same few tokens over and over.
Tokens friendly(uint32_t vocabulary) {
  const Tokens part = someTokens(9, vocabulary, 3);
  Tokens tokens;
  for (int i = 0; i < 10; ++i)
    tokens.insert(tokens.end(), part.begin(), part.end());
  return tokens;
}

// Few tokens in all orders: each ending was seen before, with another token behind it.
Tokens hostile(uint32_t vocabulary) {
  Tokens tokens;
  for (int32_t token : someTokens(160, vocabulary, 4))
    tokens.push_back(token % 4);
  return tokens;
}

class Generate : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    path = modelPath(GetParam()) + ".so";
    ModelRequest request;
    request.input = goldenModel(GetParam());
    request.output = path;
    request.maxSequence = 512;
    Result<CompiledModel> compiled = compileModel(request);
    ASSERT_TRUE(compiled) << compiled.error().str();
  }
  void TearDown() override {
    std::error_code code;
    std::filesystem::remove(path, code);
  }
  std::string path;
};

TEST_P(Generate, draftsChangeNoToken) {
  uint32_t accepted = 0, rejected = 0;
  for (const Chain &chain : {kGreedy, kWarm, Chain{}}) {
    Runner runner(path, {2, nullptr, Junk::QuietNaN, 0, 1, 256, 8});
    ASSERT_TRUE(runner.ok()) << runner.error();
    for (const Tokens &prompt : {friendly(runner.vocabulary()), hostile(runner.vocabulary())}) {
      const Tokens expected = Writer(runner, {chain}).write(prompt, 256);
      for (const uint32_t drafts : {3u, 7u}) {
        Writer writer(runner, {chain, drafts});
        EXPECT_EQ(writer.write(prompt, 256), expected) << drafts << " drafts";
        accepted += writer.accepted;
        rejected += writer.drafted - writer.accepted;
      }
    }
  }
  // Else nothing was shown.
  EXPECT_GT(accepted, 100u);
  EXPECT_GT(rejected, 100u);
}

// Greedy as the engine's oldest road gives it: a step a token, the argmax.
TEST_P(Generate, greedyIsTheArgmaxOfEachStep) {
  Runner runner(path, {1, nullptr, Junk::QuietNaN, 1024, 2, 256, 256});
  ASSERT_TRUE(runner.ok()) << runner.error();
  const Tokens prompt = friendly(runner.vocabulary());
  llmc_sequence *sequence = runner.sequence();
  const Logits logits = runner.feed(sequence, prompt, prompt.size());
  const float *last = logits.data() + logits.size() - runner.vocabulary();
  EXPECT_EQ(Writer(runner, {kGreedy, 7}).write(prompt, 256), runner.greedy(sequence, last, 256));
}

TEST_P(Generate, aSeedGivesTheSameTextAloneAndAmongFour) {
  constexpr size_t count = 64;
  Tokens alone[4], texts[4];
  for (uint32_t i = 0; i < 4; ++i) {
    Runner runner(path, {1, nullptr, Junk::Noise, 0, 1, 256, 8});
    ASSERT_TRUE(runner.ok()) << runner.error();
    texts[i] = someTokens(3 + 20 * i, runner.vocabulary(), i);
    alone[i] = Writer(runner, {kWarm, i % 2 ? 7u : 0u, i}).write(texts[i], count);
  }
  Runner runner(path, {2, nullptr, Junk::QuietNaN, 512, 4, 256, 256});
  ASSERT_TRUE(runner.ok()) << runner.error();
  // Their steps interleave: every sequence has some rows in each.
  std::vector<Piece> pieces;
  std::vector<llmc_sampler *> samplers(4);
  llmc_context *context = nullptr;
  ASSERT_EQ(llmc_context_create(nullptr, &context, nullptr), LLMC_OK);
  const llmc_sampler_options options = {
      sizeof options, uint32_t(kWarm.size()), kWarm.data(), 7, nullptr, nullptr};
  llmc_sampler *sampler = nullptr;
  ASSERT_EQ(llmc_sampler_create(context, runner.vocabulary(), &options, &sampler, nullptr),
            LLMC_OK);
  for (const Tokens &text : texts)
    pieces.push_back({runner.sequence(), text});
  const std::vector<Tokens> prompts(texts, texts + 4);
  for (size_t step = 0; step < count; ++step) {
    const Logits logits = runner.step(pieces);
    ASSERT_TRUE(runner.ok()) << runner.error();
    size_t row = 0;
    for (uint32_t i = 0; i < 4; ++i) {
      row += pieces[i].tokens.size();
      const auto n = uint32_t(texts[i].size());
      const llmc_sample_input input = {sizeof input,
                                       n,
                                       &logits[(row - 1) * runner.vocabulary()],
                                       texts[i].data(),
                                       uint32_t(prompts[i].size()),
                                       0,
                                       i,
                                       n,
                                       nullptr};
      llmc_sample_result result = {};
      result.struct_size = sizeof result;
      ASSERT_EQ(llmc_sample(sampler, &input, &result, nullptr), LLMC_OK);
      texts[i].push_back(result.token);
      pieces[i].tokens = {result.token};
    }
  }
  llmc_sampler_destroy(sampler);
  llmc_context_destroy(context);
  for (uint32_t i = 0; i < 4; ++i)
    EXPECT_EQ(Tokens(texts[i].end() - long(count), texts[i].end()), alone[i]) << i;
}

INSTANTIATE_TEST_SUITE_P(models, Generate, testing::Values("llama-three-heads-65", "qwen3-bias"),
                         [](const testing::TestParamInfo<const char *> &info) {
                           std::string name = info.param;
                           for (char &letter : name)
                             letter = letter == '-' ? '_' : letter;
                           return name;
                         });

// What is asserted is the outcome; how soon it comes is in runtime/engine/README.md.
TEST(Cancel, aPromptOf4000TokensCanBeCancelled) {
  const std::string path = modelPath("cancel");
  RandomModel model;
  model.hidden = 256;
  model.mlp = 512;
  model.layers = 4;
  model.maxPositions = 4096;
  ASSERT_TRUE(writeRandomModel(model, path + ".json").ok());
  ModelRequest request;
  request.input = path + ".json";
  request.output = path + ".so";
  Result<CompiledModel> compiled = compileModel(request);
  ASSERT_TRUE(compiled) << compiled.error().str();
  {
    Runner runner(path + ".so", {2, nullptr, Junk::QuietNaN, 4096, 1, 256, 1});
    ASSERT_TRUE(runner.ok()) << runner.error();
    const Tokens prompt = someTokens(4000, runner.vocabulary(), 1);
    llmc_sequence *sequence = runner.sequence();
    const Tokens some(prompt.begin(), prompt.begin() + 90);
    ASSERT_EQ(llmc_prefill(runner.session(), sequence, some.data(), 90, nullptr, nullptr), LLMC_OK);
    std::thread canceller([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      llmc_session_cancel(runner.session());
    });
    // 3,910 more at a time, again and again, so that the wish finds one of them running.
    llmc_status status = LLMC_OK;
    for (int i = 0; i < 100 && status == LLMC_OK; ++i) {
      ASSERT_EQ(llmc_sequence_truncate(sequence, 90, nullptr), LLMC_OK);
      status = llmc_prefill(runner.session(), sequence, prompt.data() + 90, 3910, nullptr, nullptr);
    }
    canceller.join();
    EXPECT_EQ(status, LLMC_CANCELLED);
    EXPECT_EQ(llmc_sequence_length(sequence), 90u);
  }
  std::error_code code;
  std::filesystem::remove(path + ".so", code);
  std::filesystem::remove(path + ".json", code);
}

} // namespace
} // namespace llmc::test
