// SPDX-License-Identifier: Apache-2.0
// Any bytes as a tokenizer.json; what is accepted becomes tables, and those encode and decode a
// text. What follows a zero byte is a tokenizer_config.json.
#include "frontends/text/TokenizerJson.h"
#include "Checks.h"
#include "frontends/text/TokenizerFolder.h"
#include "passes/codegen/tokenizer/TokenizerTables.h"
#include "test/fuzz/UseTokenizer.h"

using namespace llmc;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::string_view input(reinterpret_cast<const char *>(data), size);
  const size_t zero = input.find('\0');
  Result<model::TokenizerSpec> spec =
      tokenizers::parseTokenizerJson(input.substr(0, zero), "tokenizer.json");
  if (!spec) {
    fuzz::checkError(spec.error());
    return 0;
  }
  if (zero != std::string_view::npos) {
    Status status =
        tokenizers::applyTokenizerConfig(input.substr(zero + 1), "tokenizer_config.json", *spec);
    if (!status)
      fuzz::checkError(status.error());
  }
  Result<std::string> tables = tokenizer::buildTables(*spec, "tokenizer.json");
  if (!tables) {
    fuzz::checkError(tables.error());
    return 0;
  }
  fuzz::require(fuzz::useTokenizer(*tables, "ab c\xc3\xa9 <s> 1234 \xff ab\r\n  x"));
  return 0;
}
