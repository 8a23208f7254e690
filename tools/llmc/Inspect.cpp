// SPDX-License-Identifier: Apache-2.0
// `llmc inspect`: what a compiled model holds and what a session of it will need, before anything
// is run.
#include "runtime/engine/Inspect.h"
#include "tools/llmc/bench/CommandTimes.h"
#include "tools/llmc/Format.h"
#include "tools/llmc/InspectParts.h"

namespace llmc::tool {
namespace {

using ull = unsigned long long;

void printField(const char *name, const std::string &value) {
  print(formatted("%-15s %s\n", name, value.c_str()));
}

std::string joined(const std::vector<std::string> &parts) {
  std::string text;
  for (const std::string &part : parts)
    text += (text.empty() ? "" : ", ") + part;
  return text.empty() ? "none" : text;
}

std::string levelsText(const llmc_artifact &artifact, uint32_t used) {
  std::vector<std::string> parts;
  for (uint32_t i = 0; i < artifact.n_levels; ++i)
    parts.push_back(escaped(artifact.levels[i].name) + " for " + escaped(artifact.levels[i].cpu) +
                    (i == used ? " (used here)" : ""));
  return joined(parts);
}

std::string eosText(const llmc_limits &limits) {
  std::vector<std::string> parts;
  for (uint32_t i = 0; i < limits.n_eos; ++i)
    parts.push_back(std::to_string(limits.eos[i]));
  return joined(parts);
}

std::string graphsText(const llmc_artifact &artifact) {
  std::vector<std::string> parts;
  for (uint32_t i = 0; i < artifact.n_graphs; ++i)
    parts.push_back(formatted("%s %u commands", graphName(artifact.graphs[i].kind),
                              artifact.graphs[i].n_commands));
  return joined(parts);
}

const char *elementName(uint32_t element) {
  static constexpr const char *kNames[] = {"f32", "f16", "bf16", "i8", "i4", "i32"};
  return element < std::size(kNames) ? kNames[element] : "unknown";
}

void printKernels(const llmc_artifact &artifact) {
  printField("kernels", std::to_string(artifact.n_kernels));
  for (uint32_t i = 0; i < artifact.n_kernels; ++i)
    print("  " + escaped(artifact.kernel_names[i]) + "\n");
}

bool sameShape(const llmc_cache &a, const llmc_cache &b) {
  return a.element == b.element && a.kv_heads == b.kv_heads && a.key_width == b.key_width &&
         a.value_width == b.value_width && a.token_major == b.token_major;
}

// Caches in runs of equal ones.
void printCaches(const llmc_artifact &artifact) {
  printField("caches", std::to_string(artifact.n_caches));
  for (uint32_t i = 0; i < artifact.n_caches;) {
    const llmc_cache &cache = artifact.caches[i];
    uint32_t end = i + 1;
    while (end < artifact.n_caches && sameShape(cache, artifact.caches[end]))
      ++end;
    std::string names = escaped(cache.name);
    if (end - i > 1)
      names += " to " + escaped(artifact.caches[end - 1].name);
    print(formatted("  %s: %s, %u heads, keys %u wide, values %u, %s, %llu bytes a chunk\n",
                    names.c_str(), elementName(cache.element), cache.kv_heads, cache.key_width,
                    cache.value_width, cache.token_major ? "token-major" : "head-major",
                    static_cast<ull>(cache.key_bytes + cache.value_bytes)));
    i = end;
  }
}

// What llmc_session_create would ask for, for one sequence as long as the model allows.
Status printMemory(const LoadedModel &loaded, const llmc_artifact &artifact) {
  printField("weights", formatted("%u, %s, %s", artifact.n_weights,
                                  sizeInWords(artifact.weights_bytes).c_str(),
                                  artifact.weights_file ? "in a separate file" : "inside"));
  printField("rows arena",
             formatted("%llu bytes * max_rows", static_cast<ull>(artifact.rows_arena_bytes)));
  printField("outputs arena",
             formatted("%llu bytes * max_outputs", static_cast<ull>(artifact.outputs_arena_bytes)));
  printField("kv", formatted("%llu bytes * chunks of %u tokens, %llu bytes a token",
                             static_cast<ull>(artifact.chunk_bytes), LLMC_KV_CHUNK_TOKENS,
                             static_cast<ull>(loaded.info.token_bytes)));
  llmc_session_options sizes = {};
  sizes.struct_size = sizeof sizes;
  uint64_t bytes = 0;
  CallError error;
  if (llmc_session_bytes(loaded.model.get(), &sizes, &bytes, error.raw()))
    return error.take();
  printField("session", formatted("%s for 1 sequence of %u tokens", sizeInWords(bytes).c_str(),
                                  artifact.limits.max_positions));
  return {};
}

Status printOverview(const LoadedModel &loaded, const llmc_artifact &artifact) {
  const llmc_limits &limits = artifact.limits;
  printField("model", escaped(loaded.path, 4096));
  printField("name", *artifact.name ? escaped(artifact.name) : "none");
  printField("abi", std::to_string(artifact.abi_version));
  printField("levels", levelsText(artifact, inspect::levelOf(loaded.model.get())));
  printField("layers", std::to_string(limits.layers));
  printField("hidden", std::to_string(limits.hidden));
  printField("vocabulary", std::to_string(limits.vocabulary));
  printField("max positions", std::to_string(limits.max_positions) + " tokens");
  printField("max sequences", std::to_string(limits.max_sequences));
  printField("eos", eosText(limits));
  printField("graphs", graphsText(artifact));
  printKernels(artifact);
  printCaches(artifact);
  return printMemory(loaded, artifact);
}

void printWeights(const llmc_artifact &artifact) {
  Table table({"weight", "format", ">rows", ">columns", ">offset", ">bytes", "hash"});
  for (uint32_t i = 0; i < artifact.n_weights; ++i) {
    const llmc_weight &weight = artifact.weights[i];
    table.add({escaped(weight.name), escaped(weight.format), std::to_string(weight.rows),
               std::to_string(weight.columns), std::to_string(weight.offset),
               std::to_string(weight.bytes), formatted("%016llx", static_cast<ull>(weight.hash))});
  }
  print(table.text());
}

} // namespace

Status inspectModel(const InspectOptions &options) {
  Result<LoadedModel> loaded = loadModel(options.model, nullptr);
  if (!loaded)
    return loaded.takeError();
  const llmc_artifact &artifact = inspect::artifactOf(loaded->model.get());
  const bool wantsPart =
      !options.commands.empty() || options.weights || options.manifest || options.verify;
  Status status;
  if (!wantsPart)
    status = printOverview(*loaded, artifact);
  if (status && !options.commands.empty())
    status = printCommands(*loaded, options.commands);
  if (options.weights)
    printWeights(artifact);
  if (options.manifest)
    print(std::string(artifact.manifest, artifact.manifest_bytes) + "\n");
  if (status && options.verify)
    status = verifyWeights(*loaded);
  if (!status)
    return status;
  return finishOutput();
}

} // namespace llmc::tool
