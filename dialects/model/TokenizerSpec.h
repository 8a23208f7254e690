// SPDX-License-Identifier: Apache-2.0
// A tokenizer as plain data: what a frontend found out, whatever file it came from. The road of a
// text is: added tokens are cut out, the rest is normalised (steps in order), cut into words by the
// pre-tokenizer (steps in order), and each word is merged pair by pair (BPE). Decoding joins the
// tokens' bytes and runs the decoder's steps. passes/codegen/artifact turns a spec into the tables
// that travel in an artefact; runtime/text reads those.
#pragma once

#include "dialects/model/Error.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace llmc::model {

// What a word's first symbols are, before any merge.
enum class TokenizerKind {
  ByteLevel,  // bytes (GPT-2 and its kin); tokens are byte strings
  Characters, // characters (SentencePiece and its kin); tokens are UTF-8
};

// As GGUF names them. Only Normal, UserDefined and Byte tokens come out of merges.
enum class TokenType : uint8_t { Normal, Unknown, Control, UserDefined, Unused, Byte };

struct Token {
  // ByteLevel: the bytes that it stands for, GPT-2's printable alphabet undone (`fromByteAlphabet`;
  // a text that is not wholly in it stands for itself, and `inModel` is false). Characters: the
  // piece as stored, "▁the" or "<0x0A>".
  std::string bytes;
  float score = 0; // Characters without merges: the pair whose result scores highest merges first
  TokenType type = TokenType::Normal;
  // Words may hold it. False for tokens that only the list of added tokens has, and for holes.
  bool inModel = true;
};

// The order of merges is their rank.
struct Merge {
  int32_t left = 0;
  int32_t right = 0;
  int32_t result = 0; // the token whose bytes are left's and right's
};

// Found in a text before anything else: leftmost first, the longest at a place.
struct AddedToken {
  int32_t id = 0;
  std::string content;     // UTF-8, not empty
  bool special = false;    // left out of decoded text; found only where specials are to be read
  bool lstrip = false;     // takes white space before it along
  bool rstrip = false;     // takes white space after it along
  bool singleWord = false; // only where no word character touches it
  bool normalized = false; // looked for after normalisation, in what that left
};

// A regular expression in Oniguruma's syntax (which the `tokenizers` library uses), or plain text.
struct Pattern {
  std::string text;
  bool isRegex = false;
};

struct NormalizerStep {
  enum class Kind {
    NFC,
    NFD,
    NFKC,
    NFKD,
    Prepend,    // `content` before a text that is not empty
    Replace,    // each match of `pattern` becomes `content`
    StripLeft,  // white space at the start goes
    StripRight, // white space at the end goes
  };
  Kind kind = Kind::NFC;
  Pattern pattern = {};     // Replace
  std::string content = {}; // Prepend, Replace
};

// What becomes of the text that a split's pattern matches.
enum class SplitBehavior { Removed, Isolated, MergedWithPrevious, MergedWithNext, Contiguous };
// When a Metaspace step puts its mark before a text.
enum class PrependScheme { Never, Always, First };

struct PreTokenizerStep {
  enum class Kind {
    Split,       // cuts at the matches of `pattern`
    PrefixSpace, // " " before each word that has none
    ByteLevel,   // from here on words are in GPT-2's alphabet; in ByteLevel tokenizers, once
    Metaspace,   // spaces become `replacement`, which is put in front by `prepend`
  };
  Kind kind = Kind::Split;
  Pattern pattern = {};                             // Split
  SplitBehavior behavior = SplitBehavior::Isolated; // Split
  bool invert = false;                              // Split: what lies between matches counts
  std::string replacement = "\xe2\x96\x81";         // Metaspace
  PrependScheme prepend = PrependScheme::Always;    // Metaspace
  bool split = true;                                // Metaspace: a word begins at each mark
};

struct DecoderStep {
  enum class Kind {
    ByteLevel,    // bytes are read as UTF-8, U+FFFD for what is not
    ByteFallback, // runs of <0xNN> become their bytes, each U+FFFD where they are not UTF-8
                  // together
    Replace,      // in each token, each match of `pattern` becomes `content`
    Fuse,         // all tokens become one
    Strip,        // up to `start` and `stop` times `content` at the ends of each token goes
    Metaspace,    // `content` becomes " ", and goes where it begins the first token and `prepend`
                  // is not Never
  };
  Kind kind = Kind::ByteLevel;
  Pattern pattern = {};                          // Replace
  std::string content = {};                      // Replace, Strip, Metaspace
  int32_t start = 0;                             // Strip
  int32_t stop = 0;                              // Strip
  PrependScheme prepend = PrependScheme::Always; // Metaspace
};

struct ChatTemplate {
  std::string name; // "default", "tool_use", ...
  std::string text;
};

struct TokenizerSpec {
  TokenizerKind kind = TokenizerKind::ByteLevel;
  std::vector<Token> tokens; // by id
  // Empty for Characters: derived from the scores, every way to cut a token into two others.
  std::vector<Merge> merges;
  std::vector<AddedToken> addedTokens;
  std::vector<NormalizerStep> normalizer;
  std::vector<PreTokenizerStep> preTokenizer;
  std::vector<DecoderStep> decoder; // empty: tokens joined by a space

  bool ignoreMerges = false; // a word that is a token is that token, whatever the merges say
  bool byteFallback = false; // Characters: a symbol that is no token becomes its bytes' <0xNN>
  bool fuseUnknown = false;  // neighbouring unknowns become one

  // -1: none.
  int32_t bosId = -1;
  int32_t eosId = -1;
  int32_t unkId = -1;
  int32_t padId = -1;
  // What encoding puts before and after a text (the post-processor's template for one text).
  std::vector<int32_t> prefix; // mostly [bosId] or nothing
  std::vector<int32_t> suffix; // mostly nothing or [eosId]

  std::vector<ChatTemplate> chatTemplates; // "default" first where there is one
};

// GPT-2's printable alphabet: each byte has one character. Undone; false, and `bytes` untouched,
// when `text` holds another character.
bool fromByteAlphabet(std::string_view text, std::string &bytes);
// The same alphabet, done: the character (UTF-8) of each byte.
std::string toByteAlphabet(std::string_view bytes);

// GGUF names its pre-tokenizer only ("llama-bpe", "qwen2", "smollm"): fills preTokenizer, and what
// the same name implies for normalizer and ignoreMerges. False when no such name is known.
bool applyNamedPreTokenizer(std::string_view name, TokenizerSpec &spec);
// All known names, separated by ", ", for an error.
std::string namedPreTokenizers();

// SentencePiece's usual steps (GGUF's "llama"): normalizer Prepend (when `addSpacePrefix`) and
// Replace of " " by U+2581, decoder Replace, ByteFallback, Fuse, Strip; byteFallback on.
void applySentencePieceSteps(TokenizerSpec &spec, bool addSpacePrefix);
// Byte level's usual decoder.
void applyByteLevelDecoder(TokenizerSpec &spec);

// Upper limits; readers refuse more before they allocate for it.
inline constexpr int64_t maxTokenBytes = int64_t(1) << 20;    // of one token
inline constexpr int64_t maxTokenizerSteps = 64;              // of each list of steps
inline constexpr int64_t maxPatternBytes = int64_t(1) << 16;  // of one pattern
inline constexpr int64_t maxTemplateBytes = int64_t(1) << 24; // of one chat template

// What is wrong with a spec, whoever filled it: ids out of range, merges whose result is not their
// parts joined, a kind without the steps it needs. `file` and `place` begin the error's line.
Status validate(const TokenizerSpec &spec, std::string_view file, std::string_view place);

} // namespace llmc::model
