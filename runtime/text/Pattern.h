// SPDX-License-Identifier: Apache-2.0
// A regular expression, compiled when a model is opened and shared by threads, and a search that
// one thread runs over one text. The work of a search is bounded by a budget that grows with the
// text, so no pattern from a stranger's file takes for ever.
#pragma once

#include "llmc/llmc.h"
#include "runtime/engine/Memory.h"
#include "runtime/text/Span.h"

struct pcre2_real_code_8;
struct pcre2_real_general_context_8;
struct pcre2_real_match_context_8;
struct pcre2_real_match_data_8;

namespace llmc::text {

class Pattern {
public:
  Pattern() = default;
  Pattern(const Pattern &) = delete;
  Pattern &operator=(const Pattern &) = delete;
  ~Pattern();

  // `text` is in PCRE2's syntax and UTF-8. LLMC_INVALID_ARGUMENT when it is no pattern, with
  // PCRE2's words and the place in `error`; `what` begins the line.
  llmc_status compile(const Allocator &allocator, Text text, const char *what, llmc_error *error);
  bool isCompiled() const { return code; }

private:
  friend class Search;
  const Allocator *allocator = nullptr;
  pcre2_real_general_context_8 *memory = nullptr;
  pcre2_real_code_8 *code = nullptr;
};

struct Match {
  size_t begin = 0;
  size_t end = 0;
};

enum class Found { Match, Nothing, TooMuchWork, OutOfMemory };

class Search {
public:
  Search(const Search &) = delete;
  Search &operator=(const Search &) = delete;
  Search() = default;
  ~Search();

  // For a text of `bytes`, which bounds the work. False when there is no memory. `pattern` is
  // borrowed.
  bool prepare(const Pattern &pattern, size_t bytes);
  // The first match at or behind `from`, in well-formed text. Look-behind sees all of the text.
  Found next(Text text, size_t from, Match &match);

private:
  const Pattern *pattern = nullptr;
  pcre2_real_match_context_8 *limits = nullptr;
  pcre2_real_match_data_8 *data = nullptr;
  uint64_t budget = 0;
};

} // namespace llmc::text
