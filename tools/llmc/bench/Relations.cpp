// SPDX-License-Identifier: Apache-2.0
#include "tools/llmc/bench/Relations.h"
#include <algorithm>

namespace llmc::tool {
namespace {

const Row *find(const std::vector<Row> &rows, const RowKey &key) {
  for (const Row &row : rows)
    if (!row.key.isPrefill && row.key.depth == key.depth && row.key.batch == key.batch &&
        row.key.threads == key.threads)
      return &row;
  return nullptr;
}

// What reading takes longer than at depth 0: keys and values, and weights that no longer fit into a cache beside them.
double extraReadSeconds(const Row &row, const Row &atZero) {
  const ceilings::Ceilings &ceilings = row.ceilings;
  if (ceilings.read <= 0 || row.work.kvBytes <= atZero.work.kvBytes)
    return 0;
  // No memory is read slower alone than as a part of more: where it seems so, the machine was disturbed.
  return row.work.bytes / ceilings.read - atZero.work.bytes / std::max(ceilings.read, ceilings.readWeights);
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
    relations.extraSeconds = extra;
    if (const double read = extraReadSeconds(row, *atZero) / steps; read > 0)
      relations.extraOverRead = extra / read;
  }
  if (const Row *one = row.key.batch > 1 ? find(rows, single) : nullptr)
    relations.ofBatchOne = row.rate.median / one->rate.median;
  return relations;
}

} // namespace llmc::tool
