// SPDX-License-Identifier: Apache-2.0
// Turns session options into exact counts, or says which option cannot be.
#include "runtime/engine/Error.h"
#include "runtime/engine/Session.h"
#include <algorithm>

namespace llmc {
namespace {

constexpr uint32_t kDefaultRows = 256;
constexpr uint32_t kDefaultPageChunks = 4;
constexpr uint32_t kMaxPageChunks = 1024;

// Pages that hold `tokens` however they are divided among the sequences: each may have one page
// that is nearly empty.
uint64_t pagesFor(uint64_t tokens, uint64_t sequences, uint64_t pageTokens) {
  return tokens <= sequences ? tokens : (tokens - sequences) / pageTokens + sequences;
}

llmc_status checkRange(const char *what, uint64_t found, uint64_t most, llmc_error *error) {
  if (found && found <= most)
    return LLMC_OK;
  return fail(error, LLMC_INVALID_ARGUMENT,
              "session options: error: found %s %llu, expected 1 to %llu", what,
              static_cast<unsigned long long>(found), static_cast<unsigned long long>(most));
}

} // namespace

llmc_status shapeSession(const llmc_model &model, const llmc_session_options *options,
                         SessionShape *shape, llmc_error *error) {
  const llmc_limits &limits = model.artifact->limits;
  const llmc_session_options defaults = {sizeof defaults, 0, 0, 0, 0, 0};
  const llmc_session_options &given = options ? *options : defaults;
  if (given.struct_size < sizeof given)
    return fail(error, LLMC_INVALID_ARGUMENT,
                "session options: error: found struct_size %u, expected at least %zu",
                given.struct_size, sizeof given);
  shape->maxTokens = given.max_tokens ? given.max_tokens : limits.max_positions;
  shape->maxSequences = given.max_sequences ? given.max_sequences : 1;
  shape->maxRows = given.max_rows ? given.max_rows : std::min(kDefaultRows, shape->maxTokens);
  shape->maxOutputs = given.max_outputs ? given.max_outputs : shape->maxSequences;
  shape->pageChunks = given.page_chunks ? given.page_chunks : kDefaultPageChunks;
  const uint64_t mostTokens = std::min<uint64_t>(
      static_cast<uint64_t>(limits.max_positions) * shape->maxSequences, INT32_MAX);
  if (llmc_status status =
          checkRange("max_sequences", shape->maxSequences, limits.max_sequences, error))
    return status;
  if (llmc_status status = checkRange("max_tokens", shape->maxTokens, mostTokens, error))
    return status;
  if (llmc_status status = checkRange("max_rows", shape->maxRows, shape->maxTokens, error))
    return status;
  // Results of a verify step take a line of the outputs arena for each sequence.
  if (llmc_status status = checkRange("max_outputs", shape->maxOutputs, INT32_MAX, error))
    return status;
  if (llmc_status status = checkRange("page_chunks", shape->pageChunks, kMaxPageChunks, error))
    return status;
  shape->maxOutputs = std::max(shape->maxOutputs, shape->maxSequences);
  shape->pageTokens = shape->pageChunks * LLMC_KV_CHUNK_TOKENS;
  const uint64_t longest = std::min(limits.max_positions, shape->maxTokens);
  const uint64_t perSequence = (longest + shape->pageTokens - 1) / shape->pageTokens;
  const uint64_t pages = pagesFor(shape->maxTokens, shape->maxSequences, shape->pageTokens);
  if (perSequence * shape->maxSequences > INT32_MAX)
    return fail(
        error, LLMC_INVALID_ARGUMENT,
        "session options: error: found %u sequences of %llu pages, expected at most %d pages; "
        "use larger pages or fewer sequences",
        shape->maxSequences, static_cast<unsigned long long>(perSequence), INT32_MAX);
  shape->pagesPerSequence = static_cast<uint32_t>(perSequence);
  shape->n_pages = static_cast<uint32_t>(pages);
  shape->helpers = model.context.helpers();
  return LLMC_OK;
}

} // namespace llmc
