// SPDX-License-Identifier: Apache-2.0
//
// The runners, and the comparison that they share.
#include "test/e2e/optable/Runners.h"
#include "test/e2e/optable/NormalisedError.h"
#include "test/e2e/optable/PtxDevice.h"
#include "test/passes/codegen/cpu/KernelHarness.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>

namespace llmc::test {
namespace {

/// A chunk each; enough for 128 tokens.
constexpr uint32_t kPages = 2, kPagesThere = 3;

llmc_step stepOf(const reference::Step &step) {
  static const int32_t firstPage[] = {0};
  static const int32_t base[] = {0};
  static const uint32_t pages[kPages] = {2, 0}; // page 1 is nobody's
  llmc_step result = {};
  result.struct_size = sizeof(result);
  result.n_rows = uint32_t(step.rows());
  result.n_sequences = 1;
  result.n_outputs = uint32_t(step.outputs());
  result.page_chunks = 1;
  result.tokens = step.tokens.data();
  result.positions = step.positions.data();
  result.slots = step.slots.data();
  result.row_sequence = step.rowSequence.data();
  result.output_rows = step.outputRows.data();
  result.sequence_row = step.sequenceRow.data();
  result.sequence_base = base;
  result.sequence_page = firstPage;
  result.pages = pages;
  return result;
}

uint32_t programsOf(const llmc_command &command, const llmc_step &step) {
  const uint32_t extents[] = {1, step.n_rows, step.n_outputs, step.n_sequences};
  return extents[command.extent] * command.inner;
}

std::vector<const llmc_operand *> operandsOf(const CompiledCase &compiled,
                                             const llmc_command &command) {
  std::vector<const llmc_operand *> operands;
  for (uint32_t i = 0; i < command.n_slots; ++i)
    operands.push_back(&compiled.graph().operands[compiled.graph().slots[command.first_slot + i]]);
  return operands;
}

class CpuRunner : public Runner {
public:
  CpuRunner(const CompiledCase &compiled, const std::string &level)
      : compiled(compiled), kernels(compiled.tileKernels, level) {
    kernels.step = stepOf(compiled.step);
  }
  bool run(const llmc_command &command, CaseMemory &memory, std::string &) override {
    std::vector<void *> operands;
    for (const llmc_operand *operand : operandsOf(compiled, command))
      operands.push_back(memory.place(*operand));
    kernels.run(compiled.tables.kernels[command.kernel], operands, 0,
                programsOf(command, kernels.step));
    return true;
  }

private:
  const CompiledCase &compiled;
  cpu::test::CompiledKernels kernels;
};

class PtxRunner : public Runner {
public:
  PtxRunner(const CompiledCase &compiled, const std::string &ptx)
      : compiled(compiled), device(ptx), step(stepOf(compiled.step)) {}

  bool run(const llmc_command &command, CaseMemory &memory, std::string &error) override {
    if (launch(command, memory))
      return true;
    error = device.error();
    return false;
  }

private:
  /// Arenas and weights go to the device and the arenas come back.
  bool launch(const llmc_command &command, CaseMemory &memory) {
    std::vector<float> *buffers[] = {&memory.rows, &memory.outputs, &memory.weights,
                                     &memory.kv}; // as llmc_operand_kind
    for (size_t i = 0; i < std::size(buffers); ++i)
      if (!device.upload(i, buffers[i]->data(), buffers[i]->size() * sizeof(float)))
        return false;
    std::vector<llmc_cuda_pointer> operands;
    for (const llmc_operand *operand : operandsOf(compiled, command)) {
      float *place = memory.place(*operand);
      operands.push_back(device.address(operand->kind) +
                         uint64_t(place - buffers[operand->kind]->data()) * sizeof(float));
    }
    if (!device.uploadStep(step, kPages) || !device.launch(compiled.tables.kernels[command.kernel],
                                                           operands, programsOf(command, step)))
      return false;
    for (size_t i : {LLMC_OPERAND_ROWS, LLMC_OPERAND_OUTPUTS, LLMC_OPERAND_KV})
      if (!device.download(i, buffers[i]->data(), buffers[i]->size() * sizeof(float)))
        return false;
    return true;
  }

  const CompiledCase &compiled;
  PtxDevice device;
  llmc_step step;
};

std::string inWords(double number) {
  char text[32];
  snprintf(text, sizeof(text), "%.2g", number);
  return text;
}

/// Elements that differ in their bits outside [skipped, skipped + count).
size_t changesOutside(const std::vector<float> &before, const std::vector<float> &after,
                      const float *skipped, size_t count) {
  size_t changes = 0;
  for (size_t i = 0; i < after.size(); ++i) {
    const float *place = after.data() + i;
    bool inside = place >= skipped && place < skipped + count;
    changes += !inside && std::memcmp(&before[i], place, sizeof(float)) != 0;
  }
  return changes;
}

/// Judges quantised rows where they lie by the values that their codes stand for. Codes that differ
/// from the reference's by one become the reference's: a value may lie so near the middle of two
/// that the rounding of what comes before decides.
struct QuantizedRows {
  QuantizedRows(float *words, const reference::Tensor &expected) {
    const int64_t groups = expected.width / kGroup, wordsOfRow = expected.width / 4 + 3 * groups;
    for (int64_t line = 0; line < expected.lines; ++line, words += wordsOfRow)
      for (int64_t group = 0; group < groups; ++group)
        judge(reinterpret_cast<int8_t *>(words) + group * kGroup, words[expected.width / 4 + group],
              words + expected.width / 4 + groups + group, words + expected.width / 4 + 2 * groups + group,
              expected.line(line) + group * kGroup);
  }

  std::vector<float> values;
  size_t moved = 0;      ///< codes
  bool wrongSum = false; ///< one is not that of its codes, or its product with the scale is not

private:
  static constexpr int64_t kGroup = 32;

  void judge(int8_t *codes, float scale, float *stored, float *scaled, const float *expected) {
    int32_t sum, codeSum = 0;
    std::memcpy(&sum, stored, sizeof(sum));
    for (int64_t i = 0; i < kGroup; ++i) {
      sum -= codes[i];
      float code = std::nearbyint(expected[i] / scale);
      if (std::fabs(code - float(codes[i])) == 1) {
        codes[i] = int8_t(code);
        ++moved;
      }
      codeSum += codes[i];
      values.push_back(scale * float(codes[i]));
    }
    int32_t before;
    std::memcpy(&before, stored, sizeof(before));
    wrongSum |= sum != 0 || *scaled != scale * float(before);
    std::memcpy(stored, &codeSum, sizeof(codeSum));
    *scaled = scale * float(codeSum);
  }
};

} // namespace

CaseMemory::CaseMemory(const CompiledCase &compiled)
    : maxRows(uint32_t(compiled.step.rows())), maxOutputs(uint32_t(compiled.step.outputs())),
      rows(compiled.tables.rowsArenaBytes / sizeof(float) * maxRows, NAN),
      outputs(compiled.tables.outputsArenaBytes / sizeof(float) * maxOutputs, NAN),
      weights(compiled.weights), kv(compiled.tables.chunkBytes / sizeof(float) * kPagesThere, NAN) {
}

float *CaseMemory::place(const llmc_operand &operand) {
  if (operand.kind == LLMC_OPERAND_ROWS)
    return rows.data() + operand.offset / sizeof(float) * maxRows;
  if (operand.kind == LLMC_OPERAND_OUTPUTS)
    return outputs.data() + operand.offset / sizeof(float) * maxOutputs;
  return (operand.kind == LLMC_OPERAND_KV ? kv : weights).data() + operand.offset / sizeof(float);
}

std::unique_ptr<Runner> cpuRunner(const CompiledCase &compiled, const std::string &level) {
  return std::make_unique<CpuRunner>(compiled, level);
}

std::unique_ptr<Runner> ptxRunner(const CompiledCase &compiled, const std::string &ptx) {
  return std::make_unique<PtxRunner>(compiled, ptx);
}

Judgement judge(const CompiledCase &compiled, Runner &runner, double bound) {
  Judgement result;
  CaseMemory memory(compiled);
  for (size_t i = 0; i < compiled.graph().commands.size(); ++i) {
    const llmc_command &command = compiled.graph().commands[i];
    const std::vector<float> &expected = compiled.expected[i].values;
    float *target =
        memory.place(*operandsOf(compiled, command).back()); // written operands come last
    const size_t count = compiled.writtenElements(i);
    std::fill_n(target, count, NAN);
    CaseMemory before = memory;
    std::string error, place = "command " + std::to_string(i) + " '" + compiled.names[i] + "': ";
    if (!runner.run(command, memory, error)) {
      result.findings.push_back(place + error);
    } else {
      result.written.insert(result.written.end(), target, target + count);
      double found = 0;
      bool codesWrong = false;
      if (compiled.inGroups[i]) {
        QuantizedRows rows(target, compiled.expected[i]);
        found = normalisedError(rows.values.data(), expected);
        codesWrong = rows.wrongSum || rows.moved > 1 + expected.size() / 1000;
      } else {
        found = normalisedError(target, expected);
      }
      result.largestError = std::max(result.largestError, found);
      size_t changes = changesOutside(before.rows, memory.rows, target, count) +
                       changesOutside(before.outputs, memory.outputs, target, count);
      if (!(found <= bound))
        result.findings.push_back(place + "found an error of " + inWords(found) +
                                  ", expected at most " + inWords(bound));
      else if (codesWrong)
        result.findings.push_back(place + "wrote other codes, or sums that are not theirs");
      else if (changes)
        result.findings.push_back(place + "wrote " + std::to_string(changes) +
                                  " elements that are not its own");
    }
    if (!compiled.inGroups[i])
      std::copy(expected.begin(), expected.end(), target);
  }
  return result;
}

} // namespace llmc::test
