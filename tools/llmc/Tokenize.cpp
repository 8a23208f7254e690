// SPDX-License-Identifier: Apache-2.0
// llmc tokenize: text to ids, ids to text, a conversation to text.
#include "tools/llmc/TokenIds.h"
#include "tools/llmc/TokenizeSource.h"
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

namespace llmc::tool {
namespace {

Status print(std::string_view text) {
  if (fwrite(text.data(), 1, text.size(), stdout) == text.size() && fflush(stdout) == 0)
    return {};
  return errorAt("standard output", "", std::string("cannot be written (") + strerror(errno) + ")");
}

Result<std::string> inputOf(const TokenizeOptions &options) {
  return options.input == TokenizeInput::Text ? Result<std::string>(options.text)
                                              : readSmallFile(options.text, "a text");
}

Status printTokens(const TokenizeOptions &options, const TokenizeSource &source) {
  Result<std::string> text = inputOf(options);
  if (!text)
    return text.takeError();
  uint32_t flags = options.parseSpecial ? LLMC_ENCODE_PARSE_SPECIAL : 0;
  if (options.bos != TokenizeBos::No)
    flags |= LLMC_ENCODE_ADD_SPECIAL;
  Result<std::vector<int32_t>> tokens = source.encode(*text, flags);
  if (!tokens)
    return tokens.takeError();
  if (options.bos == TokenizeBos::Yes && !source.putsTokensInFront()) {
    if (source.bos() < 0)
      return errorAt(options.model.path, "",
                     "found no BOS token in the tokenizer, expected one for --add-bos");
    tokens->insert(tokens->begin(), source.bos());
  }
  return print(joinIds(*tokens) + "\n");
}

Status printText(const TokenizeOptions &options, const TokenizeSource &source) {
  const ParsedIds parsed = parseIds(options.text);
  if (!parsed.badPlace.empty())
    return errorAt("--decode", parsed.badPlace, parsed.badText);
  Result<std::string> text = source.decode(parsed.ids);
  return text ? print(*text) : text.takeError();
}

// The file is a list of messages, or an object of the template's variables, messages among them.
Status printChat(const TokenizeOptions &options, const TokenizeSource &source) {
  Result<std::string> text = readSmallFile(options.text, "messages");
  if (!text)
    return text.takeError();
  auto json = nlohmann::json::parse(*text, nullptr, false);
  nlohmann::json variables = json.is_array() ? nlohmann::json{{"messages", json}} : json;
  if (!variables.is_object() || !variables.contains("messages") ||
      !variables["messages"].is_array() || variables["messages"].empty())
    return errorAt(options.text, "",
                   "found no messages, expected a JSON list of {\"role\": ..., \"content\": ...}, "
                   "or an object with \"messages\"");
  const auto &last = variables["messages"].back();
  const bool answered = last.is_object() && last.value("role", "") == "assistant";
  Result<std::string> rendered = source.renderChat(variables.dump(), !answered);
  return rendered ? print(*rendered) : rendered.takeError();
}

} // namespace

Status tokenizeText(const TokenizeOptions &options) {
  Result<std::unique_ptr<TokenizeSource>> source = TokenizeSource::open(options.model);
  if (!source)
    return source.takeError();
  switch (options.input) {
  case TokenizeInput::Ids:
    return printText(options, **source);
  case TokenizeInput::Chat:
    return printChat(options, **source);
  default:
    return printTokens(options, **source);
  }
}

} // namespace llmc::tool
