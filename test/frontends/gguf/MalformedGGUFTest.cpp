// SPDX-License-Identifier: Apache-2.0
// Classes of malformed GGUF files, among them those of published vulnerabilities of GGUF readers:
// counts, lengths and offsets that overflow, small files that ask for large memory, tensors that
// share bytes, values of wrong types, indices beyond the vocabulary.
#include "GGUFFile.h"
#include "frontends/Open.h"
#include "test/frontends/Malformed.h"

#include <cmath>
#include <functional>
#include <limits>

using namespace llmc;
using namespace llmc::test;

namespace {

// A file that is right until a class changes it; `text`, when set, is written in its place.
struct Model {
  TinyGGUF tiny;
  std::string text;

  GGUFFile &file() { return tiny.file; }
  std::string name(const char *suffix) const { return tiny.config.family + suffix; }
};

std::string key(const std::string &name) { return "key '" + name + "'"; }
std::string tensor(const GGUFTensor &it) { return "tensor '" + it.name + "'"; }

uint64_t huge(Random &random) {
  std::vector<uint64_t> bases = {uint64_t(1) << 63, uint64_t(1) << 62, uint64_t(1) << 61,
                                 UINT64_MAX - 40,   uint64_t(1) << 40, uint64_t(1) << 32};
  return random.pick(bases) + random.below(40);
}

GGUFKey &anyString(Model &model, Random &random) {
  std::vector<std::string> names = {"general.architecture", "general.name", "tokenizer.ggml.model"};
  return *model.file().find(random.pick(names));
}

const std::vector<const char *> sizes = {".block_count", ".context_length", ".embedding_length",
                                         ".feed_forward_length", ".attention.head_count"};

struct MalformedClass {
  const char *name;
  std::function<std::string(Model &, Random &)> plant; // gives the place
};

std::string truncatedMetadata(Model &model, Random &random) {
  model.text = model.file().bytes().substr(0, random.below(model.file().metadataBytes()));
  return "";
}

std::string truncatedData(Model &model, Random &random) {
  std::string whole = model.file().bytes();
  size_t start = model.file().metadataBytes() + 31;
  model.text = whole.substr(0, start + random.below(whole.size() - start));
  return "tensor '";
}

std::string wrongMagic(Model &model, Random &random) {
  std::vector<std::string> words = {"GGML", "ggjt", "FUGG",
                                    "\x7F"
                                    "ELF",
                                    std::string(4, '\0')};
  model.file().magic = random.pick(words);
  return "magic";
}

std::string wrongVersion(Model &model, Random &random) {
  std::vector<uint32_t> versions = {0, 1, 4, 5, 0x02000000, 0x03000000, UINT32_MAX};
  model.file().version = random.pick(versions);
  return "version";
}

std::string hugeTensorCount(Model &model, Random &random) {
  model.file().tensorCount = huge(random);
  return "tensor count";
}

std::string hugeKeyCount(Model &model, Random &random) {
  model.file().keyCount = huge(random);
  return "key count";
}

// One count too many: the reader runs into what follows.
std::string oneKeyTooMany(Model &model, Random &random) {
  model.file().keyCount = model.file().keys.size() + 1 + random.below(3);
  return "";
}

std::string hugeNameLength(Model &model, Random &random) {
  std::string whole = model.file().bytes();
  model.text = whole.replace(24, 8, littleEndian(huge(random), 8));
  return "key 1 of ";
}

std::string hugeStringLength(Model &model, Random &random) {
  GGUFKey &it = anyString(model, random);
  it.bytes.replace(0, 8, littleEndian(huge(random), 8));
  return key(it.name);
}

std::string hugeListLength(Model &model, Random &random) {
  uint32_t element = static_cast<uint32_t>(random.below(13));
  model.file().set(listKey("general.tags", element, huge(random), "abc"));
  return key("general.tags");
}

std::string stringOfAListTooLong(Model &model, Random &random) {
  GGUFKey &tokens = *model.file().find("tokenizer.ggml.tokens");
  size_t offset = 12;
  for (size_t skip = random.below(40); skip > 0; --skip)
    offset += 8 + static_cast<unsigned char>(tokens.bytes[offset]);
  tokens.bytes.replace(offset, 8, littleEndian(huge(random), 8));
  return key(tokens.name);
}

std::string deepNesting(Model &model, Random &random) {
  std::string bytes;
  for (size_t depth = 5 + random.below(3000); depth > 0; --depth)
    bytes += littleEndian(ArrayValue, 4) + littleEndian(1, 8);
  model.file().set({"general.tags", ArrayValue, bytes + littleEndian(U8, 4) + littleEndian(0, 8)});
  return key("general.tags");
}

std::string unknownValueType(Model &model, Random &random) {
  uint32_t type = 13 + static_cast<uint32_t>(random.below(1000000));
  if (random.below(2))
    model.file().set({"general.x", type, "12345678"});
  else
    model.file().set(listKey("general.x", type, 1, "12345678"));
  return key("general.x");
}

std::string badBoolean(Model &model, Random &random) {
  char byte = static_cast<char>(2 + random.below(254));
  if (random.below(2))
    model.file().set({"general.x", BoolValue, std::string(1, byte)});
  else
    model.file().set(listKey("general.x", BoolValue, 3, std::string("\0\1", 2) + byte));
  return key("general.x");
}

std::string duplicateKey(Model &model, Random &random) {
  GGUFKey copy = random.pick(model.file().keys);
  model.file().keys.push_back(copy);
  return key(copy.name);
}

std::string duplicateTensor(Model &model, Random &random) {
  GGUFTensor copy = random.pick(model.file().tensors);
  model.file().tensors.push_back(copy);
  return tensor(copy);
}

std::string zeroDimension(Model &model, Random &random) {
  GGUFTensor &it = random.pick(model.file().tensors);
  it.dims[random.below(it.dims.size())] = 0;
  return tensor(it);
}

// Products that wrap around to something small, and ones that merely are absurd.
std::string overflowingDimensions(Model &model, Random &random) {
  GGUFTensor &it = random.pick(model.file().tensors);
  std::vector<std::vector<uint64_t>> shapes = {{uint64_t(1) << 32, uint64_t(1) << 32},
                                               {uint64_t(1) << 62, 4},
                                               {UINT64_MAX, 1},
                                               {3, 0x5555555555555556},
                                               {uint64_t(1) << 16, 1 << 16, 1 << 16, 1 << 16},
                                               {1, 1, 1, uint64_t(1) << 63}};
  it.dims = random.pick(shapes);
  return tensor(it);
}

std::string wrongDimensionCount(Model &model, Random &random) {
  GGUFTensor &it = random.pick(model.file().tensors);
  it.dims.assign(random.below(2) ? 0 : 5 + random.below(2000), 1);
  return tensor(it);
}

std::string unknownTensorType(Model &model, Random &random) {
  std::vector<uint32_t> types = {4, 5, 31, 36, 43, 1000, UINT32_MAX, 0x80000000};
  GGUFTensor &it = random.pick(model.file().tensors);
  it.type = random.pick(types);
  return tensor(it);
}

std::string unreadableTensorType(Model &model, Random &random) {
  struct Row {
    uint32_t type;
    size_t bytes; // of 64 values
  };
  std::vector<Row> types = {{6, 44}, {7, 48}, {9, 72}, {20, 36}, {24, 64}, {26, 256}, {28, 512}};
  Row row = random.pick(types);
  GGUFTensor &it = random.pick(model.file().tensors);
  while (it.dims[0] % 64 != 0 && it.dims[0] != 96)
    return unreadableTensorType(model, random);
  size_t values = 1;
  for (uint64_t dim : it.dims)
    values *= dim;
  it.type = row.type;
  it.bytes = std::string(values / 32 * row.bytes / 2, '\0');
  return tensor(it);
}

std::string rowsOfNoWholeBlocks(Model &model, Random &random) {
  GGUFTensor &it = random.pick(model.file().tensors);
  std::vector<uint32_t> types = {Q8_0Tensor, Q4_0Tensor, Q4_1Tensor};
  it.type = random.pick(types);
  it.dims[0] = it.dims[0] / 32 * 32 + 1 + random.below(31);
  return tensor(it);
}

std::string unalignedOffset(Model &model, Random &random) {
  GGUFTensor &it = random.pick(model.file().tensors);
  it.offset = 32 * random.below(9) + 1 + random.below(31);
  return tensor(it);
}

std::string offsetOutside(Model &model, Random &random) {
  GGUFTensor &it = random.pick(model.file().tensors);
  it.offset = huge(random) / 32 * 32;
  return tensor(it);
}

std::string overlappingTensors(Model &model, Random &random) {
  std::vector<GGUFTensor> &all = model.file().tensors;
  GGUFTensor &it = all[1 + random.below(all.size() - 1)];
  it.offset = 32 * random.below(50); // inside the first tensor, which has 10240 bytes
  return "tensor '";
}

std::string badAlignment(Model &model, Random &random) {
  std::vector<uint32_t> values = {0, 1, 3, 4, 7, 12, 33, 96, 1u << 21, 1u << 31, UINT32_MAX};
  model.file().set(u32Key("general.alignment", random.pick(values)));
  if (random.below(4) == 0)
    model.file().set(stringKey("general.alignment", "32"));
  return key("general.alignment");
}

std::string missingKey(Model &model, Random &random) {
  std::string name = model.name(sizes[random.below(sizes.size())]);
  if (random.below(4) == 0)
    name = model.name(".attention.layer_norm_rms_epsilon");
  if (random.below(5) == 0)
    name = "general.architecture";
  GGUFKey *it = model.file().find(name);
  model.file().keys.erase(model.file().keys.begin() + (it - model.file().keys.data()));
  return key(name);
}

std::string wrongValueType(Model &model, Random &random) {
  std::string name = model.name(sizes[random.below(sizes.size())]);
  std::vector<GGUFKey> values = {stringKey(name, "64"),
                                 boolKey(name, true),
                                 f32Key(name, 2),
                                 stringsKey(name, {"2", "2"}),
                                 {name, U64, littleEndian(UINT64_MAX, 8)}};
  model.file().set(random.pick(values));
  return key(name);
}

std::string unknownKey(Model &model, Random &random) {
  std::vector<std::string> prefixes = {model.name(".attention."), model.name("."), "mystery."};
  std::string name = random.pick(prefixes) + "x" + std::to_string(random.below(1000));
  model.file().keys.insert(model.file().keys.begin() +
                               static_cast<ptrdiff_t>(random.below(model.file().keys.size())),
                           u32Key(name, 1));
  return key(name);
}

std::string valueThatIsNotHonoured(Model &model, Random &random) {
  std::vector<GGUFKey> keys = {u32Key(model.name(".expert_count"), 8),
                               u32Key(model.name(".expert_used_count"), 2),
                               boolKey(model.name(".attention.causal"), false),
                               u32Key(model.name(".nextn_predict_layers"), 1),
                               u32Key(model.name(".pooling_type"), 3),
                               stringKey("general.type", "mmproj"),
                               u32Key("general.quantization_version", 1),
                               u32Key("split.count", 2),
                               stringKey(model.name(".rope.scaling.type"), "longrope"),
                               f32Key(model.name(".rope.scaling.yarn_ext_factor"), 0.5f)};
  GGUFKey it = random.pick(keys);
  model.file().set(it);
  return key(it.name);
}

std::string absurdSize(Model &model, Random &random) {
  std::string name = model.name(sizes[random.below(sizes.size())]);
  std::vector<GGUFKey> values = {
      u32Key(name, 0),
      {name, I64, littleEndian(uint64_t(-1) - random.below(9), 8)},
      {name, I64, littleEndian(INT64_MAX - random.below(9), 8)},
      {name, U64, littleEndian(uint64_t(1) << (33 + random.below(30)), 8)}};
  model.file().set(random.pick(values));
  return "";
}

std::string headCounts(Model &model, Random &random) {
  uint32_t keyHeads = 2 + static_cast<uint32_t>(random.below(20));
  uint32_t heads = keyHeads * static_cast<uint32_t>(1 + random.below(9)) + 1 +
                   static_cast<uint32_t>(random.below(keyHeads - 1));
  model.file().set(u32Key(model.name(".attention.head_count"), heads));
  model.file().set(u32Key(model.name(".attention.head_count_kv"), keyHeads));
  model.file().set(u32Key(model.name(".attention.key_length"), 16));
  return key(model.name(".attention.head_count"));
}

std::string perLayerListOfWrongLength(Model &model, Random &random) {
  std::string name = model.name(random.below(2) ? ".attention.head_count" : ".feed_forward_length");
  size_t count = random.below(2) ? random.below(2) : 3 + random.below(100);
  std::string bytes;
  for (size_t i = 0; i < count; ++i)
    bytes += littleEndian(4, 4);
  model.file().set(listKey(name, U32, count, bytes));
  return key(name);
}

std::string vocabularyMismatch(Model &model, Random &random) {
  uint32_t other = random.below(2) ? static_cast<uint32_t>(random.below(40))
                                   : 41 + static_cast<uint32_t>(random.below(100000));
  if (random.below(2)) {
    model.file().set(u32Key(model.name(".vocab_size"), other));
    return key(model.name(".vocab_size"));
  }
  std::vector<std::string> tokens(other, "x");
  model.file().set(stringsKey("tokenizer.ggml.tokens", tokens));
  return key("tokenizer.ggml.tokens");
}

std::string idOutsideTheVocabulary(Model &model, Random &random) {
  std::vector<std::string> names = {"tokenizer.ggml.bos_token_id", "tokenizer.ggml.eos_token_id",
                                    "tokenizer.ggml.eot_token_id"};
  std::string name = random.pick(names);
  std::vector<GGUFKey> values = {u32Key(name, 40 + static_cast<uint32_t>(random.below(1000))),
                                 u32Key(name, UINT32_MAX),
                                 stringKey(name, "2"),
                                 {name, I32, littleEndian(uint64_t(-5), 4)}};
  model.file().set(random.pick(values));
  return key(name);
}

std::string missingTensor(Model &model, Random &random) {
  std::vector<GGUFTensor> &all = model.file().tensors;
  size_t which = random.below(all.size() - 1); // without the last, output, the head is tied
  // Biases are there when one of the three is.
  std::string place = tensor(all[which]);
  all.erase(all.begin() + static_cast<ptrdiff_t>(which));
  return place;
}

std::string extraTensor(Model &model, Random &random) {
  std::vector<std::string> names = {"blk.0.attn_q.scale", "blk.2.attn_q.weight",
                                    "rope_factors_long",  "blk.0.ffn_gate_exps.weight",
                                    "blk.1.attn_sinks",   "x"};
  GGUFTensor extra{random.pick(names), {8}, F32Tensor, std::string(32, '\0')};
  model.file().tensors.insert(
      model.file().tensors.begin() + static_cast<ptrdiff_t>(random.below(20)), extra);
  return tensor(extra);
}

std::string wrongShape(Model &model, Random &random) {
  GGUFTensor &it = random.pick(model.file().tensors);
  it.dims.push_back(1);
  return tensor(it);
}

std::string badName(Model &model, Random &random) {
  if (random.below(2)) {
    random.pick(model.file().tensors).name =
        random.below(2) ? "" : std::string(65 + random.below(100000), 'x');
    return "tensor ";
  }
  model.file().keys.push_back(u32Key(random.below(2) ? "" : std::string(65536, 'k'), 1));
  return "key ";
}

std::string controlBytes(Model &model, Random &random) {
  std::string control(1, static_cast<char>(1 + random.below(31)));
  if (random.below(2)) {
    model.file().keys.push_back(u32Key("a" + control + "[2Jb", 1));
    return "key 'a\\x";
  }
  random.pick(model.file().tensors).name = "a" + control + "\x7F";
  return "tensor '";
}

std::string contradictingRope(Model &model, Random &random) {
  std::vector<GGUFKey> keys = {f32Key(model.name(".rope.scaling.yarn_beta_slow"), 2),
                               f32Key(model.name(".rope.freq_base"), 0),
                               f32Key(model.name(".rope.freq_base"), INFINITY),
                               f32Key(model.name(".rope.freq_base"), -10000),
                               f32Key(model.name(".rope.scaling.factor"), NAN),
                               f32Key(model.name(".rope.scaling.factor"), 0.5f),
                               u32Key(model.name(".rope.dimension_count"), 15)};
  GGUFKey it = random.pick(keys);
  model.file().set(it);
  return key(it.name);
}

// Damage that shows when rows are read.
std::string scaleThatIsNoNumber(Model &model, Random &random) {
  std::vector<uint32_t> types = {Q8_0Tensor, Q4_0Tensor, Q4_1Tensor};
  uint32_t type = random.pick(types);
  model.tiny = tinyGGUF(model.tiny.config.family, type);
  std::vector<GGUFTensor *> quantised;
  for (GGUFTensor &it : model.file().tensors)
    if (it.type == type)
      quantised.push_back(&it);
  GGUFTensor &it = *random.pick(quantised);
  size_t width = type == Q8_0Tensor ? 34 : type == Q4_0Tensor ? 18 : 20;
  size_t half = type == Q4_1Tensor ? 2 * random.below(2) : 0; // scale or minimum
  size_t block = random.below(it.bytes.size() / width);
  std::vector<uint64_t> values = {0x7C00, 0xFC00, 0x7E00, 0xFFFF, 0x7C01};
  it.bytes.replace(block * width + half, 2, littleEndian(random.pick(values), 2));
  uint64_t blocksOfRow = it.dims[0] / 32;
  return tensor(it) + ": row " + std::to_string(block / blocksOfRow) + ", group " +
         std::to_string(block % blocksOfRow);
}

const MalformedClass classes[] = {
    {"TruncatedMetadata", truncatedMetadata},
    {"TruncatedData", truncatedData},
    {"WrongMagic", wrongMagic},
    {"WrongVersion", wrongVersion},
    {"HugeTensorCount", hugeTensorCount},
    {"HugeKeyCount", hugeKeyCount},
    {"OneKeyTooMany", oneKeyTooMany},
    {"HugeNameLength", hugeNameLength},
    {"HugeStringLength", hugeStringLength},
    {"HugeListLength", hugeListLength},
    {"StringOfAListTooLong", stringOfAListTooLong},
    {"DeepNesting", deepNesting},
    {"UnknownValueType", unknownValueType},
    {"BadBoolean", badBoolean},
    {"DuplicateKey", duplicateKey},
    {"DuplicateTensor", duplicateTensor},
    {"ZeroDimension", zeroDimension},
    {"OverflowingDimensions", overflowingDimensions},
    {"WrongDimensionCount", wrongDimensionCount},
    {"UnknownTensorType", unknownTensorType},
    {"UnreadableTensorType", unreadableTensorType},
    {"RowsOfNoWholeBlocks", rowsOfNoWholeBlocks},
    {"UnalignedOffset", unalignedOffset},
    {"OffsetOutside", offsetOutside},
    {"OverlappingTensors", overlappingTensors},
    {"BadAlignment", badAlignment},
    {"MissingKey", missingKey},
    {"WrongValueType", wrongValueType},
    {"UnknownKey", unknownKey},
    {"ValueThatIsNotHonoured", valueThatIsNotHonoured},
    {"AbsurdSize", absurdSize},
    {"HeadCounts", headCounts},
    {"PerLayerListOfWrongLength", perLayerListOfWrongLength},
    {"VocabularyMismatch", vocabularyMismatch},
    {"IdOutsideTheVocabulary", idOutsideTheVocabulary},
    {"MissingTensor", missingTensor},
    {"ExtraTensor", extraTensor},
    {"WrongShape", wrongShape},
    {"BadName", badName},
    {"ControlBytes", controlBytes},
    {"ContradictingRope", contradictingRope},
    {"ScaleThatIsNoNumber", scaleThatIsNoNumber},
};

// The first error of opening the file and reading all its weights.
Status readAll(const std::string &path) {
  Result<OpenedModel> opened = openModel(path);
  if (!opened)
    return opened.takeError();
  for (const model::WeightSpec &spec : model::canonicalWeights(opened->config)) {
    const model::TensorInfo *info = opened->weights->find(spec.name);
    std::vector<float> row(static_cast<size_t>(info->rows() * info->columns()));
    if (Status status = opened->weights->readRows(spec.name, 0, info->rows(), row.data()); !status)
      return status;
  }
  return {};
}

Model rightModel(unsigned seed) {
  static const std::vector<const char *> architectures = {"llama", "qwen2", "qwen3"};
  return {tinyGGUF(architectures[seed % architectures.size()]), {}};
}

class MalformedGGUF : public testing::TestWithParam<MalformedClass> {};

TEST_P(MalformedGGUF, IsRefusedWithFilePlaceFoundAndExpected) {
  for (unsigned seed = 0; seed < seedsOfAClass; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    Model model = rightModel(seed);
    std::string place = GetParam().plant(model, random);
    TemporaryFolder folder;
    folder.write("m.gguf", model.text.empty() ? model.file().bytes() : model.text);
    Status status = readAll(folder.file("m.gguf"));
    ASSERT_FALSE(status.ok());
    expectGoodMessage(status.error(), folder, {"m.gguf", place});
  }
}

INSTANTIATE_TEST_SUITE_P(Corpus, MalformedGGUF, testing::ValuesIn(classes),
                         [](const testing::TestParamInfo<MalformedClass> &info) {
                           return info.param.name;
                         });

TEST(MalformedGGUFCount, NothingIsRefusedBeforeItIsDamaged) {
  for (unsigned seed = 0; seed < 3; ++seed) {
    TemporaryFolder folder;
    folder.write("m.gguf", rightModel(seed).file().bytes());
    Status status = readAll(folder.file("m.gguf"));
    EXPECT_TRUE(status) << status.error().str();
  }
}

// Every place to cut a file, one byte after the other, through the metadata.
TEST(MalformedGGUFCount, EveryTruncationIsRefused) {
  Model model = rightModel(0);
  std::string whole = model.file().bytes();
  TemporaryFolder folder;
  for (size_t size = 0; size < model.file().metadataBytes(); ++size) {
    folder.write("m.gguf", whole.substr(0, size));
    Status status = readAll(folder.file("m.gguf"));
    ASSERT_FALSE(status) << size;
    expectGoodMessage(status.error(), folder, {"m.gguf", ""});
  }
}

// Damage without a plan: any outcome but a crash is right.
TEST(MalformedGGUFBytes, NeverCrashAReader) {
  TemporaryFolder folder;
  for (unsigned seed = 0; seed < 400; ++seed) {
    Random random(seed);
    Model model = rightModel(seed);
    std::string bytes = model.file().bytes();
    for (size_t count = 1 + random.below(4); count > 0; --count)
      bytes[random.below(model.file().metadataBytes())] = static_cast<char>(random.below(256));
    folder.write("m.gguf", bytes);
    if (Status status = readAll(folder.file("m.gguf")); !status) {
      EXPECT_EQ(status.error().message.substr(0, folder.path.size()), folder.path);
      EXPECT_TRUE(isPrintable(status.error().message)) << status.error().message;
    }
  }
}

} // namespace
