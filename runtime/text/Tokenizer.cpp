// SPDX-License-Identifier: Apache-2.0
#include "runtime/text/Tokenizer.h"
#include "runtime/engine/Error.h"

#include <cstdio>

namespace llmc::text {

namespace {

// \w as Rust's regex crate has it, which the `tokenizers` library asks about added tokens.
constexpr char kWordCharacter[] = R"([\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\x{200c}\x{200d}])";

void noteFirstBytes(const Trie &trie, bool *starts) {
  if (trie.nodes.empty())
    return;
  const llmc_tokenizer_node &root = trie.nodes[0];
  for (uint32_t e = root.first_edge; e < root.first_edge + root.n_edges; ++e)
    starts[trie.edges[e].byte] = true;
}

} // namespace

Tokenizer::~Tokenizer() {
  for (size_t i = 0; i < nPatterns; ++i)
    patterns[i].~Pattern();
  allocator.release(patterns, nPatterns * sizeof(Pattern));
}

llmc_status Tokenizer::open(const void *block, uint64_t bytes, const char *file,
                            llmc_error *error) {
  if (llmc_status status = readTables(block, bytes, file, table, error))
    return status;
  noteFirstBytes(table.raw, rawStarts);
  noteFirstBytes(table.normalized, normalizedStarts);
  for (const llmc_tokenizer_added &added : table.added)
    hasSingleWords |= (added.flags & LLMC_ADDED_SINGLE_WORD) != 0;
  return compilePatterns(file, error);
}

llmc_status Tokenizer::compilePatterns(const char *file, llmc_error *error) {
  if (hasSingleWords)
    if (llmc_status status = wordCharacter.compile(
            allocator, {kWordCharacter, sizeof kWordCharacter - 1}, file, error))
      return status;
  const size_t count = table.normalizer.size + table.preTokenizer.size;
  if (!count)
    return LLMC_OK;
  patterns = static_cast<Pattern *>(allocator.allocate(count * sizeof(Pattern)));
  if (!patterns)
    return fail(error, LLMC_OUT_OF_MEMORY, "%s: tokenizer: error: no memory for %zu patterns", file,
                count);
  for (nPatterns = 0; nPatterns < count; ++nPatterns)
    new (patterns + nPatterns) Pattern();
  for (size_t i = 0; i < count; ++i) {
    const bool normalizer = i < table.normalizer.size;
    const size_t number = normalizer ? i : i - table.normalizer.size;
    const llmc_tokenizer_step &step =
        normalizer ? table.normalizer[number] : table.preTokenizer[number];
    if (!(step.flags & LLMC_TEXT_REGEX))
      continue;
    char what[320];
    snprintf(what, sizeof what, "%s: tokenizer: %s step %zu", file,
             normalizer ? "normalizer" : "pre-tokenizer", number);
    if (llmc_status status =
            patterns[i].compile(allocator, table.string(step.pattern), what, error))
      return status == LLMC_INVALID_ARGUMENT ? LLMC_BAD_ARTIFACT : status;
  }
  return LLMC_OK;
}

} // namespace llmc::text
