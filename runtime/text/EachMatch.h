// SPDX-License-Identifier: Apache-2.0
// Walks over the matches of a step's pattern, regular or plain.
#pragma once

#include "runtime/text/Pattern.h"
#include "runtime/text/Tables.h"
#include "runtime/text/Utf8.h"

namespace llmc::text {

// Calls `between(begin, end)` and
// `match(begin, end)` in turn, in the order of the text; both may be empty ranges.
template <typename Between, typename OnMatch>
Found eachMatch(Text text, const llmc_tokenizer_step &step, Text plain, Search *search,
                Between &&between, OnMatch &&onMatch) {
  size_t done = 0;
  for (size_t from = 0; from <= text.size;) {
    Match match;
    if (step.flags & LLMC_TEXT_REGEX) {
      const Found found = search->next(text, from, match);
      if (found == Found::Nothing)
        break;
      if (found != Found::Match)
        return found;
    } else {
      const void *at = from < text.size
                           ? memmem(text.data + from, text.size - from, plain.data, plain.size)
                           : nullptr;
      if (!at)
        break;
      match.begin = static_cast<size_t>(static_cast<const char *>(at) - text.data);
      match.end = match.begin + plain.size;
    }
    between(done, match.begin);
    onMatch(match.begin, match.end);
    done = match.end;
    from = match.end;
    if (match.begin == match.end) // an empty match: on by a character
      from += from < text.size ? characterBytes(text.data[from]) : 1;
  }
  between(done, text.size);
  return Found::Nothing;
}

} // namespace llmc::text
