// SPDX-License-Identifier: Apache-2.0
//
// The prompt of a command of llmc-compiler.
#include "tools/llmc/compiler/Prompt.h"
#include "tools/llmc/TokenIds.h"

namespace llmc::tool {

Result<std::vector<int32_t>> readPrompt(const PromptOptions &options, int64_t vocabulary) {
  std::string where = "--prompt-ids", text = options.ids;
  if (!options.file.empty()) {
    where = options.file;
    Result<std::string> read = readIdsFile(options.file);
    if (!read)
      return read.takeError();
    text = std::move(*read);
  }
  ParsedIds parsed = parseIds(text);
  if (!parsed.badPlace.empty())
    return errorAt(where, parsed.badPlace, parsed.badText);
  if (parsed.ids.empty())
    return errorAt(where, "", "found no ids, expected at least one, as in 1,2,3");
  std::vector<int32_t> tokens;
  for (int64_t id : parsed.ids) {
    if (id < 0 || id >= vocabulary)
      return errorAt(where, "id " + std::to_string(tokens.size() + 1),
                     "found " + std::to_string(id) + ", expected 0 to " +
                         std::to_string(vocabulary - 1) + " (the model's vocabulary has " +
                         std::to_string(vocabulary) + " ids)");
    tokens.push_back(int32_t(id));
  }
  return tokens;
}

} // namespace llmc::tool
