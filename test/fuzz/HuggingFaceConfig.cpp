// SPDX-License-Identifier: Apache-2.0
// Any text as config.json; what follows a zero byte is generation_config.json.
#include "Checks.h"
#include "frontends/huggingface/Config.h"

using namespace llmc;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view text(reinterpret_cast<const char *>(data), size);
  size_t zero = text.find('\0');
  std::string_view generation =
      zero == std::string_view::npos ? std::string_view() : text.substr(zero + 1);
  Result<model::ModelConfig> config = huggingface::parseConfig(
      text.substr(0, zero), "config.json", generation, "generation_config.json");
  if (!config)
    fuzz::checkError(config.error());
  else
    fuzz::require(model::validate(*config).empty());
  return 0;
}
