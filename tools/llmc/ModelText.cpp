// SPDX-License-Identifier: Apache-2.0
#include "tools/llmc/ModelText.h"
#include "llmc/chat.h"
#include "llmc/text.h"
#include "tools/llmc/Format.h"
#include "tools/llmc/TokenIds.h"

namespace llmc::tool {
namespace {

// Length of the UTF-8 character that starts here, 0 where none does (Unicode 15, table 3-7).
size_t characterLength(std::string_view text) {
  const auto byte = [&](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const unsigned first = byte(0);
  const auto follows = [&](size_t i, unsigned least = 0x80, unsigned most = 0xbf) {
    return byte(i) >= least && byte(i) <= most;
  };
  if (first < 0x80)
    return 1;
  if (first >= 0xc2 && first <= 0xdf)
    return follows(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef)
    return follows(1, first == 0xe0 ? 0xa0 : 0x80, first == 0xed ? 0x9f : 0xbf) && follows(2) ? 3
                                                                                              : 0;
  if (first >= 0xf0 && first <= 0xf4)
    return follows(1, first == 0xf0 ? 0x90 : 0x80, first == 0xf4 ? 0x8f : 0xbf) && follows(2) &&
                   follows(3)
               ? 4
               : 0;
  return 0;
}

// An error of the library that does not say which model it is about.
Error about(const std::string &where, const CallError &error) {
  return errorAt(where, "", error.take().message);
}

} // namespace

Status checkUtf8(const std::string &where, std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const size_t length = characterLength(text.substr(at));
    if (!length)
      return errorAt(where, formatted("byte %zu", at + 1),
                     formatted("found 0x%02x, expected UTF-8 text",
                               static_cast<unsigned>(static_cast<unsigned char>(text[at]))));
    at += length;
  }
  return {};
}

Result<std::string> readTextFile(const std::string &path) {
  Result<std::string> text = readSmallFile(path, "a text");
  if (!text)
    return text;
  if (Status status = checkUtf8(path == "-" ? "standard input" : path, *text); !status)
    return status.takeError();
  return text;
}

Result<std::vector<int32_t>> encodeText(const LoadedModel &loaded, const std::string &where,
                                        std::string_view text, uint32_t flags) {
  CallError error;
  std::vector<int32_t> tokens(text.size() + 16);
  size_t count = 0;
  llmc_status status = llmc_encode(loaded.model.get(), text.data(), text.size(), flags,
                                   tokens.data(), tokens.size(), &count, error.raw());
  if (status == LLMC_TOO_SMALL) {
    tokens.resize(count);
    status = llmc_encode(loaded.model.get(), text.data(), text.size(), flags, tokens.data(),
                         tokens.size(), &count, error.raw());
  }
  if (status)
    return about(status == LLMC_NO_TOKENIZER ? loaded.path : where, error);
  tokens.resize(count);
  if (tokens.empty())
    return errorAt(where, "", "found a text without a token, expected at least one");
  return tokens;
}

Result<std::string> renderChat(const LoadedModel &loaded,
                               const std::vector<ChatMessage> &messages) {
  std::vector<llmc_chat_message> given;
  size_t bytes = 4096;
  for (const ChatMessage &message : messages) {
    given.push_back(
        {sizeof(llmc_chat_message), 0, message.role.c_str(), message.content.c_str(), nullptr});
    bytes += message.content.size() + 64;
  }
  llmc_chat_options options = {};
  options.struct_size = sizeof options;
  options.flags = LLMC_CHAT_ADD_GENERATION_PROMPT;
  CallError error;
  std::string text(bytes, '\0');
  const auto render = [&] {
    return llmc_chat_render(loaded.model.get(), given.data(), static_cast<uint32_t>(given.size()),
                            &options, text.data(), text.size(), &bytes, error.raw());
  };
  llmc_status status = render();
  if (status == LLMC_TOO_SMALL) {
    text.resize(bytes);
    status = render();
  }
  if (status)
    return about(loaded.path, error);
  text.resize(bytes);
  return text;
}

} // namespace llmc::tool
