// SPDX-License-Identifier: Apache-2.0
// What the command line says, as plain values, and the body of each command that needs no compiler.
// CommandLine.cpp fills these; nothing else in this folder sees the command line.
#pragma once

#include "dialects/model/Error.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace llmc::tool {

struct ModelOptions {
  std::string path;
  std::string name;     // what --name said at compile time; "": it was not given
  std::string weights;  // file of a model with separate weights; "": beside the model
  bool copiesWeights = false; // into memory, instead of reading them where the file is mapped
  uint32_t threads = 0;       // of a step; 0: as many as processors
};

// How tokens are picked; what is off is 0.
struct SamplingOptions {
  float temperature = 0; // 0: the likeliest token, always
  uint32_t topK = 0;
  float topP = 0;
  float minP = 0;
  float repetitionPenalty = 0;
  float frequencyPenalty = 0;
  float presencePenalty = 0;
  uint32_t penaltyWindow = 0; // latest tokens; 0: all
  bool llamaCppOrder = false; // else Hugging Face's
  uint64_t seed = 0;
  uint32_t draftTokens = 0; // prompt lookup; 0: none
};

enum class PromptSource { Ids, IdsFile, Text, TextFile, Conversation };

struct RunOptions {
  ModelOptions model;
  PromptSource source = PromptSource::Ids;
  std::string prompt; // "1,2,3", a text, or the name of a file with either; "-": standard input
  bool chat = false;  // the text is a message, put into the model's chat template
  std::optional<std::string> system; // message before it
  std::vector<std::string> stop;     // strings that end a text
  std::optional<uint32_t> maxNewTokens;
  bool ignoreEos = false;
  bool printIds = false;
  SamplingOptions sampling;
  std::string logitsOut;          // "": not wanted
  uint32_t prefillChunk = 0;      // tokens of a prefill step; 0: 256
  std::optional<uint64_t> kvJunk; // seed

  bool givesText() const {
    return source != PromptSource::Ids && source != PromptSource::IdsFile && !printIds;
  }
};
Status runModel(const RunOptions &options);

// Lists are tried in every combination: prompts x threads, and depths x batches x threads.
struct BenchOptions {
  ModelOptions model;
  std::vector<uint32_t> promptLengths = {128}; // a 0 stands for none
  uint32_t generated = 32;                     // steps of a decode; 0: none
  bool fitsPrompts = true; // the two above were not given: fewer where the model has no room
  bool fitsGenerated = true;
  std::vector<uint32_t> depths = {0};          // tokens that a sequence holds before
  std::vector<uint32_t> batches = {1};
  std::vector<uint32_t> threads; // none: as many as processors
  uint32_t repeats = 5;
  bool perOp = false;
  bool byKind = false; // per-op with equal commands of all layers summed
  std::string json;    // "": not wanted
  std::string trace;   // "": not wanted
  // Instead of all that:
  std::vector<std::string> compare; // two files that --json wrote
  bool busyNeighbour = false;       // the first of depths and batches, the last of threads
  int nice = 0;                     // of the neighbour
  bool start = false;
  bool firstToken = false; // for `start`, which launches llmc with it
};
Status benchModel(const BenchOptions &options);

struct EvalOptions {
  ModelOptions model;
  std::string file; // the text, or ids
  bool isIds = false;
  std::string against; // a model.so, a model that is not compiled, or a .npy of logits; "": nothing
  uint32_t window = 0; // tokens; 0: the model's positions
  uint32_t tokens = 0; // only the first so many; 0: all
};
Status evalModel(const EvalOptions &options);

struct InspectOptions {
  ModelOptions model;
  std::string commands; // name of a graph; "": not wanted
  bool weights = false;
  bool manifest = false;
  bool verify = false;
};
Status inspectModel(const InspectOptions &options);

enum class TokenizeInput { Text, File, Ids, Chat };
enum class TokenizeBos { AsModel, Yes, No };

struct TokenizeOptions {
  ModelOptions model; // `path` may be a source that is not compiled
  TokenizeInput input = TokenizeInput::Text;
  std::string text; // or the name of a file, or "1,2,3"
  TokenizeBos bos = TokenizeBos::AsModel;
  bool parseSpecial = true;
};
Status tokenizeText(const TokenizeOptions &options);

struct ImportOptions {
  std::string folder;
  std::string output;
  bool force = false;
  bool schema = false; // print the JSON Schema instead
};
Status importModel(const ImportOptions &options);

} // namespace llmc::tool
