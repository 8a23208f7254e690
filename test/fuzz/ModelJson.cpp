// SPDX-License-Identifier: Apache-2.0
// Any text as model.json. One that is right is written and read again, to the same text.
#include "frontends/json/ModelJson.h"
#include "Checks.h"

using namespace llmc;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view text(reinterpret_cast<const char *>(data), size);
  Result<json::ModelDescription> read = json::parseModelJson(text, "model.json");
  if (!read) {
    fuzz::checkError(read.error());
    return 0;
  }
  fuzz::require(model::validate(read->config).empty());
  std::string written = json::writeModelJson(read->config, read->weights);
  Result<json::ModelDescription> again = json::parseModelJson(written, "written.json");
  fuzz::require(again.ok() && json::writeModelJson(again->config, again->weights) == written);
  return 0;
}
