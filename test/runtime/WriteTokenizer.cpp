// SPDX-License-Identifier: Apache-2.0
// Writes the tokenizer of the demo model with text as the numbers of a C array: one token for each
// of the few bytes that it knows, two that stand for the halves of one character, and ChatML.
#include "passes/codegen/tokenizer/TokenizerTables.h"

#include <cstdio>

using namespace llmc;

namespace {

// Ids are places in this text; 34 and 35 are the bytes of U+00E9.
constexpr char kBytes[] = "abcdefghijklmnopqrstuvwxyz \n.,?!-:\xc3\xa9\x30\x31";
constexpr int32_t kStart = 38, kEnd = 39; // the demo's eos

constexpr char kTemplate[] =
    "{% for message in messages %}{% if message.role == 'bad' %}{{ raise_exception('bad role') }}"
    "{% endif %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

void addSpecial(model::TokenizerSpec &spec, const char *content) {
  model::AddedToken added;
  added.id = static_cast<int32_t>(spec.tokens.size());
  added.content = content;
  added.special = true;
  spec.addedTokens.push_back(added);
  model::Token token;
  token.bytes = content;
  token.type = model::TokenType::Control;
  token.inModel = false;
  spec.tokens.push_back(token);
}

model::TokenizerSpec makeSpec() {
  model::TokenizerSpec spec;
  for (const char byte : std::string(kBytes, sizeof kBytes - 1)) {
    model::Token token;
    token.bytes = std::string(1, byte);
    spec.tokens.push_back(token);
  }
  addSpecial(spec, "<|im_start|>");
  addSpecial(spec, "<|im_end|>");
  spec.eosId = kEnd;
  model::PreTokenizerStep step;
  step.kind = model::PreTokenizerStep::Kind::ByteLevel;
  spec.preTokenizer = {step};
  spec.decoder = {model::DecoderStep()};
  spec.chatTemplates = {{"default", kTemplate}};
  return spec;
}

} // namespace

int main() {
  const model::TokenizerSpec spec = makeSpec();
  Result<std::string> tables = tokenizer::buildTables(spec, "demo");
  if (!tables || spec.tokens.size() != kEnd + 1 || spec.addedTokens[0].id != kStart) {
    fprintf(stderr, "%s\n", tables ? "the demo has 40 tokens" : tables.error().str().c_str());
    return 1;
  }
  for (size_t i = 0; i < tables->size(); ++i)
    printf("%u,%s", static_cast<unsigned>(static_cast<unsigned char>((*tables)[i])),
           i % 24 == 23 ? "\n" : "");
  return 0;
}
