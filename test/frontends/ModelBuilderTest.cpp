// SPDX-License-Identifier: Apache-2.0
//
// Config -> `llm` module: symbols, graphs, locations, layers that differ, and what the builder
// refuses. That the maths is right is the goldens' affair (test/e2e/reference).
#include "frontends/ModelBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <gtest/gtest.h>

namespace llmc {
namespace {

model::ModelConfig plainConfig() {
  model::ModelConfig config;
  config.family = "llama";
  config.hiddenSize = 16;
  config.intermediateSize = 24;
  config.vocabSize = 30;
  config.maxPositions = 100;
  config.rope.rotaryDims = 8;
  model::LayerConfig layer;
  layer.numHeads = 2;
  layer.numKVHeads = 1;
  layer.headDim = 8;
  layer.attentionScale = 0.25;
  config.layers.assign(3, layer);
  return config;
}

class ModelBuilder : public testing::Test {
protected:
  void build(const model::ModelConfig &config, const ModuleOptions &options = {}) {
    auto built = buildModule(context, config, options);
    ASSERT_TRUE(built) << built.error().str();
    module = std::move(*built);
  }
  std::string errorOf(const model::ModelConfig &config, const ModuleOptions &options = {}) {
    auto built = buildModule(context, config, options);
    return built ? "no error" : built.error().str();
  }
  mlir::func::FuncOp graph(llvm::StringRef name) {
    return module->lookupSymbol<mlir::func::FuncOp>(name);
  }
  template <typename Op> std::vector<Op> opsOf(llvm::StringRef name) {
    std::vector<Op> ops;
    graph(name).walk([&](Op op) { ops.push_back(op); });
    return ops;
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

TEST_F(ModelBuilder, namesWeightsByTheirCanonicalNames) {
  model::ModelConfig config = plainConfig();
  build(config);
  for (const model::WeightSpec &spec : model::canonicalWeights(config)) {
    auto weight = module->lookupSymbol<llm::WeightOp>(spec.name);
    ASSERT_TRUE(weight) << spec.name;
    EXPECT_EQ(weight.getType().getShape(), llvm::ArrayRef(spec.shape)) << spec.name;
    ASSERT_EQ(weight.getSources()->size(), 1u);
    EXPECT_EQ(llvm::cast<mlir::StringAttr>((*weight.getSources())[0]).getValue(), spec.name);
  }
}

TEST_F(ModelBuilder, makesThreeGraphs) {
  build(plainConfig());
  for (llvm::StringRef name : {"prefill", "decode", "verify"}) {
    ASSERT_TRUE(graph(name)) << name.str();
    EXPECT_EQ(graph(name)->getAttrOfType<mlir::StringAttr>(llm::kGraphAttrName).getValue(), name);
    EXPECT_EQ(graph(name).getNumResults(), name == "verify" ? 2u : 1u);
    EXPECT_EQ(opsOf<llm::AttentionOp>(name).size(), 3u);
  }
}

TEST_F(ModelBuilder, locatesOpsByNameAndFile) {
  ModuleOptions options;
  options.file = "model.json";
  build(plainConfig(), options);
  auto location = llvm::dyn_cast<mlir::NameLoc>(opsOf<llm::LinearOp>("decode")[4].getLoc());
  ASSERT_TRUE(location);
  EXPECT_EQ(location.getName().getValue(), "layers.1.q");
  auto file = llvm::dyn_cast<mlir::FileLineColLoc>(location.getChildLoc());
  ASSERT_TRUE(file);
  EXPECT_EQ(file.getFilename().getValue(), "model.json");
}

TEST_F(ModelBuilder, gathersRowsBeforeTheFinalNorm) {
  build(plainConfig());
  llm::LMHeadOp head = opsOf<llm::LMHeadOp>("prefill")[0];
  auto norm = head.getInput().getDefiningOp<llm::RMSNormOp>();
  ASSERT_TRUE(norm);
  EXPECT_EQ(norm.getWeight(), "final_norm");
  EXPECT_TRUE(norm.getInput().getDefiningOp<llm::GatherRowsOp>());
  EXPECT_EQ(head.getWeight(), "lm_head");
}

TEST_F(ModelBuilder, tiedHeadReadsTheEmbedding) {
  model::ModelConfig config = plainConfig();
  config.tieWordEmbeddings = true;
  build(config);
  EXPECT_EQ(opsOf<llm::LMHeadOp>("prefill")[0].getWeight(), "embed");
  EXPECT_FALSE(module->lookupSymbol("lm_head"));
}

TEST_F(ModelBuilder, layersMayDiffer) {
  model::ModelConfig config = plainConfig();
  config.layers[1].slidingWindow = 7;
  config.layers[1].qkvBias = true;
  config.layers[2].useRope = false;
  config.layers[2].numKVHeads = 2;
  build(config);
  auto views = opsOf<llm::KVViewOp>("prefill");
  EXPECT_EQ(views[0].getResult().getType().getWindow(), 0);
  EXPECT_EQ(views[1].getResult().getType().getWindow(), 7);
  EXPECT_EQ(views[2].getResult().getType().getCache().getHeads(), 2);
  EXPECT_EQ(opsOf<llm::RopeOp>("prefill").size(), 4u);
  auto linears = opsOf<llm::LinearOp>("prefill");
  EXPECT_FALSE(linears[0].getBias());
  EXPECT_EQ(linears[4].getBias(), llvm::StringRef("layers.1.q_bias"));
}

TEST_F(ModelBuilder, headNormComesBeforeRope) {
  model::ModelConfig config = plainConfig();
  config.layers[0].qkNorm = true;
  config.layers[0].qkNormEpsilon = 0.5;
  build(config);
  llm::RopeOp rope = opsOf<llm::RopeOp>("prefill")[0];
  auto norm = rope.getInput().getDefiningOp<llm::RMSNormOp>();
  ASSERT_TRUE(norm);
  EXPECT_EQ(norm.getGroups(), 2u);
  EXPECT_EQ(norm.getWeight(), "layers.0.q_norm");
  EXPECT_EQ(norm.getEps().convertToFloat(), 0.5f);
}

TEST_F(ModelBuilder, noRopeNoTable) {
  model::ModelConfig config = plainConfig();
  for (model::LayerConfig &layer : config.layers)
    layer.useRope = false;
  build(config);
  EXPECT_FALSE(module->lookupSymbol("rope"));
}

TEST_F(ModelBuilder, optionsReachTableAndCaches) {
  ModuleOptions options;
  options.maxPositions = 40;
  options.kvLayout = llm::KVLayout::TokenMajor;
  build(plainConfig(), options);
  EXPECT_EQ(module->lookupSymbol<llm::WeightOp>("rope").getType().getRows(), 40);
  EXPECT_EQ(module->lookupSymbol<llm::CacheOp>("layers.2.kv").getType().getLayout(),
            llm::KVLayout::TokenMajor);
}

TEST_F(ModelBuilder, refusesWhatTheConfigForbids) {
  ModuleOptions options;
  options.file = "model.json";
  options.maxPositions = 101;
  EXPECT_EQ(errorOf(plainConfig(), options),
            "model.json: error: found a longest sequence of 101 positions, expected 1 to 100, "
            "which the model allows");
  options.maxPositions = -1;
  EXPECT_NE(errorOf(plainConfig(), options).find("found a longest sequence of -1 positions"),
            std::string::npos);
  model::ModelConfig config = plainConfig();
  config.layers[2].numKVHeads = 3;
  EXPECT_NE(errorOf(config).find(
                "/layers/2/num_heads: error: found 2 query heads, expected a multiple of the 3"),
            std::string::npos)
      << errorOf(config);
}

TEST_F(ModelBuilder, refusesRopeThatTheOpCannotSay) {
  model::ModelConfig config = plainConfig();
  config.rope.rotaryDims = 4;
  EXPECT_EQ(errorOf(config), "/layers/0/head_dim: error: found heads of 8 with 4 rotary "
                             "dimensions, expected all of a head to be "
                             "rotated");
  config = plainConfig();
  config.rope.pairing = model::RopePairing::Interleaved;
  EXPECT_NE(errorOf(config).find("/rope/pairing: error: found interleaved, expected half"),
            std::string::npos);
}

} // namespace
} // namespace llmc
