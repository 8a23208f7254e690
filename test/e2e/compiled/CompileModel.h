// SPDX-License-Identifier: Apache-2.0
//
// Compiling in process for tests, without a header of MLIR.
#pragma once

#include "dialects/model/Error.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace llmc::test {

struct ModelRequest {
  std::string input;  ///< Hugging Face folder or model.json; with `from` printed IR
  std::string output; ///< .so or .o; with another `emit` than so a text file
  std::string emit = "so";
  std::string from;    ///< stage after which `input` was printed
  std::string weights; ///< with `from`: the model that holds them
  std::string name;
  std::string schedule; ///< forced fields, "linear:row_tile=4"
  std::string target = "cpu:native";
  std::string kv = "auto"; ///< as --kv
  std::string quant = "keep";
  std::string kvLayout = "head_major";
  std::string fuseNorm = "cost";
  int64_t maxSequence = 0;
  std::string_view threadSanitizerExecutor = {}; ///< given: kernels are instrumented as well
};

struct CompiledModel {
  uint64_t codeBytes = 0;
  size_t kernels = 0, commands = 0;
  double seconds = 0, codeSeconds = 0;
};

Result<CompiledModel> compileModel(const ModelRequest &request);

/// A model.json with weights drawn from `seed`, for tests that want a certain size.
struct RandomModel {
  int64_t hidden = 64, mlp = 96, vocabulary = 128, layers = 2;
  int64_t heads = 4, kvHeads = 2, headDim = 16, maxPositions = 512;
  uint64_t seed = 1;
};
Status writeRandomModel(const RandomModel &model, const std::string &path);

} // namespace llmc::test
