// SPDX-License-Identifier: Apache-2.0
//
// Gives every cache its order inside a chunk: head-major (one stream a head, what attention reads)
// or token-major (one stream a token, what an append writes). Types carry the layout, so every
// value that stands for a cache is retyped.
#include "passes/Remarks.h"
#include "passes/graph/Passes.h"

namespace llmc {
#define GEN_PASS_DEF_SETKVLAYOUTPASS
#include "GraphPasses.h.inc"
} // namespace llmc

using namespace mlir;
using namespace llmc;
using namespace llmc::llm;

namespace {

KVCacheType withLayout(KVCacheType type, KVLayout layout) {
  return KVCacheType::get(type.getContext(), type.getHeads(), type.getKey(), type.getValue(),
                          type.getElement(), layout, type.getChunk());
}

struct SetKVLayoutPass : llmc::impl::SetKVLayoutPassBase<SetKVLayoutPass> {
  using SetKVLayoutPassBase::SetKVLayoutPassBase;

  void runOnOperation() override {
    std::optional<KVLayout> wanted = symbolizeKVLayout(layout);
    if (!wanted) {
      getOperation().emitError() << "unknown KV layout '" << layout
                                 << "', expected head_major or token_major";
      return signalPassFailure();
    }
    for (auto cache : getOperation().getOps<CacheOp>()) {
      remarkPassed(cache, "llmc-set-kv-layout", cache.getSymName(),
                   "chunks of 64 tokens, " + Twine(layout));
      cache.setType(withLayout(cache.getType(), *wanted));
    }
    getOperation().walk([&](Operation *op) {
      for (Value result : op->getResults()) {
        if (auto cache = dyn_cast<KVCacheType>(result.getType()))
          result.setType(withLayout(cache, *wanted));
        else if (auto view = dyn_cast<KVViewType>(result.getType()))
          result.setType(KVViewType::get(view.getContext(), withLayout(view.getCache(), *wanted),
                                         view.getWindow()));
      }
    });
  }
};

} // namespace
