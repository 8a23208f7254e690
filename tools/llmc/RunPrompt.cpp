// SPDX-License-Identifier: Apache-2.0
#include "tools/llmc/RunPrompt.h"
#include "llmc/text.h"
#include "tools/llmc/Format.h"
#include "tools/llmc/ModelText.h"
#include "tools/llmc/TokenIds.h"
#include <algorithm>

namespace llmc::tool {
namespace {

constexpr uint32_t kNewIds = 32;   // by default
constexpr uint32_t kNewText = 256; // likewise, of a text

Result<GivenPrompt> readIds(const RunOptions &options) {
  GivenPrompt given;
  given.where = "--prompt-ids";
  std::string text = options.prompt;
  if (options.source == PromptSource::IdsFile) {
    given.where = options.prompt;
    Result<std::string> read = readIdsFile(options.prompt);
    if (!read)
      return read.takeError();
    text = std::move(*read);
  }
  ParsedIds parsed = parseIds(text);
  if (!parsed.badPlace.empty())
    return errorAt(given.where, parsed.badPlace, parsed.badText);
  if (parsed.ids.empty())
    return errorAt(given.where, "", "found no ids, expected at least one, as in 1,2,3");
  given.ids = std::move(parsed.ids);
  return given;
}

Result<GivenPrompt> readText(const RunOptions &options) {
  GivenPrompt given;
  given.where = "--prompt";
  given.isText = true;
  given.text = options.prompt;
  if (options.source == PromptSource::TextFile) {
    given.where = options.prompt == "-" ? "standard input" : options.prompt;
    Result<std::string> read = readTextFile(options.prompt);
    if (!read)
      return read.takeError();
    given.text = std::move(*read);
  }
  if (Status status = checkUtf8(given.where, given.text); !status)
    return status.takeError();
  if (given.text.empty())
    return errorAt(given.where, "", "found an empty text, expected at least one character");
  if (options.chat && given.text.find('\0') != given.text.npos)
    return errorAt(given.where, formatted("byte %zu", given.text.find('\0') + 1),
                   "found a NUL, expected none in a message");
  return given;
}

Result<std::vector<int32_t>> idTokens(const GivenPrompt &given, const llmc_model_info &info) {
  std::vector<int32_t> tokens;
  for (const int64_t id : given.ids) {
    if (id < 0 || id >= info.vocabulary)
      return errorAt(given.where, formatted("id %zu", tokens.size() + 1),
                     formatted("found %lld, expected 0 to %u (the model's vocabulary has %u ids)",
                               static_cast<long long>(id), info.vocabulary - 1, info.vocabulary));
    tokens.push_back(static_cast<int32_t>(id));
  }
  return tokens;
}

Result<std::vector<int32_t>> chatTokens(const GivenPrompt &given, const RunOptions &options,
                                        const LoadedModel &loaded) {
  std::vector<ChatMessage> messages;
  if (options.system)
    messages.push_back({"system", *options.system});
  messages.push_back({"user", given.text});
  Result<std::string> text = renderChat(loaded, messages);
  if (!text)
    return text.takeError();
  return encodeText(loaded, given.where, *text, LLMC_ENCODE_PARSE_SPECIAL);
}

} // namespace

Result<GivenPrompt> readPrompt(const RunOptions &options) {
  if (options.source == PromptSource::Ids || options.source == PromptSource::IdsFile)
    return readIds(options);
  return readText(options);
}

Result<std::vector<int32_t>> promptTokens(const GivenPrompt &given, const RunOptions &options,
                                          const LoadedModel &loaded) {
  if (!given.isText)
    return idTokens(given, loaded.info);
  if (options.chat)
    return chatTokens(given, options, loaded);
  return encodeText(loaded, given.where, given.text,
                    LLMC_ENCODE_ADD_SPECIAL | LLMC_ENCODE_PARSE_SPECIAL);
}

Result<uint32_t> newTokensFor(const GivenPrompt &given, size_t promptTokens,
                              const RunOptions &options, const llmc_model_info &info) {
  const uint32_t usual = given.isText ? kNewText : kNewIds;
  const uint64_t room = info.max_positions - std::min<uint64_t>(promptTokens, info.max_positions);
  const bool mayBeFewer = given.isText && !options.maxNewTokens;
  const uint64_t wanted = options.maxNewTokens.value_or(usual);
  if (promptTokens <= info.max_positions && (wanted <= room || (mayBeFewer && room)))
    return static_cast<uint32_t>(std::min(wanted, room));
  if (mayBeFewer)
    return errorAt(given.where, "",
                   formatted("found %zu prompt tokens, expected at most %u, so that one can follow; "
                             "shorten the text or compile with a larger --max-seq",
                             promptTokens, info.max_positions - 1));
  return errorAt(given.where, "",
                 formatted("found %zu prompt tokens and %llu new ones, expected at most %u in all; "
                           "lower --max-new-tokens or compile with a larger --max-seq",
                           promptTokens, static_cast<unsigned long long>(wanted),
                           info.max_positions));
}

} // namespace llmc::tool
