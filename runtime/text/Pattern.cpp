// SPDX-License-Identifier: Apache-2.0
// PCRE2 behind two small classes. PCRE2 counts its steps for one match only and does not say how
// many it took, so a match that passes a low limit is tried again with four times as much, and each
// such limit is charged to the text's budget.
#include "runtime/text/Pattern.h"
#include "runtime/engine/Error.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace llmc::text {

namespace {

constexpr uint32_t kFreeSteps = 4096;        // of each match, not charged
constexpr uint64_t kStepsPerByte = 256;      // charged; real patterns stay below 20
constexpr uint64_t kStepsPerText = 1u << 20; // charged, whatever the length
constexpr uint64_t kHeapPerByte = 256;
constexpr uint64_t kHeapPerText = 32u << 20;
constexpr uint64_t kMostHeap = 1u << 30;

// PCRE2 frees without saying how much: the size stands before the memory.
constexpr size_t kSizeBytes = kAlignment;

void *allocateForPattern(size_t bytes, void *user) {
  const Allocator &allocator = *static_cast<const Allocator *>(user);
  if (bytes > PTRDIFF_MAX - kSizeBytes)
    return nullptr;
  char *memory = static_cast<char *>(allocator.allocate(bytes + kSizeBytes));
  if (!memory)
    return nullptr;
  memcpy(memory, &bytes, sizeof bytes);
  return memory + kSizeBytes;
}

void releaseOfPattern(void *pointer, void *user) {
  if (!pointer)
    return;
  char *memory = static_cast<char *>(pointer) - kSizeBytes;
  size_t bytes;
  memcpy(&bytes, memory, sizeof bytes);
  static_cast<const Allocator *>(user)->release(memory, bytes + kSizeBytes);
}

} // namespace

Pattern::~Pattern() {
  pcre2_code_free(code);
  pcre2_general_context_free(memory);
}

llmc_status Pattern::compile(const Allocator &from, Text text, const char *what,
                             llmc_error *error) {
  allocator = &from;
  memory = pcre2_general_context_create(allocateForPattern, releaseOfPattern,
                                        const_cast<Allocator *>(allocator));
  pcre2_compile_context *context = memory ? pcre2_compile_context_create(memory) : nullptr;
  if (!context)
    return fail(error, LLMC_OUT_OF_MEMORY, "%s: error: no memory for a pattern", what);
  // Oniguruma's line ends: `$` and `^` at each newline, `.` all but a newline.
  pcre2_set_newline(context, PCRE2_NEWLINE_LF);
  int problem = 0;
  PCRE2_SIZE place = 0;
  code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data), text.size,
                       PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C, &problem,
                       &place, context);
  pcre2_compile_context_free(context);
  if (code)
    return LLMC_OK;
  if (problem == PCRE2_ERROR_HEAP_FAILED)
    return fail(error, LLMC_OUT_OF_MEMORY, "%s: error: no memory for a pattern", what);
  char words[120];
  pcre2_get_error_message(problem, reinterpret_cast<PCRE2_UCHAR *>(words), sizeof words);
  return fail(error, LLMC_INVALID_ARGUMENT,
              "%s: error: found a pattern that cannot be compiled (%s, at byte %zu), expected a "
              "regular expression",
              what, words, static_cast<size_t>(place));
}

Search::~Search() {
  pcre2_match_data_free(data);
  pcre2_match_context_free(limits);
}

bool Search::prepare(const Pattern &from, size_t bytes) {
  pattern = &from;
  limits = pcre2_match_context_create(from.memory);
  data = pcre2_match_data_create(1, from.memory);
  if (!limits || !data)
    return false;
  budget = kStepsPerText + kStepsPerByte * bytes;
  const uint64_t heap = kHeapPerText + kHeapPerByte * bytes;
  pcre2_set_heap_limit(limits, static_cast<uint32_t>((heap < kMostHeap ? heap : kMostHeap) / 1024));
  return true;
}

Found Search::next(Text text, size_t from, Match &match) {
  for (uint32_t steps = kFreeSteps;; steps *= 4) {
    pcre2_set_match_limit(limits, steps);
    const int result = pcre2_match(pattern->code, reinterpret_cast<PCRE2_SPTR>(text.data),
                                   text.size, from, PCRE2_NO_UTF_CHECK, data, limits);
    if (result >= 0) {
      const PCRE2_SIZE *bounds = pcre2_get_ovector_pointer(data);
      // \K may move the beginning behind the end, or before what is done already.
      if (bounds[0] > bounds[1] || bounds[0] < from)
        return Found::Nothing;
      match = {bounds[0], bounds[1]};
      return Found::Match;
    }
    switch (result) {
    case PCRE2_ERROR_NOMATCH:
      return Found::Nothing;
    case PCRE2_ERROR_MATCHLIMIT:
      break;
    case PCRE2_ERROR_NOMEMORY:
      return Found::OutOfMemory;
    default: // the limits on heap and depth; recursion without end
      return Found::TooMuchWork;
    }
    if (budget < uint64_t(steps) * 4 || steps > UINT32_MAX / 4)
      return Found::TooMuchWork;
    budget -= uint64_t(steps) * 4;
  }
}

} // namespace llmc::text
