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

constexpr int kMaxDepth = 64; // of nested JSON: copies and destructors recurse

// All of the file, nested at most kMaxDepth deep.
Result<nlohmann::json> parseJson(const std::string &file, const std::string &text) {
  bool isTooDeep = false;
  const auto keep = [&](int depth, nlohmann::json::parse_event_t, nlohmann::json &) {
    isTooDeep |= depth > kMaxDepth;
    return !isTooDeep;
  };
  nlohmann::json json = nlohmann::json::parse(text, keep, false);
  if (isTooDeep)
    return errorAt(file, "",
                   "found JSON nested more than " + std::to_string(kMaxDepth) +
                       " deep, expected messages");
  if (json.is_discarded())
    return errorAt(file, "", "found malformed JSON, expected messages in UTF-8");
  return json;
}

bool isOfAssistant(const nlohmann::json &message) {
  const auto role = message.find("role"); // end() in what is no object
  return role != message.end() && role->is_string() && *role == "assistant";
}

// The file is a list of messages, or an object of the template's variables, messages among them.
Status printChat(const TokenizeOptions &options, const TokenizeSource &source) {
  Result<std::string> text = readSmallFile(options.text, "messages");
  if (!text)
    return text.takeError();
  Result<nlohmann::json> json = parseJson(options.text, *text);
  if (!json)
    return json.takeError();
  nlohmann::json variables = json->is_array() ? nlohmann::json{{"messages", *json}} : *json;
  if (!variables.is_object() || !variables.contains("messages") ||
      !variables["messages"].is_array() || variables["messages"].empty())
    return errorAt(options.text, "",
                   "found no messages, expected a JSON list of {\"role\": ..., \"content\": ...}, "
                   "or an object with \"messages\"");
  const bool isAnswered = isOfAssistant(variables["messages"].back());
  Result<std::string> rendered = source.renderChat(variables.dump(), !isAnswered);
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
