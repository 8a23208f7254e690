// SPDX-License-Identifier: Apache-2.0
// `llmc import`: a Hugging Face folder's config as a model.json; the weights stay where they are.
#include "frontends/Open.h"
#include "frontends/json/ModelJson.h"
#include "tools/llmc/Format.h"
#include "tools/llmc/NewFile.h"
#include "tools/llmc/Options.h"
#include <filesystem>

namespace llmc::tool {
namespace {

// `folder` as the model.json names it: from the folder that the model.json is in.
Result<std::string> weightsPath(const std::string &folder, const std::string &output) {
  std::error_code code;
  const std::filesystem::path target = std::filesystem::canonical(folder, code);
  if (code)
    return errorAt(folder, "", "cannot be resolved: " + code.message());
  std::filesystem::path from = std::filesystem::path(output).parent_path();
  from = std::filesystem::canonical(from.empty() ? "." : from, code);
  if (code)
    return errorAt(output, "", "cannot be created: " + code.message() + "; make its folder first");
  return target.lexically_relative(from).generic_string();
}

Status checkPaths(const ImportOptions &options) {
  std::error_code code;
  if (std::filesystem::exists(options.folder, code) &&
      !std::filesystem::is_directory(options.folder, code))
    return errorAt(options.folder, "",
                   "found a file, expected a Hugging Face folder with a config.json");
  if (!options.force && std::filesystem::exists(options.output, code))
    return errorAt(options.output, "",
                   "found a file of that name, expected a free name; --force replaces it");
  return {};
}

} // namespace

Status importModel(const ImportOptions &options) {
  if (options.schema) {
    print(json::modelJsonSchema());
    return finishOutput();
  }
  if (Status status = checkPaths(options); !status)
    return status;
  Result<llmc::OpenedModel> opened = openModel(options.folder);
  if (!opened)
    return opened.takeError();
  Result<std::string> path = weightsPath(options.folder, options.output);
  if (!path)
    return path.takeError();
  json::WeightsReference reference;
  reference.safetensors = *path;
  reference.huggingFaceNames = true;
  const std::string text = json::writeModelJson(opened->config, reference);
  // What was written must say the same when it is read.
  if (auto read = json::parseModelJson(text, options.output); !read)
    return read.takeError();
  if (Status status = writeWholeFile(options.output, text); !status)
    return status;
  print(formatted(
      "%s: %lld layers, hidden %lld, vocabulary %lld; weights stay in %s (named as %s)\n",
      escaped(options.output, 4096).c_str(), static_cast<long long>(opened->config.numLayers()),
      static_cast<long long>(opened->config.hiddenSize),
      static_cast<long long>(opened->config.vocabSize), escaped(options.folder, 4096).c_str(),
      escaped(*path, 4096).c_str()));
  return finishOutput();
}

} // namespace llmc::tool
