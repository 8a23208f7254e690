// SPDX-License-Identifier: Apache-2.0
// Opening a compiled model: look at the file, load it, ask for its tables, check them, choose a
// level, find the weights.
#include "runtime/engine/Model.h"
#include "runtime/engine/ArtifactCheck.h"
#include "runtime/engine/ElfFile.h"
#include "runtime/engine/Error.h"
#include "runtime/text/Tokenizer.h"
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>

using namespace llmc;

namespace {

// Versions that are asked for when ours is refused, only to say which one the artefact has.
constexpr uint32_t kHighestVersionToAsk = 64;
constexpr size_t kMaxPath = 4096;

llmc_status refuseVersion(const char *file, uint32_t version, llmc_error *error) {
  if (!version)
    return fail(
        error, LLMC_BAD_VERSION,
        "%s: error: found a model that speaks no ABI version up to %u, expected version %u; "
        "compile it again or update libllmc",
        file, kHighestVersionToAsk, LLMC_ABI_VERSION);
  const bool newer = version > LLMC_ABI_VERSION;
  return fail(error, LLMC_BAD_VERSION,
              "%s: error: found ABI version %u, expected %u; the model is %s than this library, %s",
              file, version, LLMC_ABI_VERSION, newer ? "newer" : "older",
              newer ? "update libllmc" : "compile it again");
}

llmc_status askForTables(llmc_model &model, const char *file, llmc_query_fn query,
                         llmc_error *error) {
  const llmc_artifact *artifact = query(LLMC_ABI_VERSION);
  for (uint32_t version = 1; !artifact && version <= kHighestVersionToAsk; ++version)
    if (version != LLMC_ABI_VERSION && query(version))
      return refuseVersion(file, version, error);
  if (!artifact)
    return refuseVersion(file, 0, error);
  const Mapping mapping(artifact);
  if (mapping.holds(artifact, sizeof(uint32_t)) && artifact->abi_version != LLMC_ABI_VERSION)
    return refuseVersion(file, artifact->abi_version, error);
  model.artifact = artifact;
  return checkArtifact({file, mapping, error}, artifact);
}

llmc_status findWeights(llmc_model &model, const char *file, const char *path,
                        const llmc_model_options &options, llmc_error *error) {
  const llmc_artifact &artifact = *model.artifact;
  if (!artifact.weights_bytes)
    return LLMC_OK;
  if (artifact.weights_delta && options.weights_path)
    return fail(error, LLMC_INVALID_ARGUMENT,
                "%s: weights: error: found them inside the model, expected none where a separate "
                "file is given; leave '%s' out",
                file, Escaped(options.weights_path).text());
  if (artifact.weights_delta) {
    model.weights =
        reinterpret_cast<const char *>(&artifact.weights_delta) + artifact.weights_delta;
    return LLMC_OK;
  }
  if (!artifact.weights_file)
    return fail(error, LLMC_BAD_ARTIFACT,
                "%s: weights: error: found none inside and no name of a separate file, expected "
                "%llu bytes; the file is damaged, compile it again",
                file, static_cast<unsigned long long>(artifact.weights_bytes));
  return mapWeightsFile(model, path, options.weights_path, error);
}

llmc_status openTokenizer(llmc_model &model, const char *file, llmc_error *error) {
  const llmc_artifact &artifact = *model.artifact;
  if (!artifact.tokenizer)
    return LLMC_OK;
  const Allocator &allocator = model.context.allocator;
  model.tokenizer = allocator.create<text::Tokenizer>(allocator);
  if (!model.tokenizer)
    return fail(error, LLMC_OUT_OF_MEMORY, "%s: error: no memory for a tokenizer", file);
  return model.tokenizer->open(artifact.tokenizer, artifact.tokenizer_bytes, file, error);
}

llmc_status finish(llmc_model &model, const char *file, const char *path,
                   const llmc_model_options &options, llmc_query_fn query, llmc_error *error) {
  if (llmc_status status = askForTables(model, file, query, error))
    return status;
  if (llmc_status status = chooseLevel(model, file, error))
    return status;
  if (llmc_status status = findWeights(model, file, path, options, error))
    return status;
  if (options.weights == LLMC_WEIGHTS_COPY)
    if (llmc_status status = copyWeights(model, file, error))
      return status;
  if (llmc_status status = openTokenizer(model, file, error))
    return status;
  model.context.note(LLMC_LOG_INFO, "%s: %u graphs, level %s", file, model.artifact->n_graphs,
                     model.artifact->levels[model.level].name);
  return LLMC_OK;
}

llmc_status loadLibrary(llmc_model &model, const char *path, const char *name, llmc_query_fn *query,
                        llmc_error *error) {
  const Escaped file(path);
  char local[kMaxPath + 3];
  // The loader searches its own folders for a path without a slash.
  snprintf(local, sizeof local, "%s%s", strchr(path, '/') ? "" : "./", path);
  model.library = dlopen(local, RTLD_NOW | RTLD_LOCAL);
  if (!model.library)
    return fail(error, LLMC_BAD_ARTIFACT, "%s: error: cannot be loaded: %s", file.text(),
                Escaped(dlerror()).text());
  char symbol[256];
  const int length = name ? snprintf(symbol, sizeof symbol, "%s_%s", name, LLMC_QUERY_SYMBOL)
                          : snprintf(symbol, sizeof symbol, "%s", LLMC_QUERY_SYMBOL);
  void *found = length < static_cast<int>(sizeof symbol) ? dlsym(model.library, symbol) : nullptr;
  if (!found)
    return fail(
        error, LLMC_BAD_ARTIFACT,
        "%s: error: found no function %s, expected a compiled model; if it was compiled with "
        "--name, give that name",
        file.text(), Escaped(symbol).text());
  *query = reinterpret_cast<llmc_query_fn>(found);
  return LLMC_OK;
}

llmc_status checkArguments(llmc_context *context, const void *source,
                           const llmc_model_options *options, llmc_model **model,
                           llmc_error *error) {
  if (model)
    *model = nullptr;
  if (!context || !source || !model)
    return fail(error, LLMC_INVALID_ARGUMENT,
                "model: error: found a missing context, source or result, expected all three");
  if (options && options->struct_size < sizeof *options)
    return fail(error, LLMC_INVALID_ARGUMENT,
                "model: error: found struct_size %u, expected at least %zu", options->struct_size,
                sizeof *options);
  if (options && options->weights > LLMC_WEIGHTS_COPY)
    return fail(error, LLMC_INVALID_ARGUMENT,
                "model: error: found weights %u, expected %d (map) or %d (copy)", options->weights,
                LLMC_WEIGHTS_MAP, LLMC_WEIGHTS_COPY);
  return LLMC_OK;
}

const llmc_model_options kDefaults = {sizeof(llmc_model_options), 0, nullptr, nullptr};

} // namespace

llmc_model::~llmc_model() {
  if (tokenizer)
    context.allocator.destroy(tokenizer);
  context.allocator.release(copy, copyBytes, llmc::kHugePageBytes);
  if (weightsMap)
    munmap(weightsMap, weightsMapBytes);
  if (library)
    dlclose(library);
}

void llmc_model::release() {
  if (references.fetch_sub(1, std::memory_order_acq_rel) != 1)
    return;
  llmc_context &owner = context;
  owner.allocator.destroy(this);
  owner.release();
}

uint32_t llmc_model::graphOf(llmc_graph_kind kind) const {
  uint32_t index = 0;
  while (index < artifact->n_graphs && artifact->graphs[index].kind != static_cast<uint32_t>(kind))
    ++index;
  return index;
}

extern "C" llmc_status llmc_model_open(llmc_context *context, const char *path,
                                       const llmc_model_options *options, llmc_model **model,
                                       llmc_error *error) {
  if (llmc_status status = checkArguments(context, path, options, model, error))
    return status;
  const Escaped file(path);
  if (strlen(path) > kMaxPath)
    return fail(error, LLMC_INVALID_ARGUMENT,
                "%s: error: found a path of %zu bytes, expected at most %zu", file.text(),
                strlen(path), kMaxPath);
  if (llmc_status status = checkElfFile(path, error))
    return status;
  llmc_model *made = context->allocator.create<llmc_model>(*context);
  if (!made)
    return fail(error, LLMC_OUT_OF_MEMORY, "%s: error: no memory for %zu bytes", file.text(),
                sizeof(llmc_model));
  const llmc_model_options &chosen = options ? *options : kDefaults;
  llmc_query_fn query = nullptr;
  llmc_status status = loadLibrary(*made, path, chosen.name, &query, error);
  if (!status)
    status = finish(*made, file.text(), path, chosen, query, error);
  if (status) {
    made->release();
    return status;
  }
  *model = made;
  return LLMC_OK;
}

extern "C" llmc_status llmc_model_from_artifact(llmc_context *context, llmc_model_query query,
                                                const llmc_model_options *options,
                                                llmc_model **model, llmc_error *error) {
  if (llmc_status status =
          checkArguments(context, reinterpret_cast<const void *>(query), options, model, error))
    return status;
  llmc_model *made = context->allocator.create<llmc_model>(*context);
  if (!made)
    return fail(error, LLMC_OUT_OF_MEMORY, "linked model: error: no memory for %zu bytes",
                sizeof(llmc_model));
  if (llmc_status status =
          finish(*made, "linked model", nullptr, options ? *options : kDefaults, query, error)) {
    made->release();
    return status;
  }
  *model = made;
  return LLMC_OK;
}

extern "C" void llmc_model_destroy(llmc_model *model) {
  if (model)
    model->release();
}

extern "C" llmc_status llmc_model_get_info(const llmc_model *model, llmc_model_info *info,
                                           llmc_error *error) {
  if (!model || !info || info->struct_size < sizeof *info)
    return fail(
        error, LLMC_INVALID_ARGUMENT,
        "model info: error: found a missing model or a struct_size below %zu, expected both",
        sizeof *info);
  const llmc_artifact &artifact = *model->artifact;
  const llmc_limits &limits = artifact.limits;
  const llmc_level &level = artifact.levels[model->level];
  const uint64_t tokenBytes =
      (artifact.chunk_bytes + LLMC_KV_CHUNK_TOKENS - 1) / LLMC_KV_CHUNK_TOKENS;
  *info = {info->struct_size,
           limits.vocabulary,
           limits.hidden,
           limits.layers,
           limits.max_positions,
           limits.max_sequences,
           limits.n_eos,
           0,
           limits.eos,
           artifact.name,
           level.name,
           level.cpu,
           artifact.manifest,
           artifact.manifest_bytes,
           artifact.weights_bytes,
           tokenBytes};
  return LLMC_OK;
}
