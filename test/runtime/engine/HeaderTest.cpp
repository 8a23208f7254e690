// SPDX-License-Identifier: Apache-2.0
// llmc.hpp: owners let go in any order that the language gives, and failures arrive as results.
#include "llmc/llmc.hpp"
#include "test/runtime/engine/Support.h"

namespace llmc::test {
namespace {

TEST(Header, OwnersRunAModel) {
  Result<Context> context = createContext();
  ASSERT_TRUE(context) << context.error().message();
  Result<Model> model = linkedModel(*context, demo_llmc_query);
  ASSERT_TRUE(model) << model.error().message();
  Result<Session> session = createSession(*model);
  ASSERT_TRUE(session) << session.error().message();
  Result<Sequence> made = createSequence(*session);
  ASSERT_TRUE(made);
  const Sequence sequence = std::move(*made);
  EXPECT_EQ(made->get(), nullptr);
  const std::vector<int32_t> tokens = someTokens(10);
  Result<llmc_step_result> result = prefill(*session, sequence, tokens.data(), 10);
  ASSERT_TRUE(result) << result.error().message();
  EXPECT_EQ(result->n_outputs, 1u);
  const llmc_rows rows = rowsOf(sequence.get(), tokens);
  EXPECT_TRUE(step(*session, &rows, 1));
  EXPECT_TRUE(truncate(sequence, 3));
  const Result<void> refused = truncate(sequence, 4);
  EXPECT_FALSE(refused);
  EXPECT_EQ(refused.error().status(), LLMC_INVALID_ARGUMENT);
}

TEST(Header, OwnersGenerate) {
  Result<Context> context = createContext();
  ASSERT_TRUE(context);
  Result<Model> model = linkedModel(*context, demo_llmc_query);
  ASSERT_TRUE(model);
  Result<Session> session = createSession(*model);
  ASSERT_TRUE(session);
  Result<Sequence> sequence = createSequence(*session);
  ASSERT_TRUE(sequence);
  Result<Generator> generator = createGenerator(*session, *sequence);
  ASSERT_TRUE(generator) << generator.error().message();
  EXPECT_FALSE(next(*generator)); // nothing to go on with
  const std::vector<int32_t> tokens = someTokens(10);
  ASSERT_TRUE(prompt(*generator, tokens.data(), 10));
  const Result<llmc_generated> generated = next(*generator);
  EXPECT_TRUE(generated);
  EXPECT_TRUE(createSampler(*context, 10));
  const char *const strings[] = {"end"};
  EXPECT_TRUE(createStopStrings(*context, strings, 1));
  const char *const empty[] = {""};
  EXPECT_FALSE(createStopStrings(*context, empty, 1));
}

TEST(Header, FailureToOpenIsAResult) {
  Result<Context> context = createContext();
  ASSERT_TRUE(context);
  Result<Model> model = openModel(*context, "no-such-model.so");
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().status(), LLMC_NOT_FOUND);
  EXPECT_NE(strstr(model.error().message(), "no-such-model.so: error: "), nullptr);
}

} // namespace
} // namespace llmc::test
