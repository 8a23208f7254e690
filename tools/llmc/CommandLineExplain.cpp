// SPDX-License-Identifier: Apache-2.0
// The options of `llmc explain`.
#include "tools/llmc/CommandLineExplain.h"
#include <vector>

namespace llmc::tool {
namespace {

template <typename Value>
CLI::Option *declareTokens(CLI::App &app, const char *name, Value &value, const char *about,
                           uint32_t least) {
  constexpr uint32_t kMost = 1u << 24;
  return app.add_option(name, value, about)
      ->check(CLI::Range(least, kMost).description(""))
      ->type_name("N");
}

std::string machineNames() {
  std::string names;
  for (const cost::Machine &machine : cost::machines())
    names += (names.empty() ? "" : ", ") + std::string(machine.name);
  return names;
}

} // namespace

void declareExplainOptions(CLI::App &app, ExplainOptions &options) {
  app.add_option("model", options.path, "model.so, model folder, .gguf, model.json or config.json")
      ->required()
      ->type_name("IN");
  app.add_option("--phase", options.phase, "prefill, decode or verify alone (default: all)")
      ->type_name("PHASE")
      ->check(CLI::IsMember({"prefill", "decode", "verify"}).description(""));
  declareTokens(app, "--prompt-len", options.promptLength,
                "new tokens of a sequence in prefill (default: 256)", 1);
  declareTokens(app, "--depth", options.depth,
                "tokens before the new ones (default: 1024; prefill: 0)", 0);
  declareTokens(app, "--batch", options.batch, "sequences", 1)->capture_default_str();
  app.add_option("--machine", options.machine, machineNames())
      ->type_name("NAME")
      ->capture_default_str();
  app.add_flag("--per-layer", options.perLayer, "each layer for itself instead of their sums");
  app.add_flag("--json", options.json, "all of it as JSON (schema 1), in bytes, FLOPs and seconds");
  const std::vector<CLI::Option *> ofCompile = {
      app.add_option("--quant", options.quant, "as for llmc compile, like those below")
          ->type_name("FORMAT"),
      app.add_option("--kv", options.kv, "format of keys and values")->type_name("FORMAT"),
      app.add_option("--target", options.target, "what schedules are chosen for")
          ->type_name("NAME"),
      app.add_option("--max-seq", options.maxSequence, "longest sequence, in tokens [the model's, up to 4096]")
          ->type_name("N")
          ->check(CLI::Range(int64_t(1), int64_t(1) << 24).description(""))};
  app.footer(
      "What a step costs op by op: FLOPs (a multiply-add is two), bytes by kind, what binds\n"
      "them on a machine, and exact memory. A config.json is enough: no weights are read.\n"
      "  llmc explain config.json --phase decode --depth 4000 --machine h200");
  app.parse_complete_callback([&options, ofCompile] {
    for (const CLI::Option *option : ofCompile)
      options.compiles |= option->count() > 0;
  });
}

} // namespace llmc::tool
