// SPDX-License-Identifier: Apache-2.0
// Writes what the fuzzers of readers start from: right files of every kind, into FOLDER/TARGET/.
#include "frontends/huggingface/Config.h"
#include "frontends/json/ModelJson.h"
#include "test/frontends/gguf/GGUFFile.h"
#include "test/fuzz/TinyConfig.h"

#include <cstdio>
#include <filesystem>
#include <fstream>

using namespace llmc;
using namespace llmc::test;

namespace {

std::string root;

void write(const std::string &target, const std::string &name, const std::string &bytes) {
  std::filesystem::create_directories(root + "/" + target);
  std::ofstream(root + "/" + target + "/" + name, std::ios::binary) << bytes;
}

// Metadata only; zeros take the place of the data.
void writeGGUF(const std::string &name, const GGUFFile &file) {
  std::string whole = file.bytes();
  write("gguf", name, "\x03" + whole.substr(0, file.metadataBytes()));
}

void writeGGUFSeeds() {
  for (const char *architecture : {"llama", "qwen2", "qwen3"})
    for (uint32_t type : {F32Tensor, BF16Tensor, Q8_0Tensor, Q4_0Tensor, Q4_1Tensor})
      writeGGUF(architecture + std::to_string(type), tinyGGUF(architecture, type).file);
  GGUFFile yarn = tinyGGUF("qwen2", Q4_0Tensor).file;
  yarn.set(stringKey("qwen2.rope.scaling.type", "yarn"));
  yarn.set(f32Key("qwen2.rope.scaling.factor", 4));
  yarn.set(u32Key("qwen2.rope.scaling.original_context_length", 32));
  yarn.set(stringKey("tokenizer.ggml.pre", "qwen2"));
  yarn.set(stringsKey("tokenizer.ggml.merges", {"t 1", "t1 0"}));
  writeGGUF("yarn", yarn);
  GGUFFile window = tinyGGUF("llama", Q4_0Tensor).file;
  window.set(u32Key("llama.attention.sliding_window", 8));
  window.set(listKey("llama.attention.sliding_window_pattern", BoolValue, 2, "\1\1"));
  window.set(stringKey("tokenizer.ggml.model", "llama"));
  window.set(listKey("tokenizer.ggml.scores", F32Value, 40, std::string(160, '\0')));
  window.set(stringKey("tokenizer.chat_template", "{{ messages }}"));
  writeGGUF("window", window);
}

void writeSafetensorsSeeds() {
  std::vector<TestTensor> tensors = randomTensors(fuzz::tinyConfig(), 1);
  std::string whole = safetensorsFile(tensors);
  size_t header = whole.size() - fuzz::tinyDataBytes;
  write("safetensors", "whole", std::string(1, '\0') + whole);
  write("safetensors", "header", "\x01" + whole.substr(0, header));
}

void writeConfigSeeds() {
  for (const char *family : {"llama", "mistral", "qwen2", "qwen3"}) {
    std::string text = tinyHuggingFaceConfig(family).dump();
    write("huggingface-config", family, text);
    Result<model::ModelConfig> config = huggingface::parseConfig(text, "", "", "");
    json::WeightsReference random;
    random.randomSeed = 1;
    if (config)
      write("model-json", family, json::writeModelJson(*config, random));
  }
  write("huggingface-config", "two",
        tinyHuggingFaceConfig("llama").dump() + std::string(1, '\0') + "{\"eos_token_id\":[1,2]}");
}

} // namespace

int main(int count, char **arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: fuzz-seeds FOLDER\n");
    return 2;
  }
  root = arguments[1];
  writeGGUFSeeds();
  writeSafetensorsSeeds();
  writeConfigSeeds();
  return 0;
}
