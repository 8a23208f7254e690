// SPDX-License-Identifier: Apache-2.0
// The metadata of a GGUF file as a ModelConfig.
#pragma once

#include "dialects/model/ModelConfig.h"
#include "frontends/gguf/Keys.h"

namespace llmc::gguf {

// Reads the keys, and from the table of tensors what no key says: rows of the vocabulary, biases,
// whether there is a head, divisors of rotary frequencies. Validated; contradictions are errors.
Result<model::ModelConfig> readConfig(const Container &container);

// The rotary embedding, once rope.rotaryDims is known.
Status deriveRope(const Container &container, const RawConfig &raw, model::RopeConfig &rope);

// "layers.3.q" -> "blk.3.attn_q.weight", "layers.3.q_bias" -> "blk.3.attn_q.bias".
std::string storedName(std::string_view canonical);

// Divisors of the rotary frequencies (Llama 3.1 and later).
inline constexpr const char *ropeDivisorsName = "rope_freqs.weight";

} // namespace llmc::gguf
