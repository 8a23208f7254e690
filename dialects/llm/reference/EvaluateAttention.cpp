// SPDX-License-Identifier: Apache-2.0
//
// Rope, the cache, and attention over what a row sees of it.
#include "dialects/llm/reference/Evaluator.h"
#include "dialects/model/Quantize.h"
#include "dialects/llm/reference/Math.h"
#include <algorithm>

using namespace mlir;

namespace llmc::reference {

/// The op that made `value`, looked for through the regions that hand it on.
static Operation *origin(Value value) {
  while (auto fused = value.getDefiningOp<llm::FusedOp>())
    value = fused.getBody().front().getTerminator()->getOperand(
        cast<OpResult>(value).getResultNumber());
  return value.getDefiningOp();
}

/// The cache that a view looks at; empty when the IR does not tell.
static std::string cacheOf(Value view) {
  auto viewOp = dyn_cast_or_null<llm::KVViewOp>(origin(view));
  auto append =
      viewOp ? dyn_cast_or_null<llm::KVAppendOp>(origin(viewOp.getCache())) : llm::KVAppendOp();
  return append ? append.getCacheAttr().getValue().str() : std::string();
}

Status Evaluator::visit(llm::RopeOp op) {
  Result<const Tensor *> x = operand(op, op.getInput());
  if (!x)
    return x.takeError();
  Result<Tensor> table = weights.rows(op, op.getTableAttr(), step.positions);
  return table ? set(op.getResult(), rope(**x, *table, int64_t(op.getHeads())))
               : Status(table.takeError());
}

/// Keys or values of one token, heads of `width`, as the cache holds them.
static std::vector<float> stored(const float *values, int64_t width, llm::KVCacheType cache) {
  std::vector<float> row(values, values + cache.getHeads() * width);
  if (cache.getElement().isBF16())
    for (float &value : row)
      value = model::fromBFloat16(model::toBFloat16(value));
  for (size_t head = 0; cache.hasCodes() && head < row.size(); head += size_t(width))
    quantizeGroup(values + head, width, row.data() + head);
  return row;
}

Status Evaluator::visit(llm::KVAppendOp op) {
  Result<const Tensor *> key = operand(op, op.getKey()), value = operand(op, op.getValue());
  if (!key)
    return key.takeError();
  if (!value)
    return value.takeError();
  llm::KVCacheType cache = op.getResult().getType();
  Tensor written(step.rows(), (*key)->width + (*value)->width);
  for (int64_t r = 0; r < step.rows(); ++r) {
    CachedRow row{stored((*key)->line(r), cache.getKey(), cache),
                  stored((*value)->line(r), cache.getValue(), cache)};
    std::copy(row.key.begin(), row.key.end(), written.line(r));
    std::copy(row.value.begin(), row.value.end(), written.line(r) + (*key)->width);
    const StepSequence &sequence = step.sequences[size_t(step.rowSequence[size_t(r)])];
    caches.write(op.getCacheAttr().getValue().str(), sequence.handle, step.slots[size_t(r)],
                 std::move(row));
  }
  return set(op.getResult(), std::move(written));
}

Result<VisibleKeys> Evaluator::visibleKeys(llm::AttentionOp op, size_t row) {
  llm::KVViewType view = op.getView().getType();
  VisibleKeys seen;
  seen.heads = view.getCache().getHeads();
  seen.keyWidth = view.getCache().getKey();
  seen.valueWidth = view.getCache().getValue();
  const StepSequence &sequence = step.sequences[size_t(step.rowSequence[row])];
  const CachedSequence *slots = caches.find(cacheOf(op.getView()), sequence.handle);
  // Logical position of slot j is base + j; j <= p, and p - j < window where there is one.
  int64_t last = step.positions[row], first = sequence.base;
  if (view.getWindow() > 0)
    first = std::max(first, last - view.getWindow() + 1);
  if (first > last)
    return opError(op, "at row " + std::to_string(row) + ", position " + std::to_string(last) +
                           ", sees no key, expected positions from " +
                           std::to_string(sequence.base));
  for (int64_t position = first; position <= last; ++position) {
    int64_t slot = position - sequence.base;
    auto found = slots ? slots->find(slot) : CachedSequence::const_iterator();
    if (!slots || found == slots->end())
      return opError(op, "at row " + std::to_string(row) + " reads slot " + std::to_string(slot) +
                             " of sequence " + std::to_string(sequence.handle) +
                             ", expected it to be written before");
    const CachedRow &cached = found->second;
    if (int64_t(cached.key.size()) != seen.heads * seen.keyWidth ||
        int64_t(cached.value.size()) != seen.heads * seen.valueWidth)
      return opError(op, "at row " + std::to_string(row) + " reads " +
                             std::to_string(cached.key.size()) + " and " +
                             std::to_string(cached.value.size()) + " values of slot " +
                             std::to_string(slot) + ", expected those of " +
                             std::to_string(seen.heads) + " heads");
    seen.keys.push_back(cached.key.data());
    seen.values.push_back(cached.value.data());
  }
  return seen;
}

Status Evaluator::visit(llm::AttentionOp op) {
  Result<const Tensor *> query = operand(op, op.getQuery());
  if (!query)
    return query.takeError();
  Tensor result(step.rows(), llm::widthOf(op.getResult().getType()));
  for (int64_t r = 0; r < step.rows(); ++r) {
    Result<VisibleKeys> seen = visibleKeys(op, size_t(r));
    if (!seen)
      return seen.takeError();
    if (op.leavesParts())
      attendInParts(op, (*query)->line(r), *seen, size_t(r), result.line(r));
    else
      attention((*query)->line(r), *seen, int64_t(op.getHeads()), op.getScale().convertToFloat(),
                result.line(r));
  }
  return set(op.getResult(), std::move(result));
}

void Evaluator::attendInParts(llm::AttentionOp op, const float *query, const VisibleKeys &seen, size_t row, float *result) {
  const llm::PartialRow at = op.getPartialRow();
  llm::KVViewType view = op.getView().getType();
  const int64_t ofChunk = int64_t(view.getCache().getChunk()), sharing = at.heads / seen.heads;
  const int64_t last = step.positions[row] - step.sequences[size_t(step.rowSequence[row])].base, own = last / ofChunk,
                begin = llm::firstChunkSeen(own, view.getWindow(), ofChunk),
                each = llm::chunksOfPart(own + 1 - begin, at.parts);
  const int64_t first = last + 1 - int64_t(seen.keys.size()); // slot of the first key seen
  for (int64_t part = 0; part < at.parts; ++part) {
    auto keyAt = [&](int64_t chunk) { return size_t(std::clamp<int64_t>(chunk * ofChunk - first, 0, int64_t(seen.keys.size()))); };
    const size_t from = keyAt(begin + part * each), to = keyAt(begin + (part + 1) * each);
    for (int64_t h = 0; h < at.heads; ++h) {
      HeadAttention head = attendHead(query + h * seen.keyWidth, seen, h / sharing, op.getScale().convertToFloat(), from, to);
      const int64_t index = part * at.heads + h;
      std::copy(head.values.begin(), head.values.end(), result + index * at.value);
      result[at.maxima() + index] = head.maximum;
      result[at.sums() + index] = head.sum;
    }
  }
}

Status Evaluator::visit(llm::AttentionMergeOp op) {
  Result<const Tensor *> input = operand(op, op.getInput());
  if (!input)
    return input.takeError();
  const llm::PartialRow at = op.getPartialRow();
  Tensor result(step.rows(), llm::widthOf(op.getResult().getType()));
  for (int64_t r = 0; r < step.rows(); ++r) {
    const float *row = (*input)->line(r);
    for (int64_t h = 0; h < at.heads; ++h) {
      std::vector<HeadAttention> parts;
      for (int64_t index = h; index < at.parts * at.heads; index += at.heads) {
        const float *values = row + index * at.value;
        parts.push_back({row[at.maxima() + index], row[at.sums() + index], {values, values + at.value}});
      }
      mergeParts(parts, result.line(r) + h * at.value);
    }
  }
  return set(op.getResult(), std::move(result));
}

} // namespace llmc::reference
