// SPDX-License-Identifier: Apache-2.0
// Any bytes as a text, through tokenizers of both kinds. The ids of bytes decode to the text itself
// where nothing normalises and what is no UTF-8 was replaced.
#include "test/fuzz/TinyTokenizers.h"
#include "test/fuzz/UseTokenizer.h"

using namespace llmc;

namespace {

const Allocator allocator(nullptr);

// Opened once and never closed.
const text::Tokenizer &open(const std::string &tables) {
  auto *tokenizer = new text::Tokenizer(allocator);
  fuzz::require(tokenizer->open(tables.data(), tables.size(), "tiny", nullptr) == LLMC_OK);
  return *tokenizer;
}

void checkThatBytesComeBack(const text::Tokenizer &plain, std::string_view text) {
  text::Array<char> clean(allocator);
  text::appendWellFormed(clean, {text.data(), text.size()});
  uint64_t needed = 0;
  std::vector<int32_t> ids(3 * text.size() + 8);
  fuzz::require(plain.encode({text.data(), text.size()}, 0, ids.data(), ids.size(), needed,
                             nullptr) == LLMC_OK);
  std::string decoded(clean.size() + 1, '\0');
  decoded.resize(plain.decode({ids.data(), needed}, 0, decoded.data(), decoded.size()));
  fuzz::require(decoded == std::string(clean.data() ? clean.data() : "", clean.size()));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const std::string tables[] = {fuzz::tinyTables(true), fuzz::tinyTables(false),
                                       fuzz::tinyTables(true, /*normalizes=*/false)};
  static const text::Tokenizer *tokenizers[] = {&open(tables[0]), &open(tables[1]),
                                                &open(tables[2])};
  const std::string_view text(reinterpret_cast<const char *>(data), size);
  for (const text::Tokenizer *tokenizer : tokenizers)
    fuzz::exercise(*tokenizer, text);
  checkThatBytesComeBack(*tokenizers[2], text);
  return 0;
}
