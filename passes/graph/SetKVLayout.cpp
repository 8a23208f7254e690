// SPDX-License-Identifier: Apache-2.0
//
// Gives every cache the format of its elements and its order inside a chunk: head-major (one stream
// a head with keys as columns, what attention reads) or token-major (one stream a token, what an
// append writes). Types carry both, so every value that stands for a cache is retyped.
#include "passes/Remarks.h"
#include "passes/graph/Passes.h"
#include "llvm/ADT/StringSwitch.h"

namespace llmc {
#define GEN_PASS_DEF_SETKVLAYOUTPASS
#include "GraphPasses.h.inc"
} // namespace llmc

using namespace mlir;
using namespace llmc;
using namespace llmc::llm;

namespace {

KVCacheType with(KVCacheType type, Type element, KVLayout layout) {
  return KVCacheType::get(type.getContext(), type.getHeads(), type.getKey(), type.getValue(),
                          element, layout, type.getChunk());
}

/// What keys and values are worth keeping in: as exact as the weights that made them.
StringRef elementFor(ModuleOp module) {
  auto isRounded = [](WeightOp weight) { return !weight.getType().getElementType().isF32(); };
  return llvm::any_of(module.getOps<WeightOp>(), isRounded) ? "bf16" : "f32";
}

/// Null where `name` is none that a cache may have.
Type elementNamed(MLIRContext *context, StringRef name) {
  return llvm::StringSwitch<Type>(name)
      .Case("f32", Float32Type::get(context))
      .Case("bf16", BFloat16Type::get(context))
      .Case("int8", IntegerType::get(context, 8))
      .Default(Type());
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
    if (element == "auto")
      element = elementFor(getOperation()).str();
    Type stored = elementNamed(&getContext(), element);
    if (!stored) {
      getOperation().emitError() << "unknown KV element '" << element << "', expected auto, f32, bf16 or int8";
      return signalPassFailure();
    }
    for (auto cache : getOperation().getOps<CacheOp>()) {
      remarkPassed(cache, "llmc-set-kv-layout", cache.getSymName(),
                   "chunks of 64 tokens, " + Twine(layout) + ", " + element);
      cache.setType(with(cache.getType(), stored, *wanted));
    }
    getOperation().walk([&](Operation *op) {
      for (Value result : op->getResults()) {
        if (auto cache = dyn_cast<KVCacheType>(result.getType()))
          result.setType(with(cache, stored, *wanted));
        else if (auto view = dyn_cast<KVViewType>(result.getType()))
          result.setType(KVViewType::get(
              view.getContext(), with(view.getCache(), stored, *wanted), view.getWindow()));
      }
    });
  }
};

} // namespace
