// SPDX-License-Identifier: Apache-2.0
#include "tools/llmc/bench/Relations.h"

namespace llmc::tool {
namespace {

const Row *find(const std::vector<Row> &rows, const RowKey &key) {
  for (const Row &row : rows)
    if (!row.key.isPrefill && row.key.depth == key.depth && row.key.batch == key.batch &&
        row.key.threads == key.threads)
      return &row;
  return nullptr;
}

} // namespace

Relations relationsOf(const Row &row, const std::vector<Row> &rows) {
  Relations relations;
  if (row.key.isPrefill)
    return relations;
  RowKey shallow = row.key, single = row.key;
  shallow.depth = 0;
  single.batch = 1;
  const Row *atZero = row.key.depth ? find(rows, shallow) : nullptr;
  if (atZero) {
    const double steps = row.key.generated;
    const double extra = (row.seconds.median - atZero->seconds.median) / steps;
    const double bytes = (row.work.kvBytes - atZero->work.kvBytes) / steps;
    relations.extraSeconds = extra;
    if (bytes > 0 && row.ceilings.read > 0)
      relations.extraOverRead = extra / (bytes / row.ceilings.read);
  }
  if (const Row *one = row.key.batch > 1 ? find(rows, single) : nullptr)
    relations.ofBatchOne = row.rate.median / one->rate.median;
  return relations;
}

} // namespace llmc::tool
