// SPDX-License-Identifier: Apache-2.0
// The parts of a tokenizer.json that are lists of steps: normalizer, pre_tokenizer, decoder, and
// the ids of post_processor.
#pragma once

#include "dialects/model/TokenizerSpec.h"
#include "frontends/json/KeyTable.h"

namespace llmc::tokenizers {

// Each takes the value of its key (an object, or null) and fills the spec's list.
Status readNormalizer(const json::Value &value, const json::Place &place,
                      std::vector<model::NormalizerStep> &steps);
Status readPreTokenizer(const json::Value &value, const json::Place &place,
                        std::vector<model::PreTokenizerStep> &steps);
Status readDecoder(const json::Value &value, const json::Place &place,
                   std::vector<model::DecoderStep> &steps);
Status readPostProcessor(const json::Value &value, const json::Place &place,
                         std::vector<int32_t> &prefix, std::vector<int32_t> &suffix);

} // namespace llmc::tokenizers
