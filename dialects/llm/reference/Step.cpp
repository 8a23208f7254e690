// SPDX-License-Identifier: Apache-2.0
//
// Checks and builds steps.
#include "dialects/llm/reference/Step.h"

namespace llmc::reference {

static Status problem(const std::string &place, const std::string &text) {
  return errorAt("step", place, text);
}

static Status checkLength(const char *name, size_t found, size_t expected) {
  if (found == expected)
    return {};
  return problem(name, "found " + std::to_string(found) + " entries, expected " +
                           std::to_string(expected));
}

static Status checkRange(const std::string &place, int64_t found, int64_t low, int64_t high) {
  if (found >= low && found <= high)
    return {};
  return problem(place, "found " + std::to_string(found) + ", expected " + std::to_string(low) +
                            " to " + std::to_string(high));
}

static std::string indexed(const char *name, size_t index) {
  return std::string(name) + "/" + std::to_string(index);
}

static Status checkRows(const Step &step) {
  for (size_t row = 0; row < step.positions.size(); ++row) {
    if (Status status = checkRange(indexed("positions", row), step.positions[row], 0, INT32_MAX);
        !status)
      return status;
    if (Status status = checkRange(indexed("slots", row), step.slots[row], 0, INT32_MAX); !status)
      return status;
    if (Status status = checkRange(indexed("row_sequence", row), step.rowSequence[row], 0,
                                   int64_t(step.sequences.size()) - 1);
        !status)
      return status;
  }
  return {};
}

static Status checkOutputs(const Step &step) {
  for (size_t output = 0; output < step.outputRows.size(); ++output) {
    int64_t low = output ? int64_t(step.outputRows[output - 1]) + 1 : 0;
    if (Status status = checkRange(indexed("output_rows", output), step.outputRows[output], low,
                                   step.rows() - 1);
        !status)
      return status;
  }
  int64_t low = 0;
  for (size_t i = 0; i < step.sequenceRow.size(); ++i) {
    bool last = i + 1 == step.sequenceRow.size();
    int64_t least = last ? step.outputs() : low, most = i == 0 ? 0 : step.outputs();
    if (Status status = checkRange(indexed("sequence_row", i), step.sequenceRow[i], least, most);
        !status)
      return status;
    low = step.sequenceRow[i];
  }
  for (size_t sequence = 0; sequence < step.sequences.size(); ++sequence)
    for (int32_t output = step.sequenceRow[sequence]; output < step.sequenceRow[sequence + 1];
         ++output)
      if (int32_t owner = step.rowSequence[size_t(step.outputRows[size_t(output)])];
          owner != int32_t(sequence))
        return problem(indexed("output_rows", size_t(output)),
                       "found a row of sequence " + std::to_string(owner) +
                           ", expected one of sequence " + std::to_string(sequence) +
                           " by sequence_row");
  return {};
}

Status checkStep(const Step &step) {
  size_t rows = step.positions.size();
  if (rows == 0)
    return problem("positions", "found no rows, expected at least 1");
  if (step.embeddings.empty() || !step.tokens.empty())
    if (Status status = checkLength("tokens", step.tokens.size(), rows); !status)
      return status;
  if (Status status = checkLength("slots", step.slots.size(), rows); !status)
    return status;
  if (Status status = checkLength("row_sequence", step.rowSequence.size(), rows); !status)
    return status;
  if (Status status =
          checkLength("sequence_row", step.sequenceRow.size(), step.sequences.size() + 1);
      !status)
    return status;
  if (Status status = checkRows(step); !status)
    return status;
  return checkOutputs(step);
}

StepBuilder &StepBuilder::add(uint64_t handle, const std::vector<int32_t> &tokens, int32_t first,
                              Wanted wanted) {
  if (step.sequenceRow.empty())
    step.sequenceRow.push_back(0);
  int32_t sequence = int32_t(step.sequences.size());
  step.sequences.push_back({handle, 0});
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (wanted == Wanted::All || (wanted == Wanted::Last && i + 1 == tokens.size()))
      step.outputRows.push_back(int32_t(step.rows()));
    step.tokens.push_back(tokens[i]);
    step.positions.push_back(first + int32_t(i));
    step.slots.push_back(first + int32_t(i));
    step.rowSequence.push_back(sequence);
  }
  step.sequenceRow.push_back(int32_t(step.outputs()));
  return *this;
}

} // namespace llmc::reference
