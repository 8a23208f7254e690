// SPDX-License-Identifier: Apache-2.0
#include "frontends/gguf/OpenFile.h"

#include "frontends/gguf/Config.h"
#include "frontends/gguf/GGUFSource.h"
#include "frontends/gguf/Tokenizer.h"

namespace llmc::gguf {

Result<OpenedFile> openFile(const std::string &path) {
  Result<Container> container = Container::open(path);
  if (!container)
    return container.takeError();
  Result<model::ModelConfig> config = readConfig(*container);
  if (!config)
    return config.takeError();
  BindOptions options;
  options.rotatedPairsAdjacent = config->family == "llama";
  Result<std::unique_ptr<model::WeightSource>> weights = bindWeights(*container, *config, options);
  if (!weights)
    return weights.takeError();
  return OpenedFile{std::move(*config), std::move(*weights), readTokenizer(*container)};
}

} // namespace llmc::gguf
