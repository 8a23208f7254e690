// SPDX-License-Identifier: Apache-2.0
// A shared object opened with dlopen, for as long as the object lives.
#pragma once

#include "test/passes/codegen/artifact/toy_step.h"

#include <dlfcn.h>
#include <string>
#include <vector>

namespace llmc::artifact::test {

struct OpenedModel {
  explicit OpenedModel(const std::string &path, const char *symbol = LLMC_QUERY_SYMBOL) {
    library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    query = library ? reinterpret_cast<llmc_query_fn>(dlsym(library, symbol)) : nullptr;
    artifact = query ? query(LLMC_ABI_VERSION) : nullptr;
    if (!artifact)
      error = dlerror();
  }
  OpenedModel(const OpenedModel &) = delete;
  ~OpenedModel() {
    if (library)
      dlclose(library);
  }

  // Logits of all of the tokens; empty when the step fails.
  std::vector<float> logits(const std::vector<int32_t> &tokens, uint32_t level = 0,
                            const void *weights = nullptr) {
    std::vector<float> result(tokens.size() * TOY_VOCABULARY);
    if (!artifact ||
        toy_step(artifact, weights, level, tokens.data(), uint32_t(tokens.size()), result.data()))
      result.clear();
    return result;
  }

  void *library = nullptr;
  llmc_query_fn query = nullptr;
  const llmc_artifact *artifact = nullptr;
  std::string error;
};

} // namespace llmc::artifact::test
