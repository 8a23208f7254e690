// SPDX-License-Identifier: Apache-2.0
// Any text as a chat template, rendered over a conversation with tools; what follows a zero byte is
// JSON to be read as variables instead. Limits are low, so that each is met.
#include "runtime/text/template/Template.h"
#include "runtime/text/template/ReadJson.h"
#include <cstdlib>

using namespace llmc::templates;

static const char kVariables[] =
    R"({"messages": [{"role": "system", "content": " S\n"}, {"role": "user", "content": "é 漢 <x>"},
        {"role": "assistant", "content": null, "tool_calls": [{"id": "abcdefghi", "function":
         {"name": "f", "arguments": {"a": [1, 2.5, true, null], "b": {"c": "d"}}}}]},
        {"role": "tool", "content": [{"type": "text", "text": "t"}]}],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {"x": {}}}}],
        "bos_token": "<s>", "add_generation_prompt": true, "i": 7, "s": "a b", "xs": [3, 1, 2],
        "d": {"b": 1, "a": 2}, "n": null})";

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const Text input(reinterpret_cast<const char *>(data), size);
  const size_t zero = input.find(Text("\0", 1));
  const Text source = zero == Text::kNone ? input : input.slice(0, zero);
  const Source json{"variables", zero == Text::kNone ? Text(kVariables) : input.from(zero + 1)};

  Limits limits;
  limits.steps = 100000, limits.sourceBytes = 1 << 16, limits.outputBytes = 1 << 20;
  limits.memoryBytes = 16 << 20, limits.depth = 60;
  llmc_error error{};
  error.struct_size = sizeof error;
  const llmc::Allocator allocator(nullptr);
  Job job(allocator, limits, &error);
  const Value variables = readJson(job, json);
  Text rendering;
  if (!job.failed())
    render(job, source, variables, 1790000000, &rendering);
  uint64_t sum = 0; // every byte can be read
  for (char byte : rendering)
    sum += static_cast<unsigned char>(byte);
  if (job.failed() != (error.message[0] != '\0') || strchr(error.message, '\n') ||
      rendering.size > limits.outputBytes || sum == UINT64_MAX)
    abort();
  return 0;
}
