// SPDX-License-Identifier: Apache-2.0
// Samplers: what transformers keeps and how likely (goldens), the formulas of llama.cpp written out
// in the slowest way, and the distribution of many draws.
#include "llmc/sample.h"
#include "test/runtime/engine/Support.h"
#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

namespace llmc::test {
namespace {

using Chain = std::vector<llmc_transform>;

constexpr uint32_t kWords = 48; // vocabulary of the goldens
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// A sampler and the context it stands on.
class Sampling {
public:
  explicit Sampling(const Chain &chain, uint64_t seed = 1, uint32_t vocabulary = kWords) {
    llmc_sampler_options options = {};
    options.struct_size = sizeof options;
    options.transforms = chain.data();
    options.n_transforms = static_cast<uint32_t>(chain.size());
    options.seed = seed;
    start(options, vocabulary);
  }
  explicit Sampling(llmc_sampler_options options, uint32_t vocabulary = kWords) {
    options.struct_size = sizeof options;
    start(options, vocabulary);
  }
  ~Sampling() {
    llmc_sampler_destroy(sampler);
    EXPECT_EQ(allocator.live, 0);
  }

  llmc_status pick(llmc_sample_input input) {
    input.struct_size = sizeof input;
    result = {};
    result.struct_size = sizeof result;
    return llmc_sample(sampler, &input, &result, &error);
  }
  llmc_status pick(const std::vector<float> &logits, const std::vector<int32_t> &tokens = {},
                   uint64_t position = 0) {
    llmc_sample_input input = {};
    input.logits = logits.data();
    input.tokens = tokens.data();
    input.n_tokens = static_cast<uint32_t>(tokens.size());
    input.position = position;
    return pick(input);
  }
  std::vector<int32_t> kept() const { return {result.ids, result.ids + result.n_kept}; }

  TestAllocator allocator;
  llmc_sampler *sampler = nullptr;
  llmc_sample_result result = {};
  llmc_error error = newError();

private:
  void start(const llmc_sampler_options &options, uint32_t vocabulary) {
    const llmc_allocator hooks = allocator.hooks();
    const llmc_context_options contextOptions = {
        sizeof contextOptions, 1, 0, 0, &hooks, nullptr, nullptr};
    llmc_context *context = nullptr;
    EXPECT_EQ(llmc_context_create(&contextOptions, &context, nullptr), LLMC_OK);
    EXPECT_EQ(llmc_sampler_create(context, vocabulary, &options, &sampler, &error), LLMC_OK)
        << error.message;
    llmc_context_destroy(context); // the sampler keeps it
  }
};

// Logits with some equal ones.
std::vector<float> someLogits(uint32_t count, uint32_t seed) {
  std::vector<float> logits;
  for (uint32_t state = seed * 2654435761u + 99; logits.size() < count;) {
    state = state * 1664525u + 1013904223u;
    logits.push_back(static_cast<float>(static_cast<int>(state >> 24) - 128) / 24);
  }
  return logits;
}

// ---- transformers ----

nlohmann::json readGoldens() {
  std::ifstream file(SAMPLER_GOLDENS);
  return nlohmann::json::parse(file, nullptr, false);
}

llmc_transform transformOf(const std::string &name, double value) {
  const float number = static_cast<float>(value);
  if (name == "top_k")
    return {LLMC_TOP_K, static_cast<uint32_t>(value), 0, LLMC_KEEP_TIES};
  const std::map<std::string, uint32_t> kinds = {{"repetition_penalty", LLMC_REPETITION_PENALTY},
                                                 {"temperature", LLMC_TEMPERATURE},
                                                 {"top_p", LLMC_TOP_P},
                                                 {"min_p", LLMC_MIN_P}};
  return {kinds.at(name), 0, number, 0};
}

// What differs between a golden case and our sampler; "" for nothing.
std::string judge(const nlohmann::json &golden, const std::vector<int32_t> &tokens,
                  const Chain &chain) {
  std::vector<float> logits;
  for (const int value : golden["logits_times_64"])
    logits.push_back(static_cast<float>(value) / 64);
  Sampling sampling(chain);
  if (sampling.pick(logits, tokens) != LLMC_OK)
    return sampling.error.message;
  const std::vector<int32_t> expected = golden["kept"];
  if (sampling.kept() != expected)
    return "keeps " + std::to_string(sampling.result.n_kept) + " ids, expected " +
           std::to_string(expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    if (std::abs(sampling.result.probabilities[i] - golden["probabilities"][i].get<double>()) >
        1e-6)
      return "probability of id " + std::to_string(expected[i]);
  return "";
}

TEST(Sampler, KeepsWhatTransformersKeeps) {
  const nlohmann::json goldens = readGoldens();
  ASSERT_TRUE(goldens.is_object());
  ASSERT_GE(goldens["cases"].size(), 15u);
  for (const auto &golden : goldens["cases"]) {
    Chain chain;
    for (const auto &transform : golden["transforms"])
      chain.push_back(transformOf(transform[0], transform[1]));
    EXPECT_EQ(judge(golden, goldens["tokens"], chain), "") << golden["name"];
  }
}

// A little wrong.
llmc_transform faulty(llmc_transform transform) {
  if (transform.kind == LLMC_TOP_K)
    ++transform.count;
  else
    transform.value *= transform.kind == LLMC_MIN_P ? 0.3f : 0.9f;
  return transform;
}

// Each kind of transform, a little wrong, shows in some golden; so do ties that are dropped.
TEST(Sampler, GoldensNoticeWrongTransforms) {
  const nlohmann::json goldens = readGoldens();
  std::map<uint32_t, int> noticed;
  for (const auto &golden : goldens["cases"])
    for (size_t wrong = 0; wrong < golden["transforms"].size(); ++wrong) {
      Chain chain;
      for (const auto &transform : golden["transforms"])
        chain.push_back(transformOf(transform[0], transform[1]));
      chain[wrong] = faulty(chain[wrong]);
      noticed[chain[wrong].kind] += judge(golden, goldens["tokens"], chain) != "";
      if (golden["name"] == "top-k among equals")
        EXPECT_NE(judge(golden, goldens["tokens"], {{LLMC_TOP_K, 9, 0, 0}}), "");
    }
  for (const uint32_t kind :
       {LLMC_REPETITION_PENALTY, LLMC_TEMPERATURE, LLMC_TOP_K, LLMC_TOP_P, LLMC_MIN_P})
    EXPECT_GE(noticed[kind], 2) << kind;
}

TEST(Sampler, PresetOfHuggingFaceIsTheirOrder) {
  const nlohmann::json goldens = readGoldens();
  llmc_sampler_preset preset = {};
  preset.struct_size = sizeof preset;
  preset.repetition_penalty = 1.1f;
  preset.temperature = 0.8f;
  preset.top_k = 12;
  preset.top_p = 0.92f;
  preset.min_p = 0.03f;
  Chain chain(LLMC_MOST_TRANSFORMS);
  uint32_t n = 0;
  ASSERT_EQ(llmc_sampler_chain(&preset, chain.data(), &n, nullptr), LLMC_OK);
  chain.resize(n);
  int found = 0;
  for (const auto &golden : goldens["cases"])
    if (golden["name"] == "all") {
      ++found;
      EXPECT_EQ(judge(golden, goldens["tokens"], chain), "");
      // The other order keeps other ids.
      preset.order = LLMC_ORDER_LLAMA_CPP;
      chain.resize(LLMC_MOST_TRANSFORMS);
      ASSERT_EQ(llmc_sampler_chain(&preset, chain.data(), &n, nullptr), LLMC_OK);
      chain.resize(n);
      EXPECT_NE(judge(golden, goldens["tokens"], chain), "");
    }
  EXPECT_EQ(found, 1);
}

// ---- llama.cpp's formulas, sorted lists all along ----

struct Entry {
  int32_t id;
  long double logit;
};
using Entries = std::vector<Entry>;

Entries sorted(Entries entries) {
  std::sort(entries.begin(), entries.end(), [](const Entry &a, const Entry &b) {
    return a.logit > b.logit || (a.logit == b.logit && a.id < b.id);
  });
  return entries;
}

std::vector<long double> softmax(const Entries &entries) {
  long double most = entries[0].logit, sum = 0;
  for (const Entry &entry : entries)
    most = std::max(most, entry.logit);
  std::vector<long double> shares;
  for (const Entry &entry : entries)
    sum += shares.emplace_back(std::exp(entry.logit - most));
  for (long double &share : shares)
    share /= sum;
  return shares;
}

Entries penalised(Entries entries, const std::vector<int32_t> &tokens, size_t window,
                  long double repeat, long double frequency, long double presence) {
  const size_t start = window && window < tokens.size() ? tokens.size() - window : 0;
  for (Entry &entry : entries) {
    const auto count =
        std::count(tokens.begin() + static_cast<long>(start), tokens.end(), entry.id);
    if (!count)
      continue;
    entry.logit = entry.logit <= 0 ? entry.logit * repeat : entry.logit / repeat;
    entry.logit -= static_cast<long double>(count) * frequency + presence;
  }
  return entries;
}

Entries firstOf(Entries entries, size_t count) {
  entries = sorted(entries);
  entries.resize(std::min(count, entries.size()));
  return entries;
}

Entries nucleus(Entries entries, long double share) {
  entries = sorted(entries);
  const std::vector<long double> shares = softmax(entries);
  long double sum = 0;
  for (size_t i = 0; i < entries.size(); ++i)
    if ((sum += shares[i]) >= share) {
      entries.resize(i + 1);
      break;
    }
  return entries;
}

Entries likelyEnough(Entries entries, long double share) {
  entries = sorted(entries);
  const long double least = entries[0].logit + std::log(share);
  entries.erase(std::remove_if(entries.begin(), entries.end(),
                               [&](const Entry &entry) { return entry.logit < least; }),
                entries.end());
  return entries;
}

Entries heated(Entries entries, long double temperature) {
  for (Entry &entry : entries)
    entry.logit /= temperature;
  return entries;
}

// id -> probability
std::map<int32_t, double> expectedOf(const Entries &entries) {
  std::map<int32_t, double> expected;
  const std::vector<long double> shares = softmax(entries);
  for (size_t i = 0; i < entries.size(); ++i)
    expected[entries[i].id] = static_cast<double>(shares[i]);
  return expected;
}

Entries entriesOf(const std::vector<float> &logits) {
  Entries entries;
  for (size_t i = 0; i < logits.size(); ++i)
    entries.push_back({static_cast<int32_t>(i), logits[i]});
  return entries;
}

const std::vector<int32_t> kTokens = {3, 7, 7, 11, 3, 3, 40, 22, 7, 0};

TEST(Sampler, PresetOfLlamaCppIsItsFormulasInItsOrder) {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    const std::vector<float> logits = someLogits(kWords, seed);
    llmc_sampler_preset preset = {};
    preset.struct_size = sizeof preset;
    preset.order = LLMC_ORDER_LLAMA_CPP;
    preset.temperature = 0.8f;
    preset.top_k = 20;
    preset.top_p = 0.95f;
    preset.min_p = 0.05f;
    preset.repetition_penalty = 1.2f;
    preset.frequency_penalty = 0.3f;
    preset.presence_penalty = 0.5f;
    preset.penalty_window = 6;
    Chain chain(LLMC_MOST_TRANSFORMS);
    uint32_t n = 0;
    ASSERT_EQ(llmc_sampler_chain(&preset, chain.data(), &n, nullptr), LLMC_OK);
    chain.resize(n);
    Entries entries = penalised(entriesOf(logits), kTokens, 6, 1.2f, 0.3f, 0.5f);
    entries = heated(likelyEnough(nucleus(firstOf(entries, 20), 0.95f), 0.05f), 0.8f);
    const std::map<int32_t, double> expected = expectedOf(entries);
    Sampling sampling(chain);
    ASSERT_EQ(sampling.pick(logits, kTokens), LLMC_OK) << sampling.error.message;
    ASSERT_EQ(sampling.result.n_kept, expected.size()) << seed;
    size_t i = 0;
    for (const auto &[id, share] : expected) {
      EXPECT_EQ(sampling.result.ids[i], id);
      EXPECT_NEAR(sampling.result.probabilities[i++], share, 1e-12);
    }
  }
}

// ---- Many draws ----

constexpr int kDraws = 200000;

// The draws' chi-square statistic over its critical value at 1 in 10,000 (Wilson and Hilferty);
// more than 1 is a wrong distribution. Ids expected fewer than 10 times are taken together; one
// that should not come at all makes it infinite.
double chiSquareShare(Sampling &sampling, const std::vector<float> &logits,
                      const std::map<int32_t, double> &expected) {
  std::map<int32_t, int> drawn;
  for (int i = 0; i < kDraws; ++i) {
    EXPECT_EQ(sampling.pick(logits, kTokens, static_cast<uint64_t>(i)), LLMC_OK);
    ++drawn[sampling.result.token];
  }
  for (const auto &[id, count] : drawn)
    if (!expected.count(id))
      return std::numeric_limits<double>::infinity();
  double statistic = 0, restExpected = 0, restDrawn = 0;
  int bins = 0;
  const auto add = [&](double found, double wanted) {
    statistic += (found - wanted) * (found - wanted) / wanted;
    ++bins;
  };
  for (const auto &[id, share] : expected)
    if (share * kDraws >= 10) {
      add(drawn[id], share * kDraws);
    } else {
      restExpected += share * kDraws;
      restDrawn += drawn[id];
    }
  if (restExpected >= 10)
    add(restDrawn, restExpected);
  if (bins < 2)
    return statistic > 1e-9;
  const double degrees = bins - 1, part = 2 / (9 * degrees);
  return statistic / (degrees * std::pow(1 - part + 3.719 * std::sqrt(part), 3));
}

struct DrawCase {
  const char *name;
  Chain chain;
  Entries (*expected)(const Entries &);
};

const DrawCase kDrawCases[] = {
    {"softmax", {}, [](const Entries &e) { return e; }},
    {"greedy", {{LLMC_TEMPERATURE, 0, 0, 0}}, [](const Entries &e) { return firstOf(e, 1); }},
    {"temperature",
     {{LLMC_TEMPERATURE, 0, 1.7f, 0}},
     [](const Entries &e) { return heated(e, 1.7f); }},
    {"cold", {{LLMC_TEMPERATURE, 0, 0.6f, 0}}, [](const Entries &e) { return heated(e, 0.6f); }},
    {"top-k", {{LLMC_TOP_K, 10, 0, 0}}, [](const Entries &e) { return firstOf(e, 10); }},
    {"top-p", {{LLMC_TOP_P, 0, 0.9f, 0}}, [](const Entries &e) { return nucleus(e, 0.9f); }},
    {"min-p", {{LLMC_MIN_P, 0, 0.05f, 0}}, [](const Entries &e) { return likelyEnough(e, 0.05f); }},
    {"repetition",
     {{LLMC_REPETITION_PENALTY, 0, 1.5f, 0}},
     [](const Entries &e) { return penalised(e, kTokens, 0, 1.5f, 0, 0); }},
    {"frequency",
     {{LLMC_FREQUENCY_PENALTY, 4, 0.7f, 0}},
     [](const Entries &e) { return penalised(e, kTokens, 4, 1, 0.7f, 0); }},
    {"presence",
     {{LLMC_PRESENCE_PENALTY, 0, 0.9f, 0}},
     [](const Entries &e) { return penalised(e, kTokens, 0, 1, 0, 0.9f); }},
    {"hugging face",
     {{LLMC_TEMPERATURE, 0, 0.8f, 0}, {LLMC_TOP_K, 30, 0, 1}, {LLMC_TOP_P, 0, 0.95f, 0}},
     [](const Entries &e) { return nucleus(firstOf(heated(e, 0.8f), 30), 0.95f); }},
    {"llama.cpp",
     {{LLMC_TOP_K, 30, 0, 0}, {LLMC_TOP_P, 0, 0.95f, 0}, {LLMC_TEMPERATURE, 0, 0.8f, 0}},
     [](const Entries &e) { return heated(nucleus(firstOf(e, 30), 0.95f), 0.8f); }},
};

TEST(Sampler, DrawsHaveTheRightDistribution) {
  std::vector<float> logits = someLogits(kWords, 5);
  for (size_t i = 0; i < logits.size(); ++i)
    logits[i] += 1e-4f * static_cast<float>(i); // no ties: they are ours to order
  for (const DrawCase &draw : kDrawCases)
    for (const uint64_t seed : {1u, 77u}) {
      Sampling sampling(draw.chain, seed);
      const auto expected = expectedOf(draw.expected(entriesOf(logits)));
      EXPECT_LE(chiSquareShare(sampling, logits, expected), 1) << draw.name << ", seed " << seed;
    }
}

// The checker notices each transform left out, and a temperature that is 3 % off.
TEST(Sampler, WrongDistributionsAreNoticed) {
  std::vector<float> logits = someLogits(kWords, 5);
  for (size_t i = 0; i < logits.size(); ++i)
    logits[i] += 1e-4f * static_cast<float>(i);
  const auto plain = expectedOf(entriesOf(logits));
  for (const DrawCase &draw : kDrawCases)
    if (!draw.chain.empty()) {
      Sampling sampling(Chain{});
      const auto expected = expectedOf(draw.expected(entriesOf(logits)));
      EXPECT_GT(chiSquareShare(sampling, logits, expected), 1) << draw.name;
    }
  Sampling warm({{LLMC_TEMPERATURE, 0, 1.03f, 0}});
  EXPECT_GT(chiSquareShare(warm, logits, plain), 1);
}

TEST(Sampler, DrawsOfSequencesAndSeedsAreIndependent) {
  // Pairs of draws under two seeds, two sequences, two positions: equal as often as chance says.
  const std::vector<float> logits(16, 0.f);
  Sampling first(Chain{}, 1, 16), second(Chain{}, 2, 16);
  const auto drawOf = [&](Sampling &sampling, uint64_t sequence, uint64_t position) {
    llmc_sample_input input = {};
    input.logits = logits.data();
    input.sequence = sequence;
    input.position = position;
    EXPECT_EQ(sampling.pick(input), LLMC_OK);
    return sampling.result.token;
  };
  int equal[3] = {};
  constexpr int pairs = 20000;
  for (uint64_t i = 0; i < pairs; ++i) {
    const int32_t token = drawOf(first, 0, i);
    equal[0] += token == drawOf(second, 0, i);
    equal[1] += token == drawOf(first, 1, i);
    equal[2] += token == drawOf(first, 0, i + 1);
  }
  for (const int count : equal) // 1250 expected, deviation 34
    EXPECT_NEAR(count, pairs / 16, 150);
}

// ---- Edges ----

TEST(Sampler, GreedyIsArgmax) {
  Sampling greedy({{LLMC_TEMPERATURE, 0, 0, 0}}),
      listed({{LLMC_PRESENCE_PENALTY, 0, 0, 0}, {LLMC_TEMPERATURE, 0, 0, 0}});
  for (uint32_t seed = 0; seed < 50; ++seed) {
    std::vector<float> logits = someLogits(kWords, seed);
    logits[seed % kWords] = kNaN;
    for (Sampling *sampling : {&greedy, &listed}) {
      ASSERT_EQ(sampling->pick(logits, {1}), LLMC_OK);
      EXPECT_EQ(sampling->result.token, llmc_argmax(logits.data(), kWords));
      EXPECT_EQ(sampling->result.n_kept, 1u);
      EXPECT_EQ(sampling->result.probabilities[0], 1);
    }
  }
}

TEST(Sampler, EqualLogitsAreOrderedById) {
  const std::vector<float> logits = {1, 2, 2, 0, 2, 2};
  Sampling three({{LLMC_TOP_K, 3, 0, 0}}, 1, 6), ties({{LLMC_TOP_K, 3, 0, LLMC_KEEP_TIES}}, 1, 6),
      nucleus({{LLMC_TOP_P, 0, 0.3f, 0}}, 1, 6);
  ASSERT_EQ(three.pick(logits), LLMC_OK);
  EXPECT_EQ(three.kept(), (std::vector<int32_t>{1, 2, 4}));
  ASSERT_EQ(ties.pick(logits), LLMC_OK);
  EXPECT_EQ(ties.kept(), (std::vector<int32_t>{1, 2, 4, 5}));
  ASSERT_EQ(nucleus.pick(logits), LLMC_OK);
  EXPECT_EQ(nucleus.kept(), (std::vector<int32_t>{1, 2}));
}

TEST(Sampler, LeastNumberIsKept) {
  const std::vector<float> logits = {9, 1, 3, 2, 0, -1};
  Sampling topP({{LLMC_TOP_P, 3, 0.1f, 0}}, 1, 6), minP({{LLMC_MIN_P, 3, 0.9f, 0}}, 1, 6);
  for (Sampling *sampling : {&topP, &minP}) {
    ASSERT_EQ(sampling->pick(logits), LLMC_OK);
    EXPECT_EQ(sampling->kept(), (std::vector<int32_t>{0, 2, 3}));
  }
}

TEST(Sampler, LargeVocabulariesAreRankedInPieces) {
  constexpr uint32_t vocabulary = 50000;
  std::vector<float> logits;
  for (uint32_t i = 0; i < vocabulary; ++i)
    logits.push_back(static_cast<float>(i * 7919u % vocabulary) / 25000);
  for (const Chain &chain : {Chain{{LLMC_TOP_P, 0, 0.6f, 0}}, Chain{{LLMC_TOP_K, 9000, 0, 0}}}) {
    Sampling sampling(chain, 1, vocabulary);
    ASSERT_EQ(sampling.pick(logits), LLMC_OK);
    const Entries expected = chain[0].kind == LLMC_TOP_K ? firstOf(entriesOf(logits), 9000)
                                                         : nucleus(entriesOf(logits), 0.6f);
    std::vector<int32_t> ids;
    for (const Entry &entry : expected)
      ids.push_back(entry.id);
    std::sort(ids.begin(), ids.end());
    EXPECT_EQ(sampling.kept(), ids);
  }
}

TEST(Sampler, ExtremeNumbersGiveATokenThatIsThere) {
  const std::vector<std::vector<float>> rows = {
      {kInfinity, 0, kInfinity, kNaN},
      {-kInfinity, -3e38f, kNaN, -kInfinity},
      {3e38f, -3e38f, 3e38f, 0},
      {1e-45f, 0, -1e-45f, 0},
      {0, kInfinity, -kInfinity, -kInfinity},
  };
  const std::vector<Chain> chains = {
      {},
      {{LLMC_TEMPERATURE, 0, 1e-45f, 0}},
      {{LLMC_TEMPERATURE, 0, 3e38f, 0}},
      {{LLMC_TOP_P, 0, 1e-30f, 0}, {LLMC_MIN_P, 0, 1, 0}},
      {{LLMC_REPETITION_PENALTY, 0, 1e6f, 0},
       {LLMC_TEMPERATURE, 0, 1e-45f, 0},
       {LLMC_TOP_P, 0, 1, 0}},
  };
  for (const auto &row : rows)
    for (const Chain &chain : chains) {
      Sampling sampling(chain, 1, 4);
      ASSERT_EQ(sampling.pick(row, {0, 1, 2, 3}), LLMC_OK) << sampling.error.message;
      EXPECT_GT(row[static_cast<size_t>(sampling.result.token)], -kInfinity);
      double sum = 0;
      for (uint32_t i = 0; i < sampling.result.n_kept; ++i)
        sum += sampling.result.probabilities[i];
      EXPECT_NEAR(sum, 1, 1e-12);
    }
}

TEST(Sampler, NothingToPickIsAnError) {
  Sampling greedy({{LLMC_TEMPERATURE, 0, 0, 0}}, 1, 3), drawn(Chain{}, 1, 3);
  for (Sampling *sampling : {&greedy, &drawn}) {
    EXPECT_EQ(sampling->pick({kNaN, -kInfinity, kNaN}), LLMC_INVALID_ARGUMENT);
    EXPECT_STREQ(
        sampling->error.message,
        "sample: error: found no number among 3 logits, expected at least one; the weights "
        "may be damaged, 'llmc inspect --verify' tells");
  }
}

TEST(Sampler, PromptTokensMayBeLeftOutOfPenalties) {
  const std::vector<float> logits = {2, 2, 2};
  Sampling sampling({{LLMC_PRESENCE_PENALTY, 0, 1, LLMC_NEW_TOKENS_ONLY}}, 1, 3);
  const std::vector<int32_t> tokens = {0, 1};
  llmc_sample_input input = {};
  input.logits = logits.data();
  input.tokens = tokens.data();
  input.n_tokens = 2;
  input.n_prompt = 1;
  ASSERT_EQ(sampling.pick(input), LLMC_OK);
  EXPECT_EQ(sampling.result.probabilities[0], sampling.result.probabilities[2]);
  EXPECT_LT(sampling.result.probabilities[1], sampling.result.probabilities[0]);
}

// ---- Masks ----

struct MaskSeen {
  std::vector<int32_t> tokens;
  int calls = 0;
  llmc_status answer = LLMC_OK;
};
// Only odd ids.
llmc_status maskOdd(void *user, const llmc_sample_input *input, uint32_t *allowed) {
  MaskSeen &seen = *static_cast<MaskSeen *>(user);
  ++seen.calls;
  seen.tokens.assign(input->tokens, input->tokens + input->n_tokens);
  allowed[0] &= 0xaaaaaaaau;
  allowed[1] &= 0xaaaaaaaau;
  return seen.answer;
}

TEST(Sampler, MasksOfCallAndHookAreBothKept) {
  const std::vector<float> logits = someLogits(kWords, 3);
  for (const float temperature : {0.f, 2.f}) {
    const Chain chain = {{LLMC_TEMPERATURE, 0, temperature, 0}};
    MaskSeen seen;
    llmc_sampler_options options = {};
    options.transforms = chain.data();
    options.n_transforms = 1;
    options.mask = maskOdd;
    options.user = &seen;
    Sampling sampling(options);
    const uint32_t few[2] = {0x0000000fu, 0}; // 0 to 3
    llmc_sample_input input = {};
    input.logits = logits.data();
    input.tokens = kTokens.data();
    input.n_tokens = 4;
    input.allowed = few;
    for (uint64_t i = 0; i < 50; ++i) {
      input.position = i;
      ASSERT_EQ(sampling.pick(input), LLMC_OK);
      EXPECT_TRUE(sampling.result.token == 1 || sampling.result.token == 3);
    }
    EXPECT_EQ(seen.calls, 50);
    EXPECT_EQ(seen.tokens, (std::vector<int32_t>{3, 7, 7, 11}));
    const uint32_t none[2] = {0x5, 0};
    input.allowed = none;
    EXPECT_EQ(sampling.pick(input), LLMC_INVALID_ARGUMENT);
    EXPECT_NE(strstr(sampling.error.message, "that the mask allows"), nullptr);
    seen.answer = LLMC_BUSY;
    EXPECT_EQ(sampling.pick(input), LLMC_BUSY);
  }
}

// ---- Arguments and memory ----

TEST(Sampler, WrongChainsAreNamed) {
  const std::vector<std::pair<llmc_transform, const char *>> cases = {
      {{0, 0, 0, 0}, "transform 0: error: found kind 0, expected 1 to 7"},
      {{8, 0, 0, 0}, "found kind 8"},
      {{LLMC_REPETITION_PENALTY, 0, 0, 0}, "found repetition penalty 0, expected more than 0"},
      {{LLMC_TEMPERATURE, 0, -1, 0}, "found temperature -1, expected 0 or more"},
      {{LLMC_TEMPERATURE, 0, kNaN, 0}, "found temperature nan"},
      {{LLMC_TEMPERATURE, 0, kInfinity, 0}, "found temperature inf"},
      {{LLMC_TOP_K, 0, 0, 0}, "found top-k with count 0, expected at least 1"},
      {{LLMC_TOP_P, 0, 0, 0}, "found top-p 0, expected more than 0, at most 1"},
      {{LLMC_TOP_P, 0, 1.5f, 0}, "found top-p 1.5"},
      {{LLMC_MIN_P, 0, -0.5f, 0}, "found min-p -0.5, expected 0 to 1"},
      {{LLMC_FREQUENCY_PENALTY, 0, kInfinity, 0}, "found frequency penalty inf"},
      {{LLMC_TOP_P, 0, 0.5f, LLMC_KEEP_TIES}, "found flags 0x1 for top-p, expected at most 0"},
  };
  Bench bench;
  for (const auto &[transform, expected] : cases) {
    const llmc_sampler_options options = {sizeof options, 1, &transform, 0, nullptr, nullptr};
    llmc_sampler *sampler = nullptr;
    EXPECT_EQ(llmc_sampler_create(bench.context, 10, &options, &sampler, &bench.error),
              LLMC_INVALID_ARGUMENT);
    EXPECT_EQ(sampler, nullptr);
    EXPECT_NE(strstr(bench.error.message, expected), nullptr) << bench.error.message;
  }
  const Chain many(33, {LLMC_TOP_K, 1, 0, 0});
  const llmc_sampler_options options = {sizeof options, 33, many.data(), 0, nullptr, nullptr};
  llmc_sampler *sampler = nullptr;
  EXPECT_EQ(llmc_sampler_create(bench.context, 10, &options, &sampler, &bench.error),
            LLMC_INVALID_ARGUMENT);
}

TEST(Sampler, WrongCallsAreRefused) {
  Sampling sampling({{LLMC_PRESENCE_PENALTY, 0, 1, 0}}, 1, 3);
  EXPECT_EQ(sampling.pick({1, 2, 3}, {0, 3}), LLMC_INVALID_ARGUMENT);
  EXPECT_NE(strstr(sampling.error.message, "token 1: error: found id 3, expected 0 to 2"), nullptr);
  EXPECT_EQ(sampling.pick({1, 2, 3}, {-1}), LLMC_INVALID_ARGUMENT);
  EXPECT_EQ(sampling.pick(llmc_sample_input{}), LLMC_INVALID_ARGUMENT);
  EXPECT_EQ(llmc_sample(nullptr, nullptr, nullptr, nullptr), LLMC_INVALID_ARGUMENT);
}

TEST(Sampler, NoPickAllocates) {
  Sampling sampling({{LLMC_REPETITION_PENALTY, 0, 1.1f, 0},
                     {LLMC_TEMPERATURE, 0, 0.9f, 0},
                     {LLMC_TOP_K, 40, 0, 0},
                     {LLMC_TOP_P, 0, 0.9f, 0}});
  const int before = sampling.allocator.calls;
  for (uint64_t i = 0; i < 100; ++i)
    ASSERT_EQ(sampling.pick(someLogits(kWords, 1), kTokens, i), LLMC_OK);
  EXPECT_EQ(sampling.allocator.calls, before);
}

TEST(Sampler, AllocatorMayFailAtAnyCall) {
  const Chain chain = {{LLMC_PRESENCE_PENALTY, 0, 1, 0}, {LLMC_TOP_K, 4, 0, 0}};
  MaskSeen seen;
  const llmc_sampler_options options = {sizeof options, 2, chain.data(), 0, maskOdd, &seen};
  for (int n = 1; n < 20; ++n) { // call 0 makes the context
    TestAllocator allocator;
    allocator.failAt = n;
    const llmc_allocator hooks = allocator.hooks();
    const llmc_context_options contextOptions = {
        sizeof contextOptions, 1, 0, 0, &hooks, nullptr, nullptr};
    llmc_context *context = nullptr;
    llmc_sampler *sampler = nullptr;
    ASSERT_EQ(llmc_context_create(&contextOptions, &context, nullptr), LLMC_OK);
    const llmc_status status = llmc_sampler_create(context, 100, &options, &sampler, nullptr);
    llmc_sampler_destroy(sampler);
    llmc_context_destroy(context);
    EXPECT_EQ(allocator.live, 0);
    EXPECT_EQ(status, n < allocator.calls ? LLMC_OUT_OF_MEMORY : LLMC_OK) << n;
    if (status == LLMC_OK)
      return;
  }
  FAIL() << "more than 20 allocations";
}

} // namespace
} // namespace llmc::test
