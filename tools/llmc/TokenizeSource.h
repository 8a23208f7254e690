// SPDX-License-Identifier: Apache-2.0
// The tokenizer of a compiled model, or of a model that is none yet: its tables are made on the
// spot, by the code that `llmc compile` uses.
#pragma once

#include "runtime/text/Tokenizer.h"
#include "tools/llmc/LoadedModel.h"
#include <memory>
#include <vector>

namespace llmc::tool {

class TokenizeSource {
public:
  static Result<std::unique_ptr<TokenizeSource>> open(const ModelOptions &model);

  // `flags` as in llmc_encode.
  Result<std::vector<int32_t>> encode(std::string_view text, uint32_t flags) const;
  // Bytes as llmc_decode gives them. Ids outside the vocabulary are an error.
  Result<std::string> decode(const std::vector<int64_t> &tokens) const;
  // A conversation as the model's chat template writes it: `variables` is a JSON object with
  // "messages" and perhaps more.
  Result<std::string> renderChat(const std::string &variables, bool addGenerationPrompt) const;
  // -1: none.
  int32_t bos() const;
  bool putsTokensInFront() const { return !tokenizer->tables().prefix.empty(); }

private:
  Status openCompiled(const ModelOptions &model);
  Status openSource(const std::string &path);

  std::string path;
  LoadedModel loaded; // empty for a source
  std::string block;  // of a source
  Allocator allocator{nullptr};
  std::unique_ptr<text::Tokenizer> own;
  const text::Tokenizer *tokenizer = nullptr; // own, or the compiled model's
};

} // namespace llmc::tool
