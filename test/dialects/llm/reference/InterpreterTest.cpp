// SPDX-License-Identifier: Apache-2.0
//
// What must not matter, does not: cutting a prompt into pieces, company in a step, position of the
// first token, the spelling of grouped heads. The same bits wherever the sums are the same.
#include "test/dialects/llm/reference/TestModel.h"

#include <cmath>

namespace llmc::reference {
namespace {

using test::lineOf;
using test::logitsOf;
using test::smallConfig;
using test::SmallModel;

const std::vector<int32_t> prompt = {3, 14, 15, 9, 26, 5, 35, 8, 9, 7, 9};

std::vector<int32_t> part(size_t first, size_t count) {
  return {prompt.begin() + long(first),
          prompt.begin() + long(std::min(prompt.size(), first + count))};
}

TEST(ReferenceInterpreter, promptInPiecesGivesTheSameBits) {
  SmallModel model(smallConfig());
  Tensor whole = logitsOf(model.interpreter, StepBuilder().add(0, prompt, 0, Wanted::All).take());
  for (size_t size : {1u, 4u, 7u}) {
    uint64_t handle = size;
    for (size_t first = 0; first < prompt.size(); first += size) {
      Step step = StepBuilder().add(handle, part(first, size), int32_t(first), Wanted::All).take();
      Tensor piece = logitsOf(model.interpreter, step, size == 1 ? "decode" : "prefill");
      for (int64_t i = 0; i < piece.lines; ++i)
        EXPECT_EQ(lineOf(piece, i), lineOf(whole, int64_t(first) + i))
            << "pieces of " << size << ", position " << first + i;
    }
  }
}

TEST(ReferenceInterpreter, sequencesOfAStepDoNotSeeEachOther) {
  SmallModel model(smallConfig());
  std::vector<int32_t> other = {1, 2, 3};
  Tensor alone = logitsOf(model.interpreter, StepBuilder().add(0, prompt, 0, Wanted::Last).take());
  Tensor otherAlone =
      logitsOf(model.interpreter, StepBuilder().add(1, other, 0, Wanted::Last).take());
  Step mixed = StepBuilder().add(2, other, 0, Wanted::Last).add(3, prompt, 0, Wanted::Last).take();
  Tensor together = logitsOf(model.interpreter, mixed);
  EXPECT_EQ(lineOf(together, 0), lineOf(otherAlone, 0));
  EXPECT_EQ(lineOf(together, 1), lineOf(alone, 0));
}

// One layer of window 3: position 3 is the first that does not see token 0.
TEST(ReferenceInterpreter, windowHidesWhatIsOlder) {
  SmallModel model(smallConfig(1, 3, 3));
  std::vector<int32_t> changed = prompt;
  changed[0] = 20;
  Tensor before = logitsOf(model.interpreter, StepBuilder().add(0, prompt, 0, Wanted::All).take());
  Tensor after = logitsOf(model.interpreter, StepBuilder().add(1, changed, 0, Wanted::All).take());
  for (int64_t position = 0; position < 3; ++position)
    EXPECT_NE(lineOf(before, position), lineOf(after, position)) << position;
  for (int64_t position = 3; position < before.lines; ++position)
    EXPECT_EQ(lineOf(before, position), lineOf(after, position)) << position;
}

// A later token never changes an earlier row.
TEST(ReferenceInterpreter, maskIsCausal) {
  SmallModel model(smallConfig());
  std::vector<int32_t> changed = prompt;
  changed[5] = 20;
  Tensor before = logitsOf(model.interpreter, StepBuilder().add(0, prompt, 0, Wanted::All).take());
  Tensor after = logitsOf(model.interpreter, StepBuilder().add(1, changed, 0, Wanted::All).take());
  for (int64_t position = 0; position < before.lines; ++position)
    EXPECT_EQ(lineOf(before, position) == lineOf(after, position), position < 5) << position;
}

/// Weights of `grouped` with each key/value head written once for every query head that reads it.
test::GivenWeights repeatHeads(const model::ModelConfig &grouped, const model::ModelConfig &full) {
  model::RandomWeightSource source(grouped, 7);
  test::GivenWeights weights;
  const model::LayerConfig &layer = grouped.layers[0];
  for (const model::WeightSpec &spec : model::canonicalWeights(full)) {
    const model::TensorInfo &info = *source.find(spec.name);
    std::vector<float> values(size_t(info.rows() * info.columns()));
    EXPECT_TRUE(source.readRows(spec.name, 0, info.rows(), values.data()));
    if (info.shape != spec.shape) {
      size_t head = values.size() / size_t(layer.numKVHeads);
      std::vector<float> repeated;
      for (int64_t h = 0; h < layer.numHeads; ++h) {
        auto first = values.begin() + long(head) * (h / (layer.numHeads / layer.numKVHeads));
        repeated.insert(repeated.end(), first, first + long(head));
      }
      values = std::move(repeated);
    }
    weights.add(spec.name, spec.shape, std::move(values));
  }
  return weights;
}

TEST(ReferenceInterpreter, groupedHeadsEqualRepeatedHeads) {
  for (int64_t kvHeads : {1, 2, 3}) {
    model::ModelConfig grouped = smallConfig(2, kvHeads), full = smallConfig(2, 6);
    test::GivenWeights repeated = repeatHeads(grouped, full);
    SmallModel groupedModel(grouped), fullModel(full, &repeated);
    Step step = StepBuilder().add(0, prompt, 0, Wanted::All).take();
    EXPECT_EQ(logitsOf(groupedModel.interpreter, step).values,
              logitsOf(fullModel.interpreter, step).values)
        << kvHeads;
  }
}

// Rope only knows distances: 128 positions later, in the same slots, everything is as before but
// for rounding.
TEST(ReferenceInterpreter, shiftOfAllPositionsDoesNotMatter) {
  SmallModel model(smallConfig());
  Step step = StepBuilder().add(0, prompt, 0, Wanted::All).take();
  Tensor before = logitsOf(model.interpreter, step);
  for (int32_t &position : step.positions)
    position += 128;
  step.sequences[0] = {1, 128};
  Tensor after = logitsOf(model.interpreter, step);
  ASSERT_EQ(before.values.size(), after.values.size());
  for (size_t i = 0; i < before.values.size(); ++i)
    EXPECT_NEAR(before.values[i], after.values[i], 2e-4) << i;
}

TEST(ReferenceInterpreter, truncateAndAgainGivesTheSameBits) {
  SmallModel model(smallConfig());
  Tensor whole = logitsOf(model.interpreter, StepBuilder().add(0, prompt, 0, Wanted::Last).take());
  logitsOf(model.interpreter,
           StepBuilder().add(0, {1, 1, 1}, int32_t(prompt.size()), Wanted::None).take());
  model.interpreter.caches().truncate(0, 6);
  Tensor again =
      logitsOf(model.interpreter, StepBuilder().add(0, part(6, 100), 6, Wanted::Last).take());
  EXPECT_EQ(again.values, whole.values);
}

TEST(ReferenceInterpreter, embeddingsInsteadOfTokens) {
  model::ModelConfig config = smallConfig();
  SmallModel model(config);
  Step step = StepBuilder().add(0, prompt, 0, Wanted::All).take();
  Tensor byTokens = logitsOf(model.interpreter, step);
  step.embeddings.resize(prompt.size() * size_t(config.hiddenSize));
  for (size_t row = 0; row < prompt.size(); ++row)
    ASSERT_TRUE(model.random.readRows("embed", prompt[row], 1,
                                      step.embeddings.data() + row * size_t(config.hiddenSize)));
  step.tokens.clear();
  step.sequences[0].handle = 1;
  EXPECT_EQ(logitsOf(model.interpreter, step).values, byTokens.values);
}

TEST(ReferenceInterpreter, verifyAcceptsWhatGreedyDecodingChooses) {
  SmallModel model(smallConfig());
  auto greedy = greedyGenerate(model.interpreter, prompt, 5, {});
  ASSERT_TRUE(greedy) << greedy.error().str();
  for (size_t wrong = 0; wrong <= 4; ++wrong) { // 4: none of the four drafts is wrong
    std::vector<int32_t> chain = {prompt.back()};
    chain.insert(chain.end(), greedy->begin(), greedy->begin() + 4);
    if (wrong < 4)
      chain[wrong + 1] = (chain[wrong + 1] + 1) % 37;
    logitsOf(model.interpreter,
             StepBuilder().add(wrong + 1, part(0, prompt.size() - 1), 0, Wanted::None).take());
    auto outputs = model.interpreter.run(
        "verify",
        StepBuilder().add(wrong + 1, chain, int32_t(prompt.size()) - 1, Wanted::All).take());
    ASSERT_TRUE(outputs) << outputs.error().str();
    EXPECT_EQ(outputs->accepted.integers, (std::vector<int32_t>{int32_t(wrong), (*greedy)[wrong]}));
  }
}

TEST(ReferenceInterpreter, greedyStopsAtAnEndOfSequence) {
  SmallModel model(smallConfig());
  auto all = greedyGenerate(model.interpreter, prompt, 8, {});
  ASSERT_TRUE(all) << all.error().str();
  ASSERT_EQ(all->size(), 8u);
  auto first = std::find(all->begin(), all->end(), (*all)[3]);
  auto stopped = greedyGenerate(model.interpreter, prompt, 8, {(*all)[3]});
  ASSERT_TRUE(stopped) << stopped.error().str();
  EXPECT_EQ(*stopped, std::vector<int32_t>(all->begin(), first + 1));
}

} // namespace
} // namespace llmc::reference
