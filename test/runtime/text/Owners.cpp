// SPDX-License-Identifier: Apache-2.0
// llmc.hpp's text in and out, apart from the headers of the compiler.
#include "llmc/llmc.hpp"

namespace llmc::test {

// The text that its tokens give, at once and one by one; what went wrong otherwise.
std::string roundTripByOwners(llmc_context *context, llmc_model_query query, const char *text) {
  Error error;
  llmc_model *opened = nullptr;
  if (llmc_model_from_artifact(context, query, nullptr, &opened, &error.raw))
    return error.message();
  const Model model(opened);
  Result<std::vector<int32_t>> tokens = encode(model, text, LLMC_ENCODE_ADD_SPECIAL);
  if (!tokens)
    return tokens.error().message();
  Result<Decoder> decoder = createDecoder(model, 0);
  if (!decoder)
    return decoder.error().message();
  std::string streamed;
  for (int32_t token : *tokens)
    streamed += *decodeNext(*decoder, token);
  Result<std::string> whole = decode(model, *tokens, 0);
  return whole && *whole == streamed ? streamed : "they differ";
}

} // namespace llmc::test
