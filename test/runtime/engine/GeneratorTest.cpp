// SPDX-License-Identifier: Apache-2.0
// Generators on the demo model: the tokens of plain decoding with and without drafts, alone or in a
// batch, after cancelling and after going back.
#include "llmc/generate.h"
#include "test/runtime/engine/Support.h"
#include <thread>

namespace llmc::test {
namespace {

using Tokens = std::vector<int32_t>;
using Chain = std::vector<llmc_transform>;

const Chain kGreedy = {{LLMC_TEMPERATURE, 0, 0, 0}};
const Chain kWarm = {{LLMC_REPETITION_PENALTY, 20, 1.2f, 0},
                     {LLMC_TEMPERATURE, 0, 0.8f, 0},
                     {LLMC_TOP_K, 12, 0, 0},
                     {LLMC_TOP_P, 0, 0.9f, 0}};
const Chain kPenalised = {{LLMC_FREQUENCY_PENALTY, 0, 0.2f, LLMC_NEW_TOKENS_ONLY},
                          {LLMC_TEMPERATURE, 0, 0, 0}};

struct Setup {
  Chain chain = kGreedy;
  uint32_t drafts = 0;
  uint64_t seed = 1;
  uint64_t sequence = 0;
  bool stopAtEos = false;
};

constexpr llmc_session_options kSizes = {0, 1000, 1, 64, 8, 0};

// A generator on a session of its own.
class Writer {
public:
  explicit Writer(const Setup &setup = {}, llmc_session_options sizes = kSizes,
                  ContextSetup context = {})
      : bench(context, sizes) {
    sequence = bench.sequence();
    llmc_sampler_options sampler = {sizeof sampler,
                                    static_cast<uint32_t>(setup.chain.size()),
                                    setup.chain.data(),
                                    setup.seed,
                                    nullptr,
                                    nullptr};
    llmc_generator_options options = {};
    options.struct_size = sizeof options;
    options.draft_tokens = setup.drafts;
    options.sampler = &sampler;
    options.sequence_id = setup.sequence;
    options.ignore_stop_ids = !setup.stopAtEos;
    EXPECT_EQ(llmc_generator_create(bench.session, sequence, &options, &generator, &bench.error),
              LLMC_OK)
        << bench.error.message;
  }
  ~Writer() { llmc_generator_destroy(generator); }

  void prompt(const Tokens &tokens) {
    EXPECT_EQ(llmc_generator_prompt(generator, tokens.data(), static_cast<uint32_t>(tokens.size()),
                                    &bench.error),
              LLMC_OK)
        << bench.error.message;
  }
  llmc_status next(uint32_t most = 0) {
    generated = {};
    generated.struct_size = sizeof generated;
    const llmc_status status = llmc_generator_next(generator, most, &generated, &bench.error);
    drafted += generated.n_drafted;
    accepted += generated.n_accepted;
    ++steps;
    return status;
  }
  // `count` more tokens.
  Tokens write(size_t count) {
    Tokens written;
    while (written.size() < count) {
      const llmc_status status = next(static_cast<uint32_t>(count - written.size()));
      EXPECT_EQ(status, LLMC_OK) << bench.error.message;
      if (status)
        break;
      written.insert(written.end(), generated.tokens, generated.tokens + generated.n_tokens);
      if (generated.stopped)
        break;
    }
    return written;
  }
  Tokens text() const {
    uint32_t n = 0;
    const int32_t *tokens = llmc_generator_tokens(generator, &n);
    return {tokens, tokens + n};
  }

  Bench bench;
  llmc_sequence *sequence = nullptr;
  llmc_generator *generator = nullptr;
  llmc_generated generated = {};
  uint32_t drafted = 0, accepted = 0, steps = 0;
};

Tokens repeated(const Tokens &part, size_t count) {
  Tokens tokens;
  for (size_t i = 0; i < count; ++i)
    tokens.insert(tokens.end(), part.begin(), part.end());
  return tokens;
}

// Prompts that repeat, so that drafts come and are often right; and one whose endings were each
// followed by something else before.
const Tokens kFriendly = repeated({3, 9, 27, 5, 15}, 12);
Tokens hostile() {
  Tokens tokens;
  for (int32_t i = 0; i < 120; ++i)
    tokens.insert(tokens.end(), {i % 2, i % 3, (i * 7 + i / 5) % 40});
  return tokens;
}

// Greedy tokens by steps and argmax alone.
Tokens plainGreedy(const Tokens &prompt, size_t count) {
  Bench bench({}, kSizes);
  llmc_sequence *sequence = bench.sequence();
  EXPECT_EQ(bench.prefill(sequence, prompt), LLMC_OK);
  Tokens tokens;
  while (tokens.size() < count) {
    tokens.push_back(llmc_argmax(bench.result.logits, kVocabulary));
    EXPECT_EQ(bench.step({rowsOf(sequence, {tokens.back()})}), LLMC_OK);
  }
  return tokens;
}

TEST(Generator, GreedyTokensAreThoseOfPlainSteps) {
  for (const Tokens &prompt : {Tokens{3}, kFriendly, hostile()}) {
    const Tokens expected = plainGreedy(prompt, 256);
    for (const uint32_t drafts : {0u, 1u, 4u, 7u}) {
      Writer writer({kGreedy, drafts});
      writer.prompt(prompt);
      EXPECT_EQ(writer.write(256), expected) << prompt.size() << " tokens, drafts " << drafts;
      EXPECT_EQ(writer.steps == 256, drafts == 0);
    }
  }
}

TEST(Generator, DraftsChangeNoSampledToken) {
  for (const Chain &chain : {kWarm, kPenalised, Chain{}})
    for (const Tokens &prompt : {kFriendly, hostile()}) {
      Writer plain({chain, 0, 5}), drafting({chain, 7, 5});
      plain.prompt(prompt);
      drafting.prompt(prompt);
      EXPECT_EQ(drafting.write(256), plain.write(256));
      EXPECT_GT(drafting.drafted, 0u);
      EXPECT_LT(drafting.accepted, drafting.drafted);
      EXPECT_EQ(plain.drafted, 0u);
    }
}

TEST(Generator, SeedAndSequenceChooseTheText) {
  const auto text = [](uint64_t seed, uint64_t sequence) {
    Writer writer({Chain{}, 0, seed, sequence});
    writer.prompt({1, 2, 3});
    return writer.write(50);
  };
  const Tokens first = text(1, 0);
  EXPECT_EQ(text(1, 0), first);
  EXPECT_NE(text(2, 0), first);
  EXPECT_NE(text(1, 1), first);
}

// Four sequences in common steps, each sampled as if alone.
TEST(Generator, SameSeedSameTextWhateverTheBatch) {
  Tokens alone[4], prompts[4];
  for (uint32_t i = 0; i < 4; ++i) {
    prompts[i] = someTokens(5 + 30 * i, i + 1);
    Writer writer({kWarm, i == 2 ? 5u : 0u, 9, i});
    writer.prompt(prompts[i]);
    alone[i] = writer.write(60);
  }
  Bench bench({2}, {0, 1000, 4, 200, 4, 0});
  const llmc_sampler_options options = {
      sizeof options, static_cast<uint32_t>(kWarm.size()), kWarm.data(), 9, nullptr, nullptr};
  llmc_sampler *sampler = nullptr;
  ASSERT_EQ(llmc_sampler_create(bench.context, kVocabulary, &options, &sampler, nullptr), LLMC_OK);
  llmc_sequence *sequences[4];
  for (llmc_sequence *&sequence : sequences)
    sequence = bench.sequence();
  Tokens texts[4], rows[4];
  for (uint32_t i = 0; i < 4; ++i)
    rows[i] = texts[i] = prompts[i];
  for (int step = 0; step < 60; ++step) {
    ASSERT_EQ(bench.step({rowsOf(sequences[0], rows[0]), rowsOf(sequences[1], rows[1]),
                          rowsOf(sequences[2], rows[2]), rowsOf(sequences[3], rows[3])}),
              LLMC_OK);
    for (uint32_t i = 0; i < 4; ++i) {
      const auto n = static_cast<uint32_t>(texts[i].size());
      const llmc_sample_input input = {sizeof input,
                                       n,
                                       bench.result.logits + i * kVocabulary,
                                       texts[i].data(),
                                       static_cast<uint32_t>(prompts[i].size()),
                                       0,
                                       i,
                                       n,
                                       nullptr};
      llmc_sample_result result = {};
      result.struct_size = sizeof result;
      ASSERT_EQ(llmc_sample(sampler, &input, &result, nullptr), LLMC_OK);
      texts[i].push_back(result.token);
      rows[i] = {result.token};
    }
  }
  llmc_sampler_destroy(sampler);
  for (uint32_t i = 0; i < 4; ++i)
    EXPECT_EQ(slice(texts[i], prompts[i].size(), texts[i].size()), alone[i]) << i;
}

// The cache after drafting is that of plain decoding: later logits have the same bits.
TEST(Generator, DraftsLeaveNoTraceInTheCache) {
  std::vector<uint32_t> logits[2];
  for (const uint32_t drafts : {0u, 7u}) {
    Writer writer({kWarm, drafts});
    writer.prompt(hostile());
    writer.write(150);
    const Tokens more = {writer.text().back(), 8, 8};
    ASSERT_EQ(writer.bench.step({rowsOf(writer.sequence, more)}), LLMC_OK);
    logits[drafts != 0] = writer.bench.logits();
  }
  EXPECT_EQ(logits[0], logits[1]);
}

TEST(Generator, TurnsFollowOneAnother) {
  Writer turns, whole;
  turns.prompt({1, 2, 3});
  Tokens text = {1, 2, 3};
  const Tokens first = turns.write(5);
  turns.prompt({9, 9});
  const Tokens second = turns.write(5);
  text.insert(text.end(), first.begin(), first.end());
  text.insert(text.end(), {9, 9});
  whole.prompt(text);
  EXPECT_EQ(whole.write(5), second);
}

TEST(Generator, GoingBackGivesTheSameTokensAgain) {
  for (const uint32_t drafts : {0u, 7u}) {
    Writer writer({kWarm, drafts});
    writer.prompt(kFriendly);
    const Tokens written = writer.write(100);
    for (const uint32_t kept : {99u, 40u, 0u}) {
      const auto length = static_cast<uint32_t>(kFriendly.size() + kept);
      ASSERT_EQ(llmc_generator_truncate(writer.generator, length, nullptr), LLMC_OK);
      EXPECT_EQ(writer.write(100 - kept), slice(written, kept, 100)) << kept;
    }
  }
  Writer writer;
  EXPECT_EQ(llmc_generator_truncate(writer.generator, 1, &writer.bench.error),
            LLMC_INVALID_ARGUMENT);
  EXPECT_NE(strstr(writer.bench.error.message, "found 1 tokens, expected at most the text's 0"),
            nullptr);
}

TEST(Generator, StopsAtAnId) {
  const Tokens plain = plainGreedy(kFriendly, 40);
  for (const uint32_t drafts : {0u, 7u}) {
    Bench bench({}, kSizes);
    const int32_t stop = plain[20];
    llmc_generator_options options = {};
    options.struct_size = sizeof options;
    options.stop_ids = &stop;
    options.n_stop_ids = 1;
    options.draft_tokens = drafts;
    llmc_generator *generator = nullptr;
    ASSERT_EQ(llmc_generator_create(bench.session, bench.sequence(), &options, &generator, nullptr),
              LLMC_OK);
    ASSERT_EQ(llmc_generator_prompt(generator, kFriendly.data(),
                                    static_cast<uint32_t>(kFriendly.size()), nullptr),
              LLMC_OK);
    llmc_generated generated = {};
    generated.struct_size = sizeof generated;
    Tokens tokens;
    while (!generated.stopped) {
      ASSERT_EQ(llmc_generator_next(generator, 0, &generated, nullptr), LLMC_OK);
      tokens.insert(tokens.end(), generated.tokens, generated.tokens + generated.n_tokens);
    }
    const auto end = std::find(plain.begin(), plain.end(), stop) + 1;
    EXPECT_EQ(tokens, Tokens(plain.begin(), end));
    llmc_generator_destroy(generator);
  }
}

TEST(Generator, NoMoreTokensThanAskedFor) {
  Writer writer({kGreedy, 7});
  writer.prompt(kFriendly);
  for (const uint32_t most : {1u, 2u, 3u, 1u, 5u}) {
    ASSERT_EQ(writer.next(most), LLMC_OK);
    EXPECT_LE(writer.generated.n_tokens, most);
  }
}

// To the last position, and a clear refusal after it.
TEST(Generator, TextEndsWhereTheSessionDoes) {
  for (const uint32_t drafts : {0u, 7u}) {
    Writer writer({kGreedy, drafts}, {0, 70, 1, 20, 8, 0});
    writer.prompt(kFriendly);
    const Tokens tokens = writer.write(11); // the last is never run
    EXPECT_EQ(tokens.size(), 11u);
    EXPECT_EQ(writer.next(), LLMC_SESSION_FULL);
    EXPECT_EQ(writer.text().size(), 71u);
    const Tokens more = {1};
    EXPECT_EQ(llmc_generator_prompt(writer.generator, more.data(), 1, &writer.bench.error),
              LLMC_SESSION_FULL);
    EXPECT_NE(strstr(writer.bench.error.message, "found 1 tokens after 71, expected at most 70"),
              nullptr)
        << writer.bench.error.message;
  }
}

// ---- Cancelling ----

TEST(Generator, CancelledStepChangesNothing) {
  const Tokens expected = plainGreedy(kFriendly, 30);
  Writer writer({kGreedy, 7});
  writer.prompt(kFriendly);
  Tokens written;
  while (written.size() < 30) {
    const Tokens before = writer.text();
    const uint32_t length = llmc_sequence_length(writer.sequence);
    llmc_session_cancel(writer.bench.session);
    ASSERT_EQ(writer.next(), LLMC_CANCELLED);
    EXPECT_EQ(writer.text(), before);
    EXPECT_EQ(llmc_sequence_length(writer.sequence), length);
    const Tokens more = writer.write(1);
    written.insert(written.end(), more.begin(), more.end());
  }
  EXPECT_EQ(written, expected);
}

// From another thread, anywhere inside a long prompt: cancelled with the sequence as it was, or
// through with the right token.
TEST(Generator, LongPromptIsCancelledAnywhere) {
  const Tokens prompt = someTokens(900), expected = plainGreedy(prompt, 3);
  int cancelled = 0;
  for (int i = 0; i < 40; ++i) {
    Writer writer({}, kSizes, {2, nullptr, demo_delay_llmc_query});
    writer.prompt(prompt);
    std::thread canceller([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(700 * i));
      llmc_session_cancel(writer.bench.session);
    });
    const llmc_status status = writer.next();
    canceller.join();
    if (status == LLMC_CANCELLED) {
      ++cancelled;
      EXPECT_EQ(llmc_sequence_length(writer.sequence), 0u);
      EXPECT_EQ(writer.text(), prompt);
    } else {
      ASSERT_EQ(status, LLMC_OK);
      EXPECT_EQ(writer.generated.tokens[0], expected[0]);
    }
  }
  EXPECT_GT(cancelled, 0);
}

// ---- Hooks and mistakes ----

struct MaskSeen {
  Tokens longest;
  int left = 1000;
};
llmc_status maskOne(void *user, const llmc_sample_input *input, uint32_t *allowed) {
  MaskSeen &seen = *static_cast<MaskSeen *>(user);
  if (!seen.left--)
    return LLMC_SYSTEM_ERROR;
  if (input->n_tokens > seen.longest.size())
    seen.longest.assign(input->tokens, input->tokens + input->n_tokens);
  const int32_t only = (input->tokens[input->n_tokens - 1] + 1) % 3; // 0, 1, 2, 0, ...
  allowed[0] = 1u << only;
  allowed[1] = 0;
  return LLMC_OK;
}

TEST(Generator, MaskSeesTheTextThatWouldBe) {
  Bench bench({}, kSizes);
  MaskSeen seen;
  const llmc_sampler_options sampler = {sizeof sampler, 0, nullptr, 1, maskOne, &seen};
  llmc_generator_options options = {};
  options.struct_size = sizeof options;
  options.sampler = &sampler;
  options.draft_tokens = 7;
  llmc_generator *generator = nullptr;
  llmc_sequence *sequence = bench.sequence();
  ASSERT_EQ(llmc_generator_create(bench.session, sequence, &options, &generator, nullptr), LLMC_OK);
  const Tokens prompt = {0, 1, 2, 0};
  ASSERT_EQ(llmc_generator_prompt(generator, prompt.data(), 4, nullptr), LLMC_OK);
  llmc_generated generated = {};
  generated.struct_size = sizeof generated;
  uint32_t accepted = 0;
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(llmc_generator_next(generator, 0, &generated, &bench.error), LLMC_OK);
    accepted += generated.n_accepted;
  }
  uint32_t n = 0;
  const int32_t *tokens = llmc_generator_tokens(generator, &n);
  for (uint32_t i = 0; i < n; ++i)
    EXPECT_EQ(tokens[i], static_cast<int32_t>(i % 3));
  EXPECT_EQ(accepted, n - 4 - 10);
  EXPECT_EQ(seen.longest, Tokens(tokens, tokens + n - 1));
  // A hook that fails in the middle of a draft: nothing has changed.
  seen.left = 3;
  const uint32_t length = llmc_sequence_length(sequence);
  EXPECT_EQ(llmc_generator_next(generator, 0, &generated, &bench.error), LLMC_SYSTEM_ERROR);
  EXPECT_NE(strstr(bench.error.message, "the host's mask gave status 10"), nullptr);
  EXPECT_EQ(llmc_sequence_length(sequence), length);
  uint32_t after = 0;
  llmc_generator_tokens(generator, &after);
  EXPECT_EQ(after, n);
  llmc_generator_destroy(generator);
}

TEST(Generator, WrongUseIsRefused) {
  Bench bench({}, {0, 100, 2, 8, 4, 0});
  llmc_sequence *sequence = bench.sequence();
  llmc_generator *generator = nullptr;
  llmc_generator_options options = {};
  options.struct_size = sizeof options;
  const auto refuse = [&](const char *words) {
    EXPECT_EQ(llmc_generator_create(bench.session, sequence, &options, &generator, &bench.error),
              LLMC_INVALID_ARGUMENT);
    EXPECT_EQ(generator, nullptr);
    EXPECT_NE(strstr(bench.error.message, words), nullptr) << bench.error.message;
  };
  options.draft_tokens = 4;
  refuse("found draft_tokens 4 with max_rows 8 and max_outputs 4, expected at most 7 and fewer");
  options.draft_tokens = 8;
  refuse("found draft_tokens 8");
  options.draft_tokens = 0;
  options.n_stop_ids = 1;
  refuse("found struct_size");
  options.n_stop_ids = 0;
  ASSERT_EQ(bench.prefill(sequence, {1}), LLMC_OK);
  refuse("expected an empty one");
  ASSERT_EQ(llmc_sequence_truncate(sequence, 0, nullptr), LLMC_OK);
  ASSERT_EQ(llmc_generator_create(bench.session, sequence, &options, &generator, nullptr), LLMC_OK);
  llmc_generated generated = {};
  generated.struct_size = sizeof generated;
  EXPECT_EQ(llmc_generator_next(generator, 0, &generated, &bench.error), LLMC_INVALID_ARGUMENT);
  EXPECT_NE(strstr(bench.error.message, "a text without a token"), nullptr);
  const Tokens wrong = {1, 40};
  EXPECT_EQ(llmc_generator_prompt(generator, wrong.data(), 2, &bench.error), LLMC_INVALID_ARGUMENT);
  EXPECT_NE(strstr(bench.error.message, "token 1: error: found id 40, expected 0 to 39"), nullptr);
  uint32_t n = 9;
  llmc_generator_tokens(generator, &n);
  EXPECT_EQ(n, 0u);
  llmc_generator_destroy(generator);
}

TEST(Generator, NoStepAllocates) {
  Writer writer({kWarm, 7});
  writer.prompt(kFriendly);
  const int before = writer.bench.allocator.calls;
  writer.write(200);
  EXPECT_EQ(llmc_generator_truncate(writer.generator, 30, nullptr), LLMC_OK);
  writer.prompt(kFriendly);
  writer.write(20);
  EXPECT_EQ(writer.bench.allocator.calls, before);
}

TEST(Generator, AllocatorMayFailAtAnyCall) {
  for (int n = 0; n < 30; ++n) {
    Bench bench({}, kSizes);
    llmc_sequence *sequence = bench.sequence();
    bench.allocator.failAt = bench.allocator.calls + n;
    const llmc_sampler_options sampler = {
        sizeof sampler, static_cast<uint32_t>(kWarm.size()), kWarm.data(), 1, nullptr, nullptr};
    llmc_generator_options options = {};
    options.struct_size = sizeof options;
    options.sampler = &sampler;
    options.draft_tokens = 7;
    llmc_generator *generator = nullptr;
    const llmc_status status =
        llmc_generator_create(bench.session, sequence, &options, &generator, &bench.error);
    llmc_generator_destroy(generator);
    if (status == LLMC_OK)
      return;
    EXPECT_EQ(status, LLMC_OUT_OF_MEMORY) << n;
  }
  FAIL() << "more than 30 allocations";
}

} // namespace
} // namespace llmc::test
