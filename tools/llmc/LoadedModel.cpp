// SPDX-License-Identifier: Apache-2.0
// Opens compiled models, and says what to do with one that is not compiled.
#include "tools/llmc/LoadedModel.h"
#include <sys/stat.h>

namespace llmc::tool {
namespace {

bool isUncompiled(const std::string &path) {
  struct stat info = {};
  const bool isFolder = !stat(path.c_str(), &info) && S_ISDIR(info.st_mode);
  const auto endsWith = [&](std::string_view ending) {
    return path.size() > ending.size() &&
           !path.compare(path.size() - ending.size(), ending.size(), ending);
  };
  return isFolder || endsWith(".json") || endsWith(".gguf");
}

} // namespace

Result<LoadedModel> loadModel(const ModelOptions &options, const llmc_allocator *allocator) {
  if (isUncompiled(options.path))
    return errorAt(options.path, "",
                   "found a model that is not compiled, expected a model.so; make one with 'llmc "
                   "compile', or interpret it with 'llmc run --reference'");
  LoadedModel loaded;
  loaded.path = options.path;
  CallError error;
  llmc_context_options contextOptions = {};
  contextOptions.struct_size = sizeof contextOptions;
  contextOptions.threads = options.threads;
  contextOptions.allocator = allocator;
  llmc_context *context = nullptr;
  if (llmc_context_create(&contextOptions, &context, error.raw()))
    return error.take();
  loaded.context.reset(context);
  llmc_model_options modelOptions = {};
  modelOptions.struct_size = sizeof modelOptions;
  modelOptions.weights = options.copiesWeights ? LLMC_WEIGHTS_COPY : LLMC_WEIGHTS_MAP;
  modelOptions.name = options.name.empty() ? nullptr : options.name.c_str();
  modelOptions.weights_path = options.weights.empty() ? nullptr : options.weights.c_str();
  llmc_model *model = nullptr;
  if (llmc_model_open(context, options.path.c_str(), &modelOptions, &model, error.raw()))
    return error.take();
  loaded.model.reset(model);
  loaded.info.struct_size = sizeof loaded.info;
  if (llmc_model_get_info(model, &loaded.info, error.raw()))
    return error.take();
  return loaded;
}

Result<SessionOwner> makeSession(const LoadedModel &loaded, llmc_session_options options) {
  CallError error;
  llmc_session *session = nullptr;
  options.struct_size = sizeof options;
  if (llmc_session_create(loaded.model.get(), &options, &session, error.raw()))
    return error.take();
  return SessionOwner(session);
}

Result<int32_t> pickToken(const LoadedModel &loaded, const llmc_step_result &result, uint32_t row) {
  const float *logits = result.logits + static_cast<size_t>(row) * result.vocabulary;
  const int32_t token = llmc_argmax(logits, result.vocabulary);
  if (token < 0)
    return errorAt(loaded.path, "logits",
                   "found no number among " + std::to_string(result.vocabulary) +
                       ", expected at least one; the weights may be damaged, 'llmc inspect "
                       "--verify' tells");
  return token;
}

} // namespace llmc::tool
