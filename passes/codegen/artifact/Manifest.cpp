// SPDX-License-Identifier: Apache-2.0
// One function a part of the manifest.
#include "passes/codegen/artifact/Manifest.h"

#include <cstdio>
#include <nlohmann/json.hpp>

namespace llmc::artifact {
namespace {

using Json = nlohmann::ordered_json;

std::string hexadecimal(uint64_t value) {
  char text[17];
  snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

// Always of one length: the manifest is laid out before the weights are packed.
std::string scientific(double value) {
  char text[16];
  snprintf(text, sizeof text, "%.3e", value);
  return text;
}

Json levelsPart(const std::vector<Level> &levels) {
  Json part = Json::array();
  for (const Level &level : levels)
    part.push_back(
        {{"name", level.name}, {"cpu", level.cpu}, {"features", featureNames(level.features)}});
  return part;
}

Json limitsPart(const Limits &limits) {
  return {{"hidden", limits.hidden},
          {"vocabulary", limits.vocabulary},
          {"layers", limits.layers},
          {"max_positions", limits.maxPositions},
          {"max_sequences", limits.maxSequences},
          {"eos", limits.eos}};
}

Json memoryPart(const Tables &tables) {
  return {{"weights_bytes", tables.weightsBytes},
          {"rows_arena_bytes_per_row", tables.rowsArenaBytes},
          {"outputs_arena_bytes_per_output", tables.outputsArenaBytes},
          {"kv_bytes_per_chunk", tables.chunkBytes},
          {"kv_chunk_tokens", LLMC_KV_CHUNK_TOKENS},
          {"session_bytes",
           "rows_arena_bytes_per_row * max_rows + outputs_arena_bytes_per_output * max_outputs + "
           "kv_bytes_per_chunk * page_chunks * pages"}};
}

Json graphsPart(const Tables &tables) {
  static constexpr const char *kKinds[] = {"prefill", "decode", "verify"};
  Json part = Json::array();
  for (const Graph &graph : tables.graphs)
    part.push_back({{"kind", kKinds[graph.kind]},
                    {"commands", graph.commands.size()},
                    {"operands", graph.operands.size()}});
  return part;
}

// Weights by packed format: how many, and how large; then each tensor that lost something.
Json quantisationPart(const Tables &tables, const PackReport &report) {
  std::map<std::string, std::pair<uint64_t, uint64_t>> formats;
  for (const PackedWeight &weight : tables.weights) {
    auto &[count, bytes] = formats[weight.layout()];
    ++count;
    bytes += weight.bytes;
  }
  Json kept = Json::array(), losses = Json::object();
  for (const auto &[format, sizes] : formats)
    kept.push_back({{"format", format}, {"weights", sizes.first}, {"bytes", sizes.second}});
  for (const auto &[name, loss] : report.losses)
    losses[name] = scientific(loss.relative());
  return {{"formats", std::move(kept)},
          {"relative_error", std::move(losses)}};
}

Json sourcePart(const ManifestParts &parts, const PackReport &report) {
  Json hashes = Json::object();
  for (const auto &[name, hash] : report.sources)
    hashes[name] = hexadecimal(hash);
  return {{"description", parts.source},
          {"hash", "xxh64 of the values as f32, or of codes, scales and minimums"},
          {"tensors", std::move(hashes)}};
}

Status addGiven(Json &manifest, const char *key, const std::string &text) {
  if (text.empty())
    return {};
  Json part = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (part.is_discarded())
    return errorAt(
        "manifest", key,
        "found text that is not JSON, expected JSON from the caller; this is a fault of llmc");
  manifest[key] = std::move(part);
  return {};
}

} // namespace

std::vector<std::string> featureNames(uint64_t features) {
  static constexpr const char *kNames[] = {"avx2",     "fma",        "f16c",      "bmi2",
                                           "avx512f",  "avx512bw",   "avx512dq",  "avx512vl",
                                           "avx512cd", "avx512vnni", "avx512bf16"};
  std::vector<std::string> names;
  for (unsigned i = 0; i < sizeof kNames / sizeof *kNames; ++i)
    if (features >> i & 1)
      names.push_back(kNames[i]);
  return names;
}

Result<std::string> buildManifest(const Tables &tables, const std::vector<Level> &levels,
                                  const std::string &name, const std::string &weightsFile,
                                  const ManifestParts &parts, const PackReport &report) {
  Json manifest = {
      {"abi_version", LLMC_ABI_VERSION}, {"llmc_version", LLMC_VERSION}, {"name", name}};
  manifest["target"] = levelsPart(levels);
  manifest["limits"] = limitsPart(tables.limits);
  manifest["memory"] = memoryPart(tables);
  manifest["graphs"] = graphsPart(tables);
  manifest["kernels"] = tables.kernels;
  manifest["quantisation"] = quantisationPart(tables, report);
  manifest["weights"] = {{"place", weightsFile.empty() ? "inside" : "separate"},
                         {"file", weightsFile},
                         {"hash", "xxh64 of the packed bytes"},
                         {"all", hexadecimal(report.hashes.all)}};
  manifest["source"] = sourcePart(parts, report);
  if (Status status = addGiven(manifest, "options", parts.options); !status)
    return status.takeError();
  if (Status status = addGiven(manifest, "cost", parts.cost); !status)
    return status.takeError();
  return manifest.dump(1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

} // namespace llmc::artifact
