// SPDX-License-Identifier: Apache-2.0
#include "tools/llmc/CommandLineParts.h"

namespace llmc::tool {

void declareModel(CLI::App &app, ModelOptions &model) {
  app.add_option("model", model.path, "model.so that 'llmc compile' wrote")
      ->required()
      ->type_name("M.so");
  app.add_option("--name", model.name, "its name, where --name was given to compile");
  app.add_option("--weights-file", model.weights,
                 "its weights, if compiled with --weights=separate")
      ->type_name("F");
}

void declareWeightsPlace(CLI::App &app, ModelOptions &model) {
  app.add_option_function<std::string>(
         "--weights", [&model](const std::string &place) { model.copiesWeights = place == "copy"; },
         "read from the mapped file, or from a copy in huge pages [map]")
      ->type_name("map|copy")
      ->check(CLI::IsMember({"map", "copy"}).description(""));
}

CLI::Option *declareCount(CLI::App &app, const char *name, uint32_t &value, const char *about,
                          uint32_t least, uint32_t most) {
  // Without the range's own words, which would be longer than the rest of the line.
  return app.add_option(name, value, about)
      ->type_name("N")
      ->check(CLI::Range(least, most).description(""));
}

void declareThreads(CLI::App &app, ModelOptions &model) {
  declareCount(app, "--threads", model.threads, "threads of a step [all cores]", 1, kMostThreads);
}

} // namespace llmc::tool
