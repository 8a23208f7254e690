// SPDX-License-Identifier: Apache-2.0
//
// Steps: what the builder makes, and what checkStep refuses.
#include "dialects/llm/reference/Step.h"

#include <functional>
#include <gtest/gtest.h>

namespace llmc::reference {
namespace {

Step twoSequences() {
  return StepBuilder().add(5, {1, 2, 3}, 0, Wanted::Last).add(9, {4, 5}, 10, Wanted::All).take();
}

TEST(ReferenceStep, builderAppendsSequences) {
  Step step = twoSequences();
  EXPECT_EQ(step.tokens, (std::vector<int32_t>{1, 2, 3, 4, 5}));
  EXPECT_EQ(step.positions, (std::vector<int32_t>{0, 1, 2, 10, 11}));
  EXPECT_EQ(step.slots, step.positions);
  EXPECT_EQ(step.rowSequence, (std::vector<int32_t>{0, 0, 0, 1, 1}));
  EXPECT_EQ(step.outputRows, (std::vector<int32_t>{2, 3, 4}));
  EXPECT_EQ(step.sequenceRow, (std::vector<int32_t>{0, 1, 3}));
  EXPECT_EQ(step.sequences[1].handle, 9u);
  EXPECT_TRUE(checkStep(step));
}

struct Refusal {
  const char *message;
  std::function<void(Step &)> damage;
};

TEST(ReferenceStep, refusals) {
  const Refusal refusals[] = {
      {"step: positions: error: found no rows, expected at least 1", [](Step &s) { s = Step(); }},
      {"step: tokens: error: found 4 entries, expected 5", [](Step &s) { s.tokens.pop_back(); }},
      {"step: slots: error: found 4 entries, expected 5", [](Step &s) { s.slots.pop_back(); }},
      {"step: row_sequence: error: found 4 entries, expected 5",
       [](Step &s) { s.rowSequence.pop_back(); }},
      {"step: sequence_row: error: found 2 entries, expected 3",
       [](Step &s) { s.sequenceRow.pop_back(); }},
      {"step: positions/1: error: found -1, expected 0 to 2147483647",
       [](Step &s) { s.positions[1] = -1; }},
      {"step: slots/4: error: found -7, expected 0 to 2147483647",
       [](Step &s) { s.slots[4] = -7; }},
      {"step: row_sequence/0: error: found 2, expected 0 to 1",
       [](Step &s) { s.rowSequence[0] = 2; }},
      {"step: output_rows/2: error: found 5, expected 4 to 4",
       [](Step &s) { s.outputRows[2] = 5; }},
      {"step: output_rows/1: error: found 2, expected 3 to 4",
       [](Step &s) { s.outputRows[1] = 2; }},
      {"step: sequence_row/0: error: found 1, expected 0 to 0",
       [](Step &s) { s.sequenceRow[0] = 1; }},
      {"step: sequence_row/2: error: found 2, expected 3 to 3",
       [](Step &s) { s.sequenceRow[2] = 2; }},
      {"step: output_rows/1: error: found a row of sequence 1, expected one of sequence 0 by "
       "sequence_row",
       [](Step &s) { s.sequenceRow[1] = 2; }},
  };
  for (const Refusal &refusal : refusals) {
    Step step = twoSequences();
    refusal.damage(step);
    Status status = checkStep(step);
    ASSERT_FALSE(status) << refusal.message;
    EXPECT_EQ(status.error().message, refusal.message);
  }
}

} // namespace
} // namespace llmc::reference
