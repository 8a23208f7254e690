// SPDX-License-Identifier: Apache-2.0
// Builds an LLVM module of constants that mirrors abi.h field by field, and has LLVM write the
// object.
#include "passes/codegen/artifact/TablesObject.h"
#include "passes/codegen/artifact/ConstantBuilder.h"
#include "passes/codegen/artifact/EmitObject.h"
#include "passes/codegen/artifact/Seal.h"

#include "llvm/IR/IRBuilder.h"

#include <cstddef>

using namespace llvm;

namespace llmc::artifact {
namespace {

constexpr const char *kTriple = "x86_64-unknown-linux-gnu";

class TablesModule {
public:
  TablesModule(Module &module, const ObjectRequest &request)
      : module(module), request(request), tables(request.tables), build(module) {}

  Status write() {
    Constant *root = artifact();
    const uint64_t size = module.getDataLayout().getTypeAllocSize(root->getType());
    if (size != sizeof(llmc_artifact))
      return errorAt("artifact", "root table",
                     "found " + std::to_string(size) + " bytes, expected those of abi.h, " +
                         std::to_string(sizeof(llmc_artifact)) + "; this is a fault of llmc");
    auto *holder = new GlobalVariable(module, root->getType(), /*isConstant=*/true,
                                      GlobalValue::InternalLinkage, root, "llmc_artifact_tables");
    holder->setAlignment(Align(8));
    if (GlobalVariable *weights = weightsPlaceholder())
      setDelta(holder, root, weights);
    if (request.sealed)
      sealNote();
    query(holder);
    return {};
  }

private:
  Constant *artifact();
  Constant *limits();
  Constant *graph(const Graph &graph);
  Constant *cache(const Cache &cache);
  Constant *weight(size_t index);
  Constant *level(const Level &level);
  GlobalVariable *weightsPlaceholder();
  void setDelta(GlobalVariable *holder, Constant *root, GlobalVariable *weights);
  void sealNote();
  void query(GlobalVariable *holder);

  template <typename Range, typename Function> Constant *each(const Range &range, Function &&make) {
    SmallVector<Constant *> elements;
    for (const auto &item : range)
      elements.push_back(make(item));
    return build.array(elements);
  }

  Module &module;
  const ObjectRequest &request;
  const Tables &tables;
  ConstantBuilder build;
  unsigned deltaField = 0; // index of weights_delta in the root
};

Constant *TablesModule::limits() {
  const Limits &l = tables.limits;
  return build.record({build.u32(l.hidden), build.u32(l.vocabulary), build.u32(l.layers),
                       build.u32(l.maxPositions), build.u32(l.maxSequences),
                       build.u32(uint32_t(l.eos.size())), build.numbers(ArrayRef<int32_t>(l.eos))});
}

Constant *TablesModule::graph(const Graph &g) {
  Constant *commands = each(g.commands, [&](const llmc_command &c) {
    return build.record({build.u32(c.kernel), build.u32(c.first_slot), build.u16(c.n_slots),
                         build.u16(c.extent), build.u32(c.inner), build.u32(c.programs_per_chunk),
                         build.u32(uint32_t(c.dependency)), build.u32(c.name)});
  });
  Constant *operands = each(g.operands, [&](const llmc_operand &o) {
    return build.record(
        {build.u32(o.kind), build.u32(o.index), build.u64(o.offset), build.u64(o.line_bytes)});
  });
  Constant *results = each(g.results, [&](const llmc_result &r) {
    return build.record({build.u32(r.kind), build.u32(r.operand)});
  });
  return build.record({build.u32(g.kind), build.u32(uint32_t(g.commands.size())),
                       build.u32(uint32_t(g.operands.size())), build.u32(uint32_t(g.slots.size())),
                       build.u32(uint32_t(g.results.size())), build.u32(uint32_t(g.names.size())),
                       commands, operands, build.numbers(ArrayRef<uint16_t>(g.slots)), results,
                       build.bytes(g.names)});
}

Constant *TablesModule::cache(const Cache &c) {
  return build.record({build.string(c.name), build.u32(c.element), build.u32(c.heads),
                       build.u32(c.keyWidth), build.u32(c.valueWidth), build.u32(c.tokenMajor),
                       build.u32(0), build.u64(c.offset), build.u64(c.keyBytes),
                       build.u64(c.valueBytes)});
}

Constant *TablesModule::weight(size_t index) {
  const PackedWeight &w = tables.weights[index];
  return build.record({build.string(w.name), build.string(w.layout()), build.u64(w.offset),
                       build.u64(w.bytes), build.u64(w.rows), build.u64(w.columns),
                       build.u64(request.hashes.weights[index])});
}

Constant *TablesModule::level(const Level &l) {
  Constant *kernels = each(tables.kernels, [&](const std::string &kernel) -> Constant * {
    return build.function(l.prefix + kernel);
  });
  return build.record({build.string(l.name), build.string(l.cpu), build.u64(l.features), kernels});
}

/// The fields of `struct llmc_artifact`, in its order.
Constant *TablesModule::artifact() {
  SmallVector<Constant *> weights;
  for (size_t i = 0; i < tables.weights.size(); ++i)
    weights.push_back(weight(i));
  SmallVector<Constant *> fields = {
      build.u32(LLMC_ABI_VERSION),
      build.u32(sizeof(llmc_artifact)),
      build.string(request.name),
      build.string(request.manifest),
      build.u64(request.manifest.size()),
      limits(),
      build.u32(uint32_t(tables.graphs.size())),
      build.u32(uint32_t(tables.kernels.size())),
      build.u32(uint32_t(request.levels.size())),
      build.u32(uint32_t(tables.caches.size())),
      build.u32(uint32_t(tables.weights.size())),
      build.u32(0),
      each(tables.graphs, [&](const Graph &g) { return graph(g); }),
      each(tables.kernels, [&](const std::string &kernel) { return build.string(kernel); }),
      each(request.levels, [&](const Level &l) { return level(l); }),
      each(tables.caches, [&](const Cache &c) { return cache(c); }),
      build.array(weights),
      build.u64(tables.rowsArenaBytes),
      build.u64(tables.outputsArenaBytes),
      build.u64(tables.chunkBytes),
  };
  deltaField = fields.size();
  fields.push_back(build.u64(0));
  fields.push_back(build.u64(tables.weightsBytes));
  fields.push_back(build.u64(request.hashes.all));
  fields.push_back(request.weightsFile.empty() ? build.null() : build.string(request.weightsFile));
  fields.push_back(request.tokenizer.empty() ? build.null() : build.bytes(request.tokenizer, 8));
  fields.push_back(build.u64(request.tokenizer.size()));
  for (const char *name : {"cpu_features", "run_bytes", "run_begin", "run_work", "run_cancel",
                           "run_help"})
    fields.push_back(build.function(std::string("llmc_executor_") + name));
  return build.record(fields);
}

GlobalVariable *TablesModule::weightsPlaceholder() {
  if (request.weights == WeightsPlace::None)
    return nullptr;
  auto *type = ArrayType::get(Type::getInt8Ty(module.getContext()), kPlaceholderBytes);
  auto *weights =
      new GlobalVariable(module, type, /*isConstant=*/true, GlobalValue::InternalLinkage,
                         ConstantAggregateZero::get(type), "llmc_weights");
  weights->setSection(weightsSection(request.weights));
  weights->setAlignment(
      Align(request.weights == WeightsPlace::LastSegment ? kSegmentAlignment : kSectionAlignment));
  weights->setCodeModel(
      CodeModel::Large); // the linker keeps it behind everything that code addresses
  return weights;
}

/// weights_delta = weights - &weights_delta, a 64-bit relative relocation.
void TablesModule::setDelta(GlobalVariable *holder, Constant *root, GlobalVariable *weights) {
  IntegerType *word = Type::getInt64Ty(module.getContext());
  Constant *field = ConstantExpr::getInBoundsGetElementPtr(
      Type::getInt8Ty(module.getContext()), holder,
      ConstantInt::get(word, offsetof(llmc_artifact, weights_delta)));
  Constant *delta = ConstantExpr::getSub(ConstantExpr::getPtrToInt(weights, word),
                                         ConstantExpr::getPtrToInt(field, word));
  SmallVector<Constant *> fields;
  for (unsigned i = 0; Constant *element = root->getAggregateElement(i); ++i)
    fields.push_back(i == deltaField ? delta : element);
  holder->setInitializer(ConstantStruct::get(cast<StructType>(root->getType()), fields));
}

void TablesModule::sealNote() {
  Constant *note = ConstantDataArray::getString(module.getContext(), emptySealNote(),
                                                /*AddNull=*/false);
  build.global(note, /*alignment=*/4)->setSection(kSealSection);
}

void TablesModule::query(GlobalVariable *holder) {
  LLVMContext &context = module.getContext();
  auto *pointer = PointerType::get(context, 0);
  auto *type = FunctionType::get(pointer, {Type::getInt32Ty(context)}, false);
  auto *function =
      Function::Create(type, GlobalValue::ExternalLinkage, querySymbol(request.name), module);
  function->addFnAttr(Attribute::NoUnwind);
  IRBuilder<> builder(BasicBlock::Create(context, "", function));
  Value *known = builder.CreateICmpEQ(function->getArg(0), builder.getInt32(LLMC_ABI_VERSION));
  builder.CreateRet(builder.CreateSelect(known, holder, ConstantPointerNull::get(pointer)));
}

} // namespace

std::string querySymbol(std::string_view name) {
  return name.empty() ? std::string(LLMC_QUERY_SYMBOL) : std::string(name) + "_" LLMC_QUERY_SYMBOL;
}

const char *weightsSection(WeightsPlace place) {
  return place == WeightsPlace::LastSegment ? ".llmc.weights" : ".lrodata.llmc";
}

Result<std::string> writeTablesObject(const ObjectRequest &request) {
  LLVMContext context;
  Module module("llmc_tables", context);
  Result<std::unique_ptr<TargetMachine>> machine = baselineMachine(kTriple);
  if (!machine)
    return machine.takeError();
  module.setTargetTriple((*machine)->getTargetTriple());
  module.setDataLayout((*machine)->createDataLayout());
  if (Status status = TablesModule(module, request).write(); !status)
    return status.takeError();
  return emitObject(module, **machine);
}

} // namespace llmc::artifact
