// SPDX-License-Identifier: Apache-2.0
// A WeightSource over a GGUF file. Groups are handed out as stored; as floats they are scale * code
// + minimum, rounded once. Rows of q and k that converters of llama put into another order are
// handed out in Hugging Face's, which rotates the pairs (i, i + headDim / 2).
#pragma once

#include "frontends/gguf/Container.h"

namespace llmc::gguf {

struct BindOptions {
  bool rotatedPairsAdjacent = false; // rows 2i and 2i + 1 of a head of q and k are a pair
};

// Fails when a weight of `config` is missing, of wrong shape or of a type that llmc does not read,
// or when a tensor is stored that nothing reads. Scales and minimums are looked at when rows are
// read: one that is not finite is an error with its tensor, row and group.
Result<std::unique_ptr<model::WeightSource>> bindWeights(const Container &container,
                                                         const model::ModelConfig &config,
                                                         const BindOptions &options);

} // namespace llmc::gguf
