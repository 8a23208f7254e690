// SPDX-License-Identifier: Apache-2.0
// A config.json alone.
#include "frontends/huggingface/ConfigOnly.h"

#include "frontends/huggingface/Config.h"
#include <nlohmann/json.hpp>

namespace llmc::huggingface {

namespace {

class ShapesOnly : public model::WeightSource {
public:
  ShapesOnly(const model::ModelConfig &config, model::ElementType type, const std::string &path)
      : path(path) {
    for (const model::WeightSpec &spec : model::canonicalWeights(config))
      tensors[spec.name] = {spec.name, spec.shape, type, path};
  }

  const model::TensorInfo *find(std::string_view name) const override {
    auto found = tensors.find(std::string(name));
    return found == tensors.end() ? nullptr : &found->second;
  }
  Status readRows(std::string_view name, int64_t, int64_t, float *) const override {
    return errorAt(path, "",
                   "found no weights beside a config alone, expected those of " + escaped(name) +
                       "; name the model's folder instead");
  }

private:
  std::string path;
  std::unordered_map<std::string, model::TensorInfo> tensors;
};

// readConfig has parsed the text already, so it is an object.
Result<model::ElementType> elementType(const std::string &path) {
  Result<std::string> text = json::readTextFile(path, uint64_t(16) << 20);
  if (!text)
    return text.takeError();
  const nlohmann::json config = nlohmann::json::parse(*text, nullptr, false);
  for (const char *key : {"dtype", "torch_dtype"}) {
    if (!config.is_object() || !config.contains(key) || config[key].is_null())
      continue;
    const std::string found = config[key].is_string() ? config[key].get<std::string>() : "";
    for (const auto &[name, type] : {std::pair("float32", model::ElementType::F32),
                                     std::pair("float16", model::ElementType::F16),
                                     std::pair("bfloat16", model::ElementType::BF16)})
      if (found == name)
        return type;
    return errorAt(path, std::string("/") + key,
                   "found '" + escaped(found) +
                       "', expected \"float32\", \"float16\" or \"bfloat16\"");
  }
  return model::ElementType::F32;
}

} // namespace

Result<OpenedFolder> openConfigFile(const std::string &path) {
  const size_t slash = path.rfind('/');
  Result<model::ModelConfig> config =
      readConfig(slash == std::string::npos ? "." : path.substr(0, slash));
  if (!config)
    return config.takeError();
  Result<model::ElementType> type = elementType(path);
  if (!type)
    return type.takeError();
  auto weights = std::make_unique<ShapesOnly>(*config, *type, path);
  return OpenedFolder{std::move(*config), std::move(weights)};
}

} // namespace llmc::huggingface
