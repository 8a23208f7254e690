// SPDX-License-Identifier: Apache-2.0
// The tables themselves: add a key here and the reader, the writer and the schema know it.
#include "frontends/json/ModelJsonKeys.h"

namespace llmc::json {
namespace {

// A Choice over an enumeration whose values count from 0 in the order of the words.
#define LLMC_CHOICE(OWNER, FIELD, ...)                                                             \
  Choice<OWNER> {                                                                                  \
    {__VA_ARGS__}, [](const OWNER &in) { return static_cast<int>(in.FIELD); },                     \
        [](OWNER &out, int word) { out.FIELD = static_cast<decltype(out.FIELD)>(word); }           \
  }

Written arrayOf(Written items) {
  return {{"type", "array"}, {"items", std::move(items)}, {"minItems", 1}};
}

} // namespace

const Table<model::NormConfig> &normKeys() {
  using model::NormConfig;
  static const Table<NormConfig> table = {
      {"kind", Need::Optional, LLMC_CHOICE(NormConfig, kind, "rms"), "kind of norm"},
      {"place", Need::Optional, LLMC_CHOICE(NormConfig, place, "before"),
       "norms stand before attention, MLP and head"},
      {"epsilon", Need::Required, &NormConfig::epsilon, "added to the mean square"},
  };
  return table;
}

const Table<RopeEntry> &ropeKeys() {
  static const Table<RopeEntry> table = {
      {"kind", Need::Optional,
       LLMC_CHOICE(RopeEntry, kind, "default", "linear", "llama3", "yarn", "dynamic"),
       "how frequencies are scaled for contexts longer than the first training's"},
      {"theta", Need::Required, &RopeEntry::theta, "base of the frequencies"},
      {"factor", Need::Optional, &RopeEntry::factor,
       "stretch of the context (all kinds but default)"},
      {"low_freq_factor", Need::Optional, &RopeEntry::lowFreqFactor, "llama3"},
      {"high_freq_factor", Need::Optional, &RopeEntry::highFreqFactor, "llama3"},
      {"original_max_positions", Need::Optional, &RopeEntry::originalMaxPositions,
       "llama3, yarn: context of the first training; dynamic: positions that a session may hold"},
      {"beta_fast", Need::Optional, &RopeEntry::betaFast, "yarn"},
      {"beta_slow", Need::Optional, &RopeEntry::betaSlow, "yarn"},
      {"attention_factor", Need::Optional, &RopeEntry::attentionFactor,
       "yarn: factor of cos and sin"},
      {"mscale", Need::Optional, &RopeEntry::mscale, "yarn; 0 stands for absent"},
      {"mscale_all_dim", Need::Optional, &RopeEntry::mscaleAllDim, "yarn; 0 stands for absent"},
      {"truncate", Need::Optional, &RopeEntry::truncate, "yarn: round the ends of the ramp"},
      {"frequency_divisors", Need::Optional, &RopeEntry::frequencyDivisors,
       "default, linear: divides each frequency; absent: ones"},
      {"pairing", Need::Optional, LLMC_CHOICE(RopeEntry, pairing, "half", "interleaved"),
       "half: dimensions i and i + rotary_dims/2 are a pair; interleaved: 2i and 2i + 1"},
      {"rotary_dims", Need::Optional, &RopeEntry::dims,
       "rotated dimensions of a head; absent: head_dim"},
  };
  return table;
}

const Table<LayerRun> &layerKeys() {
  static const Table<LayerRun> table = {
      {"repeat", Need::Optional, &LayerRun::repeat, "this many equal layers in a row"},
      {"num_heads", Need::Required, &LayerRun::numHeads, "query heads"},
      {"num_kv_heads", Need::Required, &LayerRun::numKVHeads, "key/value heads; divides num_heads"},
      {"head_dim", Need::Required, &LayerRun::headDim, "width of a head"},
      {"sliding_window", Need::Optional, &LayerRun::slidingWindow,
       "keys a query sees, its own included; 0: all"},
      {"qkv_bias", Need::Optional, &LayerRun::qkvBias, "q, k and v have biases"},
      {"out_bias", Need::Optional, &LayerRun::outBias, "the attention's output has a bias"},
      {"mlp_bias", Need::Optional, &LayerRun::mlpBias, "gate, up and down have biases"},
      {"qk_norm", Need::Optional, &LayerRun::qkNorm,
       "each head of q and k is RMS-normed before rope"},
      {"qk_norm_epsilon", Need::Optional, &LayerRun::qkNormEpsilon, "of qk_norm"},
      {"attention_scale", Need::Optional, &LayerRun::scale,
       "factor of q.k; absent: 1/sqrt(head_dim)"},
      {"use_rope", Need::Optional, &LayerRun::useRope, "q and k are rotated"},
  };
  return table;
}

const Table<WeightsEntry> &weightsKeys() {
  static const Table<WeightsEntry> table = {
      {"safetensors", Need::Optional, &WeightsEntry::safetensors,
       "file or folder, relative to the folder of this file"},
      {"names", Need::Optional, &WeightsEntry::names,
       "\"llmc\" (canonical names, the default) or \"huggingface\" in the safetensors"},
      {"random", Need::Optional, &WeightsEntry::randomSeed,
       "seed of weights that are drawn, not read"},
  };
  return table;
}

const Table<Document> &documentKeys() {
  static const Table<Document> table = {
      {"llmc_model", Need::Required, &Document::version, "version of this format: 1"},
      {"family", Need::Optional, &Document::family, "for people"},
      {"hidden_size", Need::Required, &Document::hiddenSize, "width of the residual stream"},
      {"intermediate_size", Need::Required, &Document::intermediateSize, "width of the MLP"},
      {"vocab_size", Need::Required, &Document::vocabSize, "rows of the embedding"},
      {"max_positions", Need::Required, &Document::maxPositions,
       "positions the model was made for"},
      {"norm", Need::Required,
       Nested<Document>{&Document::normValue, Value::Kind::Object,
                        [] { return schemaOf(normKeys()); }},
       "norms"},
      {"activation", Need::Required,
       LLMC_CHOICE(Document, activation, "silu", "gelu_tanh", "gelu_erf", "relu"),
       "mlp(x) = down(activation(gate(x)) * up(x))"},
      {"rope", Need::Required,
       Nested<Document>{&Document::ropeValue, Value::Kind::Object,
                        [] { return schemaOf(ropeKeys()); }},
       "rotary embedding"},
      {"layers", Need::Required,
       Nested<Document>{&Document::layersValue, Value::Kind::Array,
                        [] { return arrayOf(schemaOf(layerKeys())); }},
       "runs of equal layers, first to last"},
      {"tie_word_embeddings", Need::Optional, &Document::tieWordEmbeddings,
       "the head reads the embedding"},
      {"bos_ids", Need::Optional, &Document::bosIds, "tokens that start a text"},
      {"eos_ids", Need::Optional, &Document::eosIds, "tokens that end generation"},
      {"weights", Need::Required,
       Nested<Document>{&Document::weightsValue, Value::Kind::Object,
                        [] { return schemaOf(weightsKeys()); }},
       "either safetensors (with names) or random"},
  };
  return table;
}

#undef LLMC_CHOICE

} // namespace llmc::json
