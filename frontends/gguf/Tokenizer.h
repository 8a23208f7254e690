// SPDX-License-Identifier: Apache-2.0
// The tokenizer.* keys of a GGUF file as a TokenizerSpec: byte-level BPE ("gpt2", with a
// pre-tokenizer by name) and SentencePiece's BPE ("llama").
#pragma once

#include "dialects/model/TokenizerSpec.h"
#include "frontends/gguf/Container.h"

namespace llmc::gguf {

// None when the file says that it has no vocabulary. Tokens whose text is not theirs alone, merges
// of no tokens, lists of unequal length and unknown kinds are errors.
Result<std::optional<model::TokenizerSpec>> readTokenizer(const Container &container);

} // namespace llmc::gguf
