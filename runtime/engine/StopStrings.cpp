// SPDX-License-Identifier: Apache-2.0
// Stop strings by Knuth, Morris and Pratt, one state a string: what is matched so far may still
// become a stop string, and is held back.
#include "llmc/sample.h"
#include "runtime/engine/Context.h"
#include "runtime/engine/Error.h"
#include <algorithm>
#include <cstring>

struct llmc_stop {
  explicit llmc_stop(llmc_context &context) : context(context) { context.retain(); }

  struct Pattern {
    uint32_t begin; // of its bytes, and of its fallbacks
    uint32_t length;
    uint32_t matched;
  };

  llmc_context &context;
  llmc::Buffer<char> bytes;
  llmc::Buffer<uint32_t> fallbacks; // [i]: longest proper prefix that ends the first i + 1 bytes
  llmc::Buffer<Pattern> patterns;
  uint64_t seen = 0; // bytes of the text
  uint64_t safe = 0;
  int32_t found = -1;
};

namespace llmc {
namespace {

// Length of the longest prefix of the pattern that ends the text with `byte` behind it.
uint32_t advance(const char *pattern, const uint32_t *fallbacks, uint32_t matched, char byte) {
  while (matched && pattern[matched] != byte)
    matched = fallbacks[matched - 1];
  return pattern[matched] == byte ? matched + 1 : 0;
}

llmc_status measure(const char *const *strings, uint32_t n, size_t *total, llmc_error *error) {
  for (uint32_t i = 0; i < n; ++i) {
    const size_t length = strings[i] ? strnlen(strings[i], LLMC_LONGEST_STOP_STRING + 1) : 0;
    if (!length || length > LLMC_LONGEST_STOP_STRING)
      return fail(error, LLMC_INVALID_ARGUMENT,
                  "stop strings: string %u: error: found %s, expected 1 to %u bytes", i,
                  length ? "a longer one" : "an empty one", LLMC_LONGEST_STOP_STRING);
    *total += length;
  }
  return LLMC_OK;
}

void fillPattern(llmc_stop &stop, llmc_stop::Pattern &pattern, const char *string) {
  char *bytes = stop.bytes.data() + pattern.begin;
  uint32_t *fallbacks = stop.fallbacks.data() + pattern.begin;
  memcpy(bytes, string, pattern.length);
  fallbacks[0] = 0;
  for (uint32_t i = 1; i < pattern.length; ++i)
    fallbacks[i] = advance(bytes, fallbacks, fallbacks[i - 1], bytes[i]);
}

void feed(llmc_stop &stop, char byte) {
  ++stop.seen;
  uint32_t longest = 0;
  for (uint32_t i = 0; i < stop.patterns.size(); ++i) {
    llmc_stop::Pattern &pattern = stop.patterns[i];
    pattern.matched = advance(stop.bytes.data() + pattern.begin,
                              stop.fallbacks.data() + pattern.begin, pattern.matched, byte);
    const bool isWhole = pattern.matched == pattern.length;
    if (isWhole &&
        (stop.found < 0 || pattern.length > stop.patterns[static_cast<size_t>(stop.found)].length))
      stop.found = static_cast<int32_t>(i);
    longest = std::max(longest, pattern.matched);
  }
  if (stop.found >= 0)
    longest = stop.patterns[static_cast<size_t>(stop.found)].length;
  stop.safe = stop.seen - longest;
}

} // namespace
} // namespace llmc

using namespace llmc;

extern "C" llmc_status llmc_stop_create(llmc_context *context, const char *const *strings,
                                        uint32_t n_strings, llmc_stop **stop, llmc_error *error) {
  if (stop)
    *stop = nullptr;
  if (!context || !stop || (n_strings && !strings) || n_strings > LLMC_MOST_STOP_STRINGS)
    return fail(error, LLMC_INVALID_ARGUMENT,
                "stop strings: error: found %u strings, or a missing context, list or result, "
                "expected at most %u and all three",
                n_strings, LLMC_MOST_STOP_STRINGS);
  size_t total = 0;
  if (llmc_status status = measure(strings, n_strings, &total, error))
    return status;
  const Allocator &allocator = context->allocator;
  llmc_stop *made = allocator.create<llmc_stop>(*context);
  if (!made || !made->bytes.allocate(allocator, total) ||
      !made->fallbacks.allocate(allocator, total) ||
      !made->patterns.allocate(allocator, n_strings)) {
    llmc_stop_destroy(made);
    return fail(error, LLMC_OUT_OF_MEMORY, "stop strings: error: no memory for %zu bytes", total);
  }
  uint32_t begin = 0;
  for (uint32_t i = 0; i < n_strings; ++i) {
    llmc_stop::Pattern &pattern = made->patterns[i];
    pattern = {begin, static_cast<uint32_t>(strlen(strings[i])), 0};
    fillPattern(*made, pattern, strings[i]);
    begin += pattern.length;
  }
  *stop = made;
  return LLMC_OK;
}

extern "C" void llmc_stop_destroy(llmc_stop *stop) {
  if (!stop)
    return;
  llmc_context &context = stop->context;
  context.allocator.destroy(stop);
  context.release();
}

extern "C" void llmc_stop_reset(llmc_stop *stop) {
  if (!stop)
    return;
  for (uint32_t i = 0; i < stop->patterns.size(); ++i)
    stop->patterns[i].matched = 0;
  stop->seen = stop->safe = 0;
  stop->found = -1;
}

extern "C" llmc_status llmc_stop_feed(llmc_stop *stop, const char *bytes, size_t n_bytes,
                                      llmc_stop_result *result, llmc_error *error) {
  if (!stop || (n_bytes && !bytes) || !result || result->struct_size < sizeof *result)
    return fail(error, LLMC_INVALID_ARGUMENT,
                "stop strings: error: found a missing argument or struct_size %u, expected all and "
                "at least %zu",
                result ? result->struct_size : 0, sizeof *result);
  for (size_t i = 0; i < n_bytes && stop->found < 0; ++i)
    feed(*stop, bytes[i]);
  *result = {result->struct_size, stop->found, stop->safe};
  return LLMC_OK;
}
