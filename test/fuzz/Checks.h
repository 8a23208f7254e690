// SPDX-License-Identifier: Apache-2.0
// What must hold of whatever a reader answers, besides not crashing.
#pragma once

#include "dialects/model/WeightSource.h"

#include <cmath>
#include <cstring>

namespace llmc::fuzz {

inline void require(bool holds) {
  if (!holds)
    __builtin_trap();
}

// One line that names its file and says what was found; no control bytes.
inline void checkError(const Error &error) {
  require(error.message.find("error: found ") != std::string::npos ||
          error.message.find("error: ") != std::string::npos);
  for (const std::string *line = &error.message; line; line = nullptr)
    for (char c : *line)
      require(static_cast<unsigned char>(c) >= 0x20 && c != 0x7F);
}

inline constexpr int64_t valuesToRead = int64_t(1) << 18; // of each model

// A source answers for every weight of its config, rows alone as in a panel.
inline void checkWeights(const model::ModelConfig &config, const model::WeightSource &weights) {
  require(model::validate(config).empty());
  int64_t left = valuesToRead;
  for (const model::WeightSpec &spec : model::canonicalWeights(config)) {
    const model::TensorInfo *info = weights.find(spec.name);
    require(info && info->shape == spec.shape);
    int64_t rows = std::min(info->rows(), left / std::max<int64_t>(1, info->columns()));
    if (rows < 1)
      continue;
    left -= rows * info->columns();
    size_t columns = static_cast<size_t>(info->columns());
    std::vector<float> panel(static_cast<size_t>(rows) * columns), last(columns);
    Status status = weights.readRows(spec.name, 0, rows, panel.data());
    if (!status) {
      checkError(status.error());
      continue;
    }
    require(weights.readRows(spec.name, rows - 1, 1, last.data()).ok());
    require(std::memcmp(last.data(), &panel[panel.size() - columns], columns * sizeof(float)) == 0);
    if (!model::groupFormat(info->elementType))
      continue;
    size_t groups = panel.size() / static_cast<size_t>(model::groupSize);
    std::vector<uint8_t> codes(panel.size());
    std::vector<uint16_t> scales(groups), minimums(groups);
    require(weights.readGroups(spec.name, 0, rows, {codes.data(), scales.data(), minimums.data()})
                .ok());
  }
}

} // namespace llmc::fuzz
