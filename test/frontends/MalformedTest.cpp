// SPDX-License-Identifier: Apache-2.0
// Classes of malformed models, each planted at a dozen seeded places. Every one must be refused
// with one line that names the file, the place, what was found and what was expected; none may
// abort, hang or print control bytes.
#include "Malformed.h"
#include "frontends/Open.h"

#include <functional>

using namespace llmc;
using test::Expected;
using test::expectGoodMessage;
using test::isPrintable;
using test::Json;
using test::Random;
using test::seedsOfAClass;
using test::TemporaryFolder;
using test::TestTensor;
using test::TinyFolder;

namespace {

// A model that is right until a class changes it; texts that are set replace what would be written.
struct Model {
  TinyFolder tiny;
  std::string configText;
  std::string weightsText;
  Json header;
  std::string data;
  Json index; // not null: sharded

  std::string place(const TestTensor &tensor) const { return "tensor '" + tensor.name + "'"; }
  void setHeader() {
    header = test::headerOf(tiny.tensors);
    for (const TestTensor &tensor : tiny.tensors)
      data += tensor.bytes;
  }
  void write(const TemporaryFolder &folder) const;
};

void Model::write(const TemporaryFolder &folder) const {
  folder.write("config.json", configText.empty() ? tiny.config.dump(1) : configText);
  std::string weights = !weightsText.empty() ? weightsText
                        : !header.is_null()  ? test::safetensorsFile(header.dump(), data)
                                             : test::safetensorsFile(tiny.tensors);
  folder.write(index.is_null() ? "model.safetensors" : "shard-1.safetensors", weights);
  if (!index.is_null())
    folder.write("model.safetensors.index.json", index.dump());
}

void shard(Model &model) {
  Json map = Json::object();
  for (const TestTensor &tensor : model.tiny.tensors)
    map[tensor.name] = "shard-1.safetensors";
  model.index = {{"metadata", Json::object()}, {"weight_map", std::move(map)}};
}

const std::vector<const char *> sizes = {
    "hidden_size",       "intermediate_size",      "num_attention_heads",
    "num_hidden_layers", "num_key_value_heads",    "vocab_size",
    "head_dim",          "max_position_embeddings"};
constexpr const char *configFile = "config.json";
constexpr const char *weightsFile = "model.safetensors";

struct MalformedClass {
  const char *name;
  std::function<Expected(Model &, Random &)> plant;
};

Expected truncatedJson(Model &model, Random &random) {
  std::string whole = model.tiny.config.dump(1);
  model.configText = whole.substr(0, 1 + random.below(whole.size() - 2));
  return {configFile, "line "};
}

Expected deeplyNestedJson(Model &model, Random &random) {
  size_t depth = 100000 + random.below(1000);
  const char *opening = random.below(2) ? "[" : "{\"a\":";
  model.configText = "{\"id2label\": ";
  for (size_t i = 0; i < depth; ++i)
    model.configText += opening;
  return {configFile, "/id2label/"};
}

Expected wrongType(Model &model, Random &random) {
  std::vector<Json> values = {"text", true, Json::array({1}), Json::object(), 1.5};
  std::string key = sizes[random.below(sizes.size())];
  model.tiny.config[key] = random.pick(values);
  return {configFile, "/" + key};
}

Expected duplicateKey(Model &model, Random &random) {
  std::string key = sizes[random.below(sizes.size())];
  model.configText = model.tiny.config.dump();
  model.configText.insert(1, "\"" + key + "\": 1, ");
  return {configFile, "/"};
}

Expected unknownKey(Model &model, Random &random) {
  std::string key = "unheard_of_" + std::to_string(random.below(1000));
  bool nested = random.below(2);
  (nested ? model.tiny.config["rope_parameters"] : model.tiny.config)[key] = 1;
  return {configFile, (nested ? "/rope_parameters/" : "/") + key};
}

Expected headsNotDivisible(Model &model, Random &random) {
  size_t keyHeads = 2 + random.below(20);
  model.tiny.config["num_key_value_heads"] = keyHeads;
  model.tiny.config["num_attention_heads"] =
      keyHeads * (1 + random.below(9)) + 1 + random.below(keyHeads - 1);
  return {configFile, "/num_attention_heads"};
}

Expected zeroOrNegativeSize(Model &model, Random &random) {
  std::string key = sizes[random.below(sizes.size())];
  model.tiny.config[key] = -static_cast<int64_t>(random.below(3));
  return {configFile, "/" + key};
}

Expected overflowingSize(Model &model, Random &random) {
  std::string key = sizes[random.below(sizes.size())];
  model.tiny.config[key] =
      (int64_t(1) << (40 + random.below(23))) + static_cast<int64_t>(random.below(5));
  return {configFile, "/" + key};
}

Expected contradictingRope(Model &model, Random &random) {
  model.tiny.config["rope_theta"] = 20000 + random.below(1000);
  return {configFile, "/rope_parameters/rope_theta"};
}

Expected absurdHeaderLength(Model &model, Random &random) {
  std::string file = test::safetensorsFile(model.tiny.tensors);
  uint64_t length =
      random.below(2) ? file.size() - 7 + random.below(1000) : UINT64_MAX - random.below(1000);
  model.weightsText = test::safetensorsFile(length, file.substr(8), "");
  return {weightsFile, "header length"};
}

Expected offsetsOutside(Model &model, Random &random) {
  model.setHeader();
  TestTensor &tensor = random.pick(model.tiny.tensors);
  Json &offsets = model.header[tensor.name]["data_offsets"];
  offsets[1] = model.data.size() + 1 + random.below(size_t(1) << 40);
  if (random.below(2))
    offsets[0] = int64_t(-1) - static_cast<int64_t>(random.below(100));
  return {weightsFile, model.place(tensor)};
}

Expected overlappingOffsets(Model &model, Random &random) {
  model.setHeader();
  size_t which = 1 + random.below(model.tiny.tensors.size() - 1);
  Json &offsets = model.header[model.tiny.tensors[which].name]["data_offsets"];
  uint64_t shift = 1 + random.below(90);
  offsets = {offsets[0].get<uint64_t>() - shift, offsets[1].get<uint64_t>() - shift};
  return {weightsFile, "tensor '"};
}

Expected overflowingShape(Model &model, Random &random) {
  model.setHeader();
  TestTensor &tensor = random.pick(model.tiny.tensors);
  model.header[tensor.name]["shape"] = {uint64_t(1) << (31 + random.below(30)), uint64_t(1) << 33};
  return {weightsFile, model.place(tensor)};
}

Expected wrongShape(Model &model, Random &random) {
  TestTensor &tensor = random.pick(model.tiny.tensors);
  tensor.shape.push_back(1);
  return {weightsFile, model.place(tensor)};
}

Expected wrongElementType(Model &model, Random &random) {
  std::vector<std::string> types = {"I32", "U32", "F33", "", "f32"};
  TestTensor &tensor = random.pick(model.tiny.tensors);
  tensor.type = random.pick(types);
  return {weightsFile, model.place(tensor)};
}

Expected missingTensor(Model &model, Random &random) {
  size_t which =
      random.below(model.tiny.tensors.size() - 1); // without the last, lm_head, the head is tied
  std::string place = model.place(model.tiny.tensors[which]);
  model.tiny.tensors.erase(model.tiny.tensors.begin() + static_cast<ptrdiff_t>(which));
  return {weightsFile, place};
}

Expected extraTensor(Model &model, Random &random) {
  TestTensor extra = test::f32Tensor("model.extra." + std::to_string(random.below(1000)), {1}, {0});
  model.tiny.tensors.insert(model.tiny.tensors.begin() + static_cast<ptrdiff_t>(random.below(10)),
                            extra);
  return {weightsFile, model.place(extra)};
}

Expected missingShard(Model &model, Random &random) {
  shard(model);
  std::string name = "shard-" + std::to_string(2 + random.below(100)) + ".safetensors";
  model.index["weight_map"][random.pick(model.tiny.tensors).name] = name;
  return {name, ""};
}

Expected escapingIndex(Model &model, Random &random) {
  std::vector<std::string> paths = {
      "../x.safetensors", "/etc/hostname", "a/../../x", "..", "sub/x.safetensors", ""};
  shard(model);
  std::string tensor = random.pick(model.tiny.tensors).name;
  model.index["weight_map"][tensor] = random.pick(paths);
  return {"model.safetensors.index.json", "/weight_map/" + tensor};
}

Expected truncatedData(Model &model, Random &random) {
  std::string whole = test::safetensorsFile(model.tiny.tensors);
  size_t dataSize = 0;
  for (const TestTensor &tensor : model.tiny.tensors)
    dataSize += tensor.bytes.size();
  model.weightsText = whole.substr(0, whole.size() - 1 - random.below(dataSize - 1));
  return {weightsFile, "tensor '"};
}

Expected holeInData(Model &model, Random &random) {
  model.setHeader();
  uint64_t gap = 1 + random.below(100);
  size_t from = random.below(model.tiny.tensors.size());
  for (size_t i = from; i < model.tiny.tensors.size(); ++i) {
    Json &offsets = model.header[model.tiny.tensors[i].name]["data_offsets"];
    offsets = {offsets[0].get<uint64_t>() + gap, offsets[1].get<uint64_t>() + gap};
  }
  model.data.insert(0, gap, '\0');
  return {weightsFile, model.place(model.tiny.tensors[from])};
}

Expected controlBytes(Model &model, Random &random) {
  std::string control(1, static_cast<char>(1 + random.below(31)));
  if (random.below(2)) {
    model.tiny.config["a" + control + "[2Jb"] = 1;
    return {configFile, "/a\\x"};
  }
  model.tiny.tensors[0].name = "a" + control + "\x7F";
  return {weightsFile, "tensor '"};
}

const MalformedClass classes[] = {
    {"TruncatedJson", truncatedJson},
    {"DeeplyNestedJson", deeplyNestedJson},
    {"WrongType", wrongType},
    {"DuplicateKey", duplicateKey},
    {"UnknownKey", unknownKey},
    {"HeadsNotDivisible", headsNotDivisible},
    {"ZeroOrNegativeSize", zeroOrNegativeSize},
    {"OverflowingSize", overflowingSize},
    {"ContradictingRope", contradictingRope},
    {"AbsurdHeaderLength", absurdHeaderLength},
    {"OffsetsOutside", offsetsOutside},
    {"OverlappingOffsets", overlappingOffsets},
    {"OverflowingShape", overflowingShape},
    {"WrongShape", wrongShape},
    {"WrongElementType", wrongElementType},
    {"MissingTensor", missingTensor},
    {"ExtraTensor", extraTensor},
    {"MissingShard", missingShard},
    {"EscapingIndex", escapingIndex},
    {"TruncatedData", truncatedData},
    {"HoleInData", holeInData},
    {"ControlBytes", controlBytes},
};

class Malformed : public testing::TestWithParam<MalformedClass> {};

TEST_P(Malformed, IsRefusedWithFilePlaceFoundAndExpected) {
  static const std::vector<const char *> families = {"llama", "mistral", "qwen2", "qwen3"};
  for (unsigned seed = 0; seed < seedsOfAClass; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    Model model;
    model.tiny = test::tinyFolder(families[seed % families.size()]);
    Expected expected = GetParam().plant(model, random);
    TemporaryFolder folder;
    model.write(folder);
    Result<OpenedModel> opened = openModel(folder.path);
    ASSERT_FALSE(opened.ok());
    expectGoodMessage(opened.error(), folder, expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Corpus, Malformed, testing::ValuesIn(classes),
                         [](const testing::TestParamInfo<MalformedClass> &info) {
                           return info.param.name;
                         });

// Damage without a plan: any outcome but a crash is right, and a refusal names a file of the
// folder.
TEST(MalformedBytes, NeverCrashAReader) {
  for (unsigned seed = 0; seed < 400; ++seed) {
    Random random(seed);
    Model model;
    model.tiny = test::tinyFolder("llama");
    std::string config = model.tiny.config.dump(),
                weights = test::safetensorsFile(model.tiny.tensors);
    for (size_t count = 1 + random.below(4); count > 0; --count) {
      bool inConfig = random.below(2);
      std::string &text = inConfig ? config : weights;
      text[random.below(inConfig ? text.size() : 1200)] = static_cast<char>(random.below(256));
    }
    model.configText = config;
    model.weightsText = weights;
    TemporaryFolder folder;
    model.write(folder);
    Result<OpenedModel> opened = openModel(folder.path);
    if (!opened) {
      EXPECT_EQ(opened.error().message.substr(0, folder.path.size()), folder.path);
      EXPECT_TRUE(isPrintable(opened.error().message)) << opened.error().message;
    }
  }
}

} // namespace
