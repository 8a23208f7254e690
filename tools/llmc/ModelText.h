// SPDX-License-Identifier: Apache-2.0
// Text and tokens of a loaded model: its tokenizer and its chat template, with errors that name
// where a text came from.
#pragma once

#include "tools/llmc/LoadedModel.h"
#include <vector>

namespace llmc::tool {

// An error that names the first byte that is not UTF-8. The library itself reads such bytes as
// U+FFFD; a person would rather know.
Status checkUtf8(const std::string &where, std::string_view text);

// All of a text file, or of standard input for "-", as UTF-8 of at most 64 MiB.
Result<std::string> readTextFile(const std::string &path);

// `flags` as in llmc_encode. No tokens at all are an error.
Result<std::vector<int32_t>> encodeText(const LoadedModel &loaded, const std::string &where,
                                        std::string_view text, uint32_t flags);

struct ChatMessage {
  std::string role;
  std::string content;
};
// The conversation as the model's template writes it, ready for the assistant's answer.
Result<std::string> renderChat(const LoadedModel &loaded, const std::vector<ChatMessage> &messages);

} // namespace llmc::tool
