// SPDX-License-Identifier: Apache-2.0
// The hand-written demo model: what the engine makes of it, and copies with altered tables.
#pragma once

#include "llmc/abi.h"
#include "tools/llmc/LoadedModel.h"

namespace llmc::test {

class DemoModel {
public:
  DemoModel();

  const llmc_artifact &artifact() const;
  // Logits of every position, token by token: [tokens, vocabulary].
  std::vector<float> logits(const std::vector<int32_t> &tokens) const;
  // The greedy continuation, from `logits`.
  std::vector<int32_t> greedy(std::vector<int32_t> tokens, size_t count) const;

  // Alters, in the copy, the bytes of a field that lies in the open model.
  template <typename T> void alter(const T &field, T value) {
    alterBytes(&field, &value, sizeof value);
  }
  void writeCopy(const std::string &path) const;

private:
  void alterBytes(const void *place, const void *value, size_t size);

  tool::LoadedModel loaded;
  std::string bytes;
};

} // namespace llmc::test
