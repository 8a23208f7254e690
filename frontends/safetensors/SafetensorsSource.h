// SPDX-License-Identifier: Apache-2.0
// A WeightSource over a checkpoint: each canonical weight is bound to a stored tensor of the right
// type and shape, and every stored tensor is accounted for.
#pragma once

#include "dialects/model/WeightSource.h"
#include "frontends/safetensors/Checkpoint.h"

#include <functional>

namespace llmc::safetensors {

// The stored name of a canonical one.
using NameOf = std::function<std::string(std::string_view canonical)>;

struct BindOptions {
  NameOf nameOf;                         // empty: stored under the canonical names
  std::vector<std::string> ignoredNames; // stored tensors that the config makes superfluous
};

// Fails when a weight of `config` is missing or of wrong shape or type, or when a tensor is stored
// that no weight of `config` reads (tables that models recompute, such as rotary_emb.inv_freq, are
// no reason to fail).
Result<std::unique_ptr<model::WeightSource>> bindWeights(Checkpoint checkpoint,
                                                         const model::ModelConfig &config,
                                                         const BindOptions &options = {});

} // namespace llmc::safetensors
