// SPDX-License-Identifier: Apache-2.0
// The pre-tokenizers that GGUF files name, as steps. A GGUF file holds the name only; the steps are
// those of the tokenizer.json that each name was made from.
#include "dialects/model/TokenizerSpec.h"

#include <algorithm>

namespace llmc::model {

namespace {

// Written out by hand from the published tokenizer.json files; Oniguruma's syntax.
constexpr const char *kGpt2 =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr const char *kLlama3 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char *kQwen2 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char *kTekken =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char *kGpt4o =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char *kDeepseek3 =
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

struct NamedPreTokenizer {
  const char *names;                // separated by spaces
  std::vector<const char *> splits; // each Isolated; then bytes, without a space in front
  bool ignoreMerges = false;
  bool nfc = false;
};

const std::vector<NamedPreTokenizer> &table() {
  static const std::vector<NamedPreTokenizer> rows = {
      {"gpt-2 gpt2 phi-2 jina-es jina-de jina-v2-es jina-v2-de", {kGpt2}},
      {"mpt olmo", {kGpt2}, false, true},
      // Each digit alone.
      {"smollm starcoder refact codeshell", {R"(\p{N})", kGpt2}},
      {"command-r", {R"(\p{N})", kGpt2}, false, true},
      {"llama-bpe llama3 llama-v3 falcon3 falcon-h1 pixtral midm-2.0 lfm2", {kLlama3}, true},
      {"dbrx smaug-bpe chatglm-bpe glm4", {kLlama3}},
      {"qwen2 deepseek-r1-qwen megrez", {kQwen2}, false, true},
      {"tekken", {kTekken}, true},
      {"gpt-4o llama4", {kGpt4o}},
      {"deepseek-v3", {R"(\p{N}{1,3})", R"([一-龥぀-ゟ゠-ヿ]+)", kDeepseek3}},
      {"deepseek-coder",
       {R"([\r\n])", R"(\s?\p{L}+)", R"(\s?\p{P}+)", R"([一-龥ࠀ-一가-퟿]+)", R"(\p{N})"}},
  };
  return rows;
}

bool holdsName(std::string_view names, std::string_view name) {
  for (size_t begin = 0; begin <= names.size();) {
    const size_t end = std::min(names.find(' ', begin), names.size());
    if (!name.empty() && names.substr(begin, end - begin) == name)
      return true;
    begin = end + 1;
  }
  return false;
}

} // namespace

bool applyNamedPreTokenizer(std::string_view name, TokenizerSpec &spec) {
  for (const NamedPreTokenizer &row : table()) {
    if (!holdsName(row.names, name))
      continue;
    spec.kind = TokenizerKind::ByteLevel;
    spec.ignoreMerges = row.ignoreMerges;
    spec.normalizer.clear();
    if (row.nfc)
      spec.normalizer.push_back({NormalizerStep::Kind::NFC, {}, ""});
    spec.preTokenizer.clear();
    for (const char *pattern : row.splits) {
      PreTokenizerStep split;
      split.pattern = {pattern, true};
      spec.preTokenizer.push_back(split);
    }
    PreTokenizerStep bytes;
    bytes.kind = PreTokenizerStep::Kind::ByteLevel;
    spec.preTokenizer.push_back(bytes);
    return true;
  }
  return false;
}

std::string namedPreTokenizers() {
  std::string joined;
  for (const NamedPreTokenizer &row : table()) {
    joined += joined.empty() ? "" : ", ";
    for (const char *c = row.names; *c; ++c)
      joined += *c == ' ' ? std::string(", ") : std::string(1, *c);
  }
  return joined;
}

} // namespace llmc::model
