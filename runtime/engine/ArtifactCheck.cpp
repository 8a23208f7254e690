// SPDX-License-Identifier: Apache-2.0
// The root table, levels, caches and weights.
#include "runtime/engine/ArtifactCheck.h"
#include "runtime/engine/Error.h"

namespace llmc {
namespace {

// Far above any model, low enough that no product below overflows.
constexpr uint32_t kMaxGraphs = 64;
constexpr uint32_t kMaxLevels = 16;
constexpr uint32_t kMaxTable = 1u << 20;
constexpr uint32_t kMaxCount = 1u << 30;
constexpr uint64_t kMaxBytes = 1ull << 44;

// A root table from before its newest fields ends here.
constexpr size_t kLeastBytes = offsetof(llmc_artifact, run_help);

using ull = unsigned long long;

llmc_status checkPointers(const CheckPlace &place, const llmc_artifact &a) {
  struct {
    const char *what;
    bool inside;
  } const items[] = {
      {"name", place.mapping.holdsString(a.name)},
      {"manifest", place.mapping.holds(a.manifest, a.manifest_bytes)},
      {"graphs", a.n_graphs <= kMaxGraphs && place.mapping.holdsArray(a.graphs, a.n_graphs)},
      {"kernel_names",
       a.n_kernels <= kMaxTable && place.mapping.holdsArray(a.kernel_names, a.n_kernels)},
      {"levels", a.n_levels <= kMaxLevels && place.mapping.holdsArray(a.levels, a.n_levels)},
      {"caches", a.n_caches <= kMaxTable && place.mapping.holdsArray(a.caches, a.n_caches)},
      {"weights", a.n_weights <= kMaxTable && place.mapping.holdsArray(a.weights, a.n_weights)},
      {"limits.eos",
       a.limits.n_eos <= kMaxTable && place.mapping.holdsArray(a.limits.eos, a.limits.n_eos)},
      {"tokenizer", !a.tokenizer || (place.mapping.holds(a.tokenizer, a.tokenizer_bytes) &&
                                     reinterpret_cast<uintptr_t>(a.tokenizer) % 8 == 0)},
      {"weights_file", !a.weights_file || place.mapping.holdsString(a.weights_file)},
      {"cpu_features", place.mapping.holdsCode(reinterpret_cast<const void *>(a.cpu_features))},
      {"run_bytes", place.mapping.holdsCode(reinterpret_cast<const void *>(a.run_bytes))},
      {"run_begin", place.mapping.holdsCode(reinterpret_cast<const void *>(a.run_begin))},
      {"run_work", place.mapping.holdsCode(reinterpret_cast<const void *>(a.run_work))},
      {"run_cancel", place.mapping.holdsCode(reinterpret_cast<const void *>(a.run_cancel))},
      {"run_help",
       !hasHelp(a) || place.mapping.holdsCode(reinterpret_cast<const void *>(a.run_help))},
  };
  for (const auto &item : items)
    if (!item.inside)
      return fail(place.error, LLMC_BAD_ARTIFACT,
                  "%s: root table: error: found %s outside the model's memory, expected it inside; "
                  "the file is damaged, compile it again",
                  place.file, item.what);
  return LLMC_OK;
}

llmc_status checkCounts(const CheckPlace &place, const llmc_artifact &a) {
  struct {
    const char *what;
    uint64_t found;
    uint64_t least;
    uint64_t most;
  } const items[] = {
      {"graphs", a.n_graphs, 1, kMaxGraphs},
      {"kernels", a.n_kernels, 1, kMaxTable},
      {"levels", a.n_levels, 1, kMaxLevels},
      {"hidden", a.limits.hidden, 1, kMaxCount},
      {"vocabulary", a.limits.vocabulary, 1, kMaxCount},
      {"max_positions", a.limits.max_positions, 1, kMaxCount},
      {"max_sequences", a.limits.max_sequences, 1, kMaxTable},
      {"rows_arena_bytes", a.rows_arena_bytes, 1, kMaxBytes},
      {"outputs_arena_bytes", a.outputs_arena_bytes, 1, kMaxBytes},
      {"chunk_bytes", a.chunk_bytes, 0, kMaxBytes},
      {"weights_bytes", a.weights_bytes, 0, kMaxBytes},
  };
  for (const auto &item : items)
    if (item.found < item.least || item.found > item.most)
      return fail(
          place.error, LLMC_BAD_ARTIFACT,
          "%s: root table: error: found %s %llu, expected %llu to %llu; the file is damaged, "
          "compile it again",
          place.file, item.what, static_cast<ull>(item.found), static_cast<ull>(item.least),
          static_cast<ull>(item.most));
  return LLMC_OK;
}

llmc_status checkLevels(const CheckPlace &place, const llmc_artifact &a) {
  for (uint32_t i = 0; i < a.n_levels; ++i) {
    const llmc_level &level = a.levels[i];
    if (!place.mapping.holdsString(level.name) || !place.mapping.holdsString(level.cpu) ||
        !place.mapping.holdsArray(level.kernels, a.n_kernels))
      return fail(place.error, LLMC_BAD_ARTIFACT,
                  "%s: level %u: error: found a table outside the model's memory, expected it "
                  "inside; the file is damaged, compile it again",
                  place.file, i);
    for (uint32_t k = 0; k < a.n_kernels; ++k)
      if (!place.mapping.holdsCode(reinterpret_cast<const void *>(level.kernels[k])))
        return fail(place.error, LLMC_BAD_ARTIFACT,
                    "%s: level %u, kernel %u: error: found an address that is no code, expected a "
                    "function; the file is damaged, compile it again",
                    place.file, i, k);
  }
  for (uint32_t k = 0; k < a.n_kernels; ++k)
    if (!place.mapping.holdsString(a.kernel_names[k]))
      return fail(place.error, LLMC_BAD_ARTIFACT,
                  "%s: kernel %u: error: found its name outside the model's memory, expected it "
                  "inside; the file is damaged, compile it again",
                  place.file, k);
  return LLMC_OK;
}

llmc_status checkCaches(const CheckPlace &place, const llmc_artifact &a) {
  for (uint32_t i = 0; i < a.n_caches; ++i) {
    const llmc_cache &cache = a.caches[i];
    if (!place.mapping.holdsString(cache.name) || cache.element > LLMC_I32 ||
        cache.offset > a.chunk_bytes || cache.key_bytes > a.chunk_bytes - cache.offset ||
        cache.value_bytes > a.chunk_bytes - cache.offset - cache.key_bytes)
      return fail(
          place.error, LLMC_BAD_ARTIFACT,
          "%s: cache %u: error: found element %u and bytes %llu + %llu + %llu, expected them "
          "inside a chunk of %llu; the file is damaged, compile it again",
          place.file, i, cache.element, static_cast<ull>(cache.offset),
          static_cast<ull>(cache.key_bytes), static_cast<ull>(cache.value_bytes),
          static_cast<ull>(a.chunk_bytes));
  }
  return LLMC_OK;
}

llmc_status checkWeights(const CheckPlace &place, const llmc_artifact &a) {
  for (uint32_t i = 0; i < a.n_weights; ++i) {
    const llmc_weight &weight = a.weights[i];
    if (!place.mapping.holdsString(weight.name) || !place.mapping.holdsString(weight.format) ||
        weight.offset % LLMC_WEIGHT_ALIGNMENT || weight.offset > a.weights_bytes ||
        weight.bytes > a.weights_bytes - weight.offset)
      return fail(
          place.error, LLMC_BAD_ARTIFACT,
          "%s: weight %u: error: found bytes %llu + %llu, expected them inside the weights' "
          "%llu, aligned to %u; the file is damaged, compile it again",
          place.file, i, static_cast<ull>(weight.offset), static_cast<ull>(weight.bytes),
          static_cast<ull>(a.weights_bytes), LLMC_WEIGHT_ALIGNMENT);
  }
  if (!a.weights_delta)
    return LLMC_OK;
  const char *weights = reinterpret_cast<const char *>(
      reinterpret_cast<uintptr_t>(&a.weights_delta) + static_cast<uintptr_t>(a.weights_delta));
  if (!place.mapping.holds(weights, a.weights_bytes) ||
      reinterpret_cast<uintptr_t>(weights) % LLMC_WEIGHT_ALIGNMENT)
    return fail(place.error, LLMC_BAD_ARTIFACT,
                "%s: weights: error: found %llu bytes at distance %lld outside the model's memory "
                "or not aligned to %u, expected them inside; the file is damaged, compile it again",
                place.file, static_cast<ull>(a.weights_bytes),
                static_cast<long long>(a.weights_delta), LLMC_WEIGHT_ALIGNMENT);
  return LLMC_OK;
}

} // namespace

llmc_status checkArtifact(const CheckPlace &place, const llmc_artifact *artifact) {
  if (!place.mapping.holdsArray(reinterpret_cast<const uint64_t *>(artifact),
                                kLeastBytes / sizeof(uint64_t)) ||
      artifact->struct_size < kLeastBytes || !place.mapping.holds(artifact, artifact->struct_size))
    return fail(place.error, LLMC_BAD_ARTIFACT,
                "%s: root table: error: found no table of %zu bytes, expected one; the file is "
                "damaged or not a compiled model",
                place.file, kLeastBytes);
  if (llmc_status status = checkCounts(place, *artifact))
    return status;
  if (llmc_status status = checkPointers(place, *artifact))
    return status;
  if (llmc_status status = checkLevels(place, *artifact))
    return status;
  if (llmc_status status = checkCaches(place, *artifact))
    return status;
  if (llmc_status status = checkWeights(place, *artifact))
    return status;
  for (uint32_t i = 0; i < artifact->n_graphs; ++i)
    if (llmc_status status = checkGraph(place, *artifact, i))
      return status;
  return LLMC_OK;
}

} // namespace llmc
