// SPDX-License-Identifier: Apache-2.0
#include "passes/codegen/tokenizer/TokenizerTables.h"
#include "passes/codegen/tokenizer/OnigurumaPattern.h"
#include "passes/codegen/tokenizer/TokenizerDecoding.h"

#include "llmc/tokenizer_abi.h"
#include "runtime/text/Tokenizer.h"
#include "runtime/text/Utf8.h"
#include "runtime/text/WordMerger.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

namespace llmc::tokenizer {
namespace {

using model::TokenizerKind;
using model::TokenizerSpec;

constexpr uint32_t kNone = LLMC_TOKENIZER_NONE;
constexpr const char *kUsualMark = "\xe2\x96\x81"; // U+2581

// Room for half as many again, and one slot at least stays empty.
size_t slotsFor(size_t entries) { return entries + entries / 2 + 1; }

uint32_t idOf(int32_t id) { return id < 0 ? kNone : static_cast<uint32_t>(id); }

// A trie being made; nodes in the order of their making, so children follow their parents.
class TrieBuilder {
public:
  // The first of two equal texts stays.
  void add(std::string_view text, uint32_t added) {
    size_t node = 0;
    for (char c : text) {
      auto [edge, isNew] = nodes[node].children.try_emplace(static_cast<uint8_t>(c), nodes.size());
      const size_t child = edge->second;
      if (isNew)
        nodes.emplace_back(); // invalidates `edge`
      node = child;
    }
    if (node && nodes[node].added == kNone)
      nodes[node].added = added;
  }
  void write(std::vector<llmc_tokenizer_node> &outNodes,
             std::vector<llmc_tokenizer_edge> &outEdges) const {
    if (nodes.size() == 1)
      return; // nothing is found
    for (const Node &node : nodes) {
      outNodes.push_back({static_cast<uint32_t>(outEdges.size()),
                          static_cast<uint32_t>(node.children.size()), node.added});
      for (const auto &[byte, child] : node.children)
        outEdges.push_back({byte, static_cast<uint32_t>(child)});
    }
  }

private:
  struct Node {
    std::map<uint8_t, size_t> children;
    uint32_t added = kNone;
  };
  std::vector<Node> nodes = std::vector<Node>(1);
};

// Bytes with a header in front; each part at its alignment.
class Block {
public:
  Block() : bytes(sizeof(llmc_tokenizer_header), '\0') {}

  template <typename T> llmc_tokenizer_span add(const T *data, size_t count) {
    bytes.resize((bytes.size() + LLMC_TOKENIZER_ALIGNMENT - 1) / LLMC_TOKENIZER_ALIGNMENT *
                 LLMC_TOKENIZER_ALIGNMENT);
    const llmc_tokenizer_span span{bytes.size(), count};
    bytes.append(reinterpret_cast<const char *>(data), count * sizeof(T));
    return span;
  }
  template <typename T> llmc_tokenizer_span add(const std::vector<T> &items) {
    return add(items.data(), items.size());
  }
  llmc_tokenizer_trie add(const TrieBuilder &trie) {
    std::vector<llmc_tokenizer_node> nodes;
    std::vector<llmc_tokenizer_edge> edges;
    trie.write(nodes, edges);
    return {add(nodes), add(edges)};
  }
  std::string finish(llmc_tokenizer_header header) {
    bytes.resize((bytes.size() + LLMC_TOKENIZER_ALIGNMENT - 1) / LLMC_TOKENIZER_ALIGNMENT *
                 LLMC_TOKENIZER_ALIGNMENT);
    header.bytes = bytes.size();
    bytes.replace(0, sizeof header, reinterpret_cast<const char *>(&header), sizeof header);
    return std::move(bytes);
  }

private:
  std::string bytes;
};

class Builder {
public:
  Builder(const TokenizerSpec &spec, const std::string &file) : spec(spec), file(file) {}
  Result<std::string> run();

private:
  Status prepare();
  Status rankMerges();
  Status mergesFromScores();
  Result<std::string> write(const std::vector<std::string> &normalizedTexts);
  void texts(Block &block, llmc_tokenizer_header &header);
  std::vector<uint32_t> byteTokens() const;
  std::vector<uint32_t> vocabulary() const;
  std::vector<llmc_tokenizer_merge> mergeTable() const;
  bool mayCutAt(const std::string &mark) const;
  Status steps(Block &block, llmc_tokenizer_header &header);
  Result<llmc_tokenizer_string> pattern(const model::Pattern &pattern, const std::string &place);
  Status addedTokens(Block &block, llmc_tokenizer_header &header,
                     const std::vector<std::string> &normalizedTexts);
  llmc_tokenizer_string string(std::string_view text) {
    const llmc_tokenizer_string where{static_cast<uint32_t>(strings.size()),
                                      static_cast<uint32_t>(text.size())};
    strings += text;
    return where;
  }

  struct RankedMerge {
    model::Merge merge;
    uint32_t rank;
  };

  const TokenizerSpec &spec;
  const std::string &file;
  Decoding decoding;
  std::unordered_map<std::string_view, uint32_t> byText; // of the model's vocabulary
  std::vector<RankedMerge> merges;
  std::string strings;
};

// ---- What the tables are made of ----

Status Builder::prepare() {
  if (Status status = model::validate(spec, file, ""); !status)
    return status;
  Result<Decoding> planned = planDecoding(spec, file);
  if (!planned)
    return planned.takeError();
  decoding = std::move(*planned);
  for (size_t id = 0; id < spec.tokens.size(); ++id)
    if (const std::string &bytes = spec.tokens[id].bytes;
        spec.kind == TokenizerKind::Characters && !text::isWellFormed({bytes.data(), bytes.size()}))
      return errorAt(file, "/tokens/" + std::to_string(id),
                     "found '" + escaped(bytes, 60) + "', expected UTF-8");
  for (size_t id = 0; id < spec.tokens.size(); ++id)
    if (spec.tokens[id].inModel)
      byText.try_emplace(spec.tokens[id].bytes, static_cast<uint32_t>(id));
  return rankMerges();
}

Status Builder::rankMerges() {
  if (spec.kind == TokenizerKind::Characters && spec.merges.empty())
    return mergesFromScores();
  for (size_t i = 0; i < spec.merges.size(); ++i)
    merges.push_back({spec.merges[i], static_cast<uint32_t>(i)});
  return {};
}

// Every way to cut a token into two others; of two pairs the one with the better token merges
// first, and equally good ones have the same rank, so the leftmost does.
Status Builder::mergesFromScores() {
  auto mayMerge = [&](const model::Token &token) {
    return token.inModel &&
           (token.type == model::TokenType::Normal || token.type == model::TokenType::UserDefined);
  };
  std::vector<float> scores;
  for (size_t id = 0; id < spec.tokens.size(); ++id) {
    const model::Token &token = spec.tokens[id];
    if (std::isnan(token.score))
      return errorAt(file, "/scores/" + std::to_string(id), "found NaN, expected a number");
    if (!mayMerge(token))
      continue;
    const std::string_view text = token.bytes;
    for (size_t cut = 1; cut < text.size(); ++cut) {
      if ((static_cast<unsigned char>(text[cut]) & 0xc0) == 0x80)
        continue;
      auto left = byText.find(text.substr(0, cut));
      auto right = byText.find(text.substr(cut));
      if (left == byText.end() || right == byText.end() || !mayMerge(spec.tokens[left->second]) ||
          !mayMerge(spec.tokens[right->second]))
        continue;
      merges.push_back({{static_cast<int32_t>(left->second), static_cast<int32_t>(right->second),
                         static_cast<int32_t>(id)},
                        0});
      scores.push_back(token.score);
    }
  }
  std::sort(scores.begin(), scores.end(), std::greater<float>());
  scores.erase(std::unique(scores.begin(), scores.end()), scores.end());
  for (RankedMerge &ranked : merges)
    ranked.rank = static_cast<uint32_t>(std::lower_bound(scores.begin(), scores.end(),
                                                         spec.tokens[ranked.merge.result].score,
                                                         std::greater<float>()) -
                                        scores.begin());
  return {};
}

std::vector<uint32_t> Builder::byteTokens() const {
  std::vector<uint32_t> tokens(256, kNone);
  for (unsigned b = 0; b < 256; ++b) {
    char text[8];
    if (spec.kind == TokenizerKind::ByteLevel)
      snprintf(text, sizeof text, "%c", static_cast<int>(b));
    else
      snprintf(text, sizeof text, "<0x%02X>", b);
    const size_t bytes = spec.kind == TokenizerKind::ByteLevel ? 1 : 6;
    auto found = byText.find(std::string_view(text, bytes));
    if (found != byText.end())
      tokens[b] = found->second;
  }
  return tokens;
}

std::vector<uint32_t> Builder::vocabulary() const {
  std::vector<uint32_t> slots(slotsFor(byText.size()), kNone);
  for (size_t id = 0; id < spec.tokens.size(); ++id) {
    const std::string &text = spec.tokens[id].bytes;
    auto found = byText.find(text);
    if (found == byText.end() || found->second != id)
      continue;
    uint64_t at =
        llmc_tokenizer_slot(llmc_tokenizer_text_hash(text.data(), text.size()), slots.size());
    while (slots[at] != kNone)
      at = at + 1 == slots.size() ? 0 : at + 1;
    slots[at] = static_cast<uint32_t>(id);
  }
  return slots;
}

// Of two merges of the same pair the last one holds, as in the `tokenizers` library.
std::vector<llmc_tokenizer_merge> Builder::mergeTable() const {
  std::vector<llmc_tokenizer_merge> slots(slotsFor(merges.size()), {kNone, kNone, 0, 0});
  for (const auto &[merge, rank] : merges) {
    const uint32_t left = idOf(merge.left);
    const uint32_t right = idOf(merge.right);
    uint64_t at = llmc_tokenizer_slot(llmc_tokenizer_pair_hash(left, right), slots.size());
    while (slots[at].left != kNone && (slots[at].left != left || slots[at].right != right))
      at = at + 1 == slots.size() ? 0 : at + 1;
    slots[at] = {left, right, rank, idOf(merge.result)};
  }
  return slots;
}

// Whether no merge's result has a mark behind something else.
bool Builder::mayCutAt(const std::string &mark) const {
  if (spec.kind != TokenizerKind::Characters || !byText.count(mark))
    return false;
  for (const auto &[merge, rank] : merges) {
    const std::string &text = spec.tokens[merge.result].bytes;
    for (size_t at = text.find(mark, 1); at != std::string::npos; at = text.find(mark, at + 1))
      if (at < mark.size() || text.compare(at - mark.size(), mark.size(), mark) != 0)
        return false;
  }
  return true;
}

// ---- Writing them ----

void Builder::texts(Block &block, llmc_tokenizer_header &header) {
  auto write = [&](auto &&textOf, llmc_tokenizer_span &starts, llmc_tokenizer_span &text,
                   uint32_t &longest) {
    std::vector<uint32_t> begins = {0};
    std::string all;
    for (size_t id = 0; id < spec.tokens.size(); ++id) {
      const std::string &one = textOf(id);
      all += one;
      begins.push_back(static_cast<uint32_t>(all.size()));
      longest = std::max(longest, static_cast<uint32_t>(one.size()));
    }
    starts = block.add(begins);
    text = block.add(all.data(), all.size());
  };
  write([&](size_t id) -> const std::string & { return spec.tokens[id].bytes; },
        header.token_starts, header.token_text, header.longest_text);
  if (spec.kind == TokenizerKind::ByteLevel) { // the same texts
    header.decoded_starts = header.token_starts;
    header.decoded_text = header.token_text;
    header.longest_decoded = header.longest_text;
    return;
  }
  write([&](size_t id) -> const std::string & { return decoding.texts[id]; }, header.decoded_starts,
        header.decoded_text, header.longest_decoded);
}

Result<llmc_tokenizer_string> Builder::pattern(const model::Pattern &pattern,
                                               const std::string &place) {
  if (!pattern.isRegex)
    return string(pattern.text);
  Result<std::string> rewritten = fromOniguruma(pattern.text, file, place);
  if (!rewritten)
    return rewritten.takeError();
  return string(*rewritten);
}

uint32_t kindOf(model::NormalizerStep::Kind kind) {
  using Kind = model::NormalizerStep::Kind;
  switch (kind) {
  case Kind::NFC:
    return LLMC_TEXT_NFC;
  case Kind::NFD:
    return LLMC_TEXT_NFD;
  case Kind::NFKC:
    return LLMC_TEXT_NFKC;
  case Kind::NFKD:
    return LLMC_TEXT_NFKD;
  case Kind::Prepend:
    return LLMC_TEXT_PREPEND;
  case Kind::Replace:
    return LLMC_TEXT_REPLACE;
  case Kind::StripLeft:
    return LLMC_TEXT_STRIP_LEFT;
  case Kind::StripRight:
    return LLMC_TEXT_STRIP_RIGHT;
  }
  return kNone;
}

llmc_tokenizer_step stepOf(const model::PreTokenizerStep &step) {
  using Kind = model::PreTokenizerStep::Kind;
  llmc_tokenizer_step made{};
  switch (step.kind) {
  case Kind::Split:
    made.kind = LLMC_TEXT_SPLIT;
    made.option = static_cast<uint32_t>(step.behavior);
    made.flags =
        (step.pattern.isRegex ? LLMC_TEXT_REGEX : 0) | (step.invert ? LLMC_TEXT_INVERT : 0);
    break;
  case Kind::ByteLevel:
    made.kind = LLMC_TEXT_BYTES;
    break;
  case Kind::PrefixSpace:
    made.kind = LLMC_TEXT_PREFIX_SPACE;
    break;
  case Kind::Metaspace:
    made.kind = LLMC_TEXT_METASPACE;
    made.option = static_cast<uint32_t>(step.prepend);
    made.flags = step.split ? LLMC_TEXT_CUT : 0;
    break;
  }
  return made;
}

Status Builder::steps(Block &block, llmc_tokenizer_header &header) {
  std::vector<llmc_tokenizer_step> made;
  for (size_t i = 0; i < spec.normalizer.size(); ++i) {
    const model::NormalizerStep &step = spec.normalizer[i];
    Result<llmc_tokenizer_string> text = pattern(step.pattern, "/normalizer/" + std::to_string(i));
    if (!text)
      return text.takeError();
    made.push_back({kindOf(step.kind), 0, step.pattern.isRegex ? LLMC_TEXT_REGEX : 0, 0, *text,
                    string(step.content)});
  }
  header.normalizer = block.add(made);
  made.clear();
  for (size_t i = 0; i < spec.preTokenizer.size(); ++i) {
    const model::PreTokenizerStep &step = spec.preTokenizer[i];
    Result<llmc_tokenizer_string> text =
        pattern(step.pattern, "/pre_tokenizer/" + std::to_string(i));
    if (!text)
      return text.takeError();
    made.push_back(stepOf(step));
    made.back().pattern = *text;
    if (step.kind == model::PreTokenizerStep::Kind::Metaspace)
      made.back().text = string(step.replacement);
  }
  header.pre_tokenizer = block.add(made);
  return {};
}

// `normalizedTexts`: what the normaliser makes of each added token's content.
Status Builder::addedTokens(Block &block, llmc_tokenizer_header &header,
                            const std::vector<std::string> &normalizedTexts) {
  std::vector<llmc_tokenizer_added> added;
  TrieBuilder raw;
  TrieBuilder normalized;
  for (const model::AddedToken &token : spec.addedTokens)
    added.push_back({idOf(token.id), (token.special ? LLMC_ADDED_SPECIAL : 0) |
                                         (token.lstrip ? LLMC_ADDED_LSTRIP : 0) |
                                         (token.rstrip ? LLMC_ADDED_RSTRIP : 0) |
                                         (token.singleWord ? LLMC_ADDED_SINGLE_WORD : 0)});
  for (bool special : {true, false}) // the first of two equal texts holds
    for (size_t i = 0; i < spec.addedTokens.size(); ++i) {
      const model::AddedToken &token = spec.addedTokens[i];
      if (token.special == special)
        (token.normalized ? normalized : raw)
            .add(token.normalized ? normalizedTexts[i] : token.content, static_cast<uint32_t>(i));
    }
  header.added = block.add(added);
  header.raw = block.add(raw);
  header.normalized = block.add(normalized);
  return {};
}

Result<std::string> Builder::write(const std::vector<std::string> &normalizedTexts) {
  llmc_tokenizer_header header{};
  memcpy(header.magic, LLMC_TOKENIZER_MAGIC, sizeof header.magic);
  header.version = LLMC_TOKENIZER_VERSION;
  header.kind =
      spec.kind == TokenizerKind::ByteLevel ? LLMC_TOKENIZER_BYTES : LLMC_TOKENIZER_CHARACTERS;
  header.flags = decoding.flags | (spec.ignoreMerges ? LLMC_TOKENIZER_IGNORE_MERGES : 0) |
                 (spec.byteFallback ? LLMC_TOKENIZER_BYTE_FALLBACK : 0) |
                 (spec.fuseUnknown ? LLMC_TOKENIZER_FUSE_UNKNOWN : 0);
  header.n_tokens = static_cast<uint32_t>(spec.tokens.size());
  header.bos = idOf(spec.bosId);
  header.eos = idOf(spec.eosId);
  header.unk = idOf(spec.unkId);
  header.pad = idOf(spec.padId);
  strings.clear();
  const std::string mark = decoding.mark.empty() ? kUsualMark : decoding.mark;
  header.mark = string(mark);
  if (mayCutAt(mark))
    header.flags |= LLMC_TOKENIZER_CUT_AT_MARK;
  header.strip = string(decoding.strip);
  header.strip_count = decoding.stripCount;

  Block block;
  texts(block, header);
  std::vector<uint8_t> flags;
  for (size_t id = 0; id < spec.tokens.size(); ++id)
    flags.push_back((spec.tokens[id].inModel ? LLMC_TOKEN_IN_MODEL : 0) |
                    (decoding.isByte[id] ? LLMC_TOKEN_BYTE : 0));
  for (const model::AddedToken &token : spec.addedTokens)
    if (token.special)
      flags[token.id] |= LLMC_TOKEN_SPECIAL;
  header.token_flags = block.add(flags);
  header.byte_tokens = block.add(byteTokens());
  header.vocabulary = block.add(vocabulary());
  header.merges = block.add(mergeTable());
  if (Status status = addedTokens(block, header, normalizedTexts); !status)
    return status.takeError();
  if (Status status = steps(block, header); !status)
    return status.takeError();
  header.prefix = block.add(spec.prefix);
  header.suffix = block.add(spec.suffix);
  std::vector<llmc_tokenizer_template> templates;
  for (const model::ChatTemplate &item : spec.chatTemplates)
    templates.push_back({string(item.name), string(item.text)});
  header.templates = block.add(templates);
  header.strings = block.add(strings.data(), strings.size());
  return block.finish(header);
}

// ---- With the runtime's own code ----

const Allocator &mallocAllocator() {
  static const Allocator allocator(nullptr);
  return allocator;
}

// The runtime's words, with the file in front.
Status opened(text::Tokenizer &tokenizer, const std::string &block, const std::string &file) {
  llmc_error error{};
  error.struct_size = sizeof error;
  if (tokenizer.open(block.data(), block.size(), escaped(file).c_str(), &error))
    return Error{error.message, {}};
  return {};
}

Result<std::vector<std::string>> normalizedContents(const text::Tokenizer &tokenizer,
                                                    const TokenizerSpec &spec,
                                                    const std::string &file) {
  std::vector<std::string> texts;
  for (const model::AddedToken &token : spec.addedTokens) {
    text::Array<char> result(mallocAllocator());
    if (token.normalized &&
        !tokenizer.normalise({token.content.data(), token.content.size()}, result))
      return errorAt(file, "/normalizer",
                     "found no end of work on '" + escaped(token.content, 60) +
                         "', expected a normaliser that ends");
    texts.emplace_back(result.data() ? result.data() : "", result.size());
  }
  return texts;
}

// A token whose bytes, merged as a word, give it alone may be looked up at once.
void flagWholes(const text::Tables &tables, std::string &block) {
  text::WordMerger merger(tables, mallocAllocator());
  text::Array<uint32_t> pieces(mallocAllocator());
  const uint64_t flags = tables.header->token_flags.offset;
  for (uint32_t id = 0; id < tables.header->n_tokens; ++id) {
    if (!(tables.tokenFlags[id] & LLMC_TOKEN_IN_MODEL) || tables.token(id).empty())
      continue;
    pieces.clear();
    merger.merge(tables.token(id), pieces);
    if (pieces.size() == 1 && pieces[0] == id)
      block[flags + id] |= LLMC_TOKEN_WHOLE;
  }
}

Result<std::string> Builder::run() {
  if (Status status = prepare(); !status)
    return status.takeError();
  std::vector<std::string> contents(spec.addedTokens.size());
  Result<std::string> block = write(contents);
  if (!block)
    return block;
  {
    text::Tokenizer first(mallocAllocator());
    if (Status status = opened(first, *block, file); !status)
      return status.takeError();
    Result<std::vector<std::string>> normalized = normalizedContents(first, spec, file);
    if (!normalized)
      return normalized.takeError();
    contents = std::move(*normalized);
  }
  block = write(contents);
  if (!block)
    return block;
  text::Tokenizer tokenizer(mallocAllocator());
  if (Status status = opened(tokenizer, *block, file); !status)
    return status.takeError();
  flagWholes(tokenizer.tables(), *block);
  return block;
}

} // namespace

Result<std::string> buildTables(const TokenizerSpec &spec, const std::string &file) {
  return Builder(spec, file).run();
}

} // namespace llmc::tokenizer
