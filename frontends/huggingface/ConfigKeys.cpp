// SPDX-License-Identifier: Apache-2.0
// The table. Three kinds of rows: keys that are read; keys with only one value that llmc can
// honour; and keys that are harmless, because they steer training, generation defaults or
// bookkeeping and never the logits of one forward pass.
#include "frontends/huggingface/ConfigKeys.h"

namespace llmc::huggingface {

using json::Need;
using Raw = RawConfig;

namespace {

const json::Table<RawConfig> readKeys = {
    {"model_type", Need::Required, &Raw::modelType, "the family"},
    {"vocab_size", Need::Required, &Raw::vocabSize, "rows of the embedding"},
    {"hidden_size", Need::Required, &Raw::hiddenSize, "width of the residual stream"},
    {"intermediate_size", Need::Required, &Raw::intermediateSize, "width of the MLP"},
    {"num_hidden_layers", Need::Required, &Raw::numLayers, "number of layers"},
    {"num_attention_heads", Need::Required, &Raw::numHeads, "query heads"},
    // Needed where the family's own default would not follow from the other sizes.
    {"num_key_value_heads", Need::Optional, &Raw::numKVHeads, "key/value heads", "", Llama},
    {"num_key_value_heads", Need::Required, &Raw::numKVHeads, "key/value heads", "",
     Mistral | Qwen2 | Qwen3},
    {"head_dim", Need::Optional, &Raw::headDim, "width of a head", "", Llama | Mistral | Qwen2},
    {"head_dim", Need::Required, &Raw::headDim, "width of a head", "", Qwen3},
    {"hidden_act", Need::Required, &Raw::activation, "activation of the MLP"},
    {"max_position_embeddings", Need::Required, &Raw::maxPositions,
     "positions the model was made for"},
    {"rms_norm_eps", Need::Required, &Raw::normEpsilon, "added to the mean square"},
    {"rope_theta", Need::Optional, &Raw::ropeTheta, "base of the rotary frequencies"},
    {"rope_scaling", Need::Optional, &Raw::ropeScaling,
     "rotary scaling as transformers 4 writes it"},
    {"rope_parameters", Need::Optional, &Raw::ropeParameters,
     "rotary scaling as transformers 5 writes it"},
    {"original_max_position_embeddings", Need::Optional, &Raw::originalMaxPositions,
     "context of the first training"},
    {"attention_bias", Need::Optional, &Raw::attentionBias, "q, k, v and o have biases", "",
     Llama | Qwen3},
    {"mlp_bias", Need::Optional, &Raw::mlpBias, "gate, up and down have biases", "", Llama},
    {"tie_word_embeddings", Need::Optional, &Raw::tieWordEmbeddings,
     "the head reads the embedding"},
    {"sliding_window", Need::Optional, &Raw::slidingWindow, "keys a query sees", "",
     Mistral | Qwen2 | Qwen3},
    {"use_sliding_window", Need::Optional, &Raw::useSlidingWindow, "whether sliding_window holds",
     "", Qwen2 | Qwen3},
    {"max_window_layers", Need::Optional, &Raw::maxWindowLayers, "first layer with a window", "",
     Qwen2 | Qwen3},
    {"layer_types", Need::Optional, &Raw::layerTypes, "attention of each layer"},
    {"bos_token_id", Need::Optional, &Raw::bosTokenId, "one id or a list"},
    {"eos_token_id", Need::Optional, &Raw::eosTokenId, "one id or a list"},
};

// One value understood: anything else would change the results.
const json::Table<RawConfig> fixedKeys = {
    {"attention_bias", Need::Fixed, {}, "this family has no such biases", "false|null", Mistral},
    {"mlp_bias",
     Need::Fixed,
     {},
     "this family has no such biases",
     "false|null",
     Mistral | Qwen2 | Qwen3},
    {"sliding_window", Need::Fixed, {}, "this family attends to all positions", "null", Llama},
    {"use_sliding_window",
     Need::Fixed,
     {},
     "this family attends to all positions",
     "false|null",
     Llama},
    {"partial_rotary_factor", Need::Fixed, {}, "all dimensions of a head are rotated", "1|null"},
    {"rope_interleaved", Need::Fixed, {}, "pairs are halves of a head", "false|null"},
    {"use_mrope", Need::Fixed, {}, "positions are one number", "false|null"},
    {"is_encoder_decoder", Need::Fixed, {}, "llmc compiles decoders", "false|null"},
    {"add_cross_attention", Need::Fixed, {}, "llmc compiles decoders", "false|null"},
    {"cross_attention_hidden_size", Need::Fixed, {}, "llmc compiles decoders", "null"},
    {"quantization_config", Need::Fixed, {}, "weights are F32, F16 or BF16", "null"},
    {"per_layer_config", Need::Fixed, {}, "layers differ by layer_types only", "null"},
    {"tie_encoder_decoder", Need::Fixed, {}, "llmc compiles decoders", "false|null"},
    {"pruned_heads", Need::Harmless, {}, "its weights would have other shapes, which is checked"},
};

constexpr const char *harmless[] = {
    // bookkeeping
    "_name_or_path",
    "name_or_path",
    "_commit_hash",
    "architectures",
    "transformers_version",
    "torch_dtype",
    "dtype",
    "tokenizer_class",
    "transformers.js_config",
    "is_llama_config",
    "unsloth_fixed",
    "unsloth_version",
    "task_specific_params",
    "_attn_implementation",
    "_attn_implementation_autoset",
    "attn_implementation",
    // training
    "attention_dropout",
    "hidden_dropout",
    "initializer_range",
    "pretraining_tp",
    "gradient_checkpointing",
    "use_bfloat16",
    "finetuning_task",
    "problem_type",
    "id2label",
    "label2id",
    "num_labels",
    // how a call is made or its results are returned
    "use_cache",
    "return_dict",
    "output_attentions",
    "output_hidden_states",
    "torchscript",
    "tf_legacy_loss",
    "chunk_size_feed_forward",
    "is_decoder",
    "tie_last_hidden_states",
    // generation defaults
    "pad_token_id",
    "sep_token_id",
    "decoder_start_token_id",
    "prefix",
    "max_length",
    "min_length",
    "do_sample",
    "early_stopping",
    "num_beams",
    "num_beam_groups",
    "diversity_penalty",
    "temperature",
    "top_k",
    "top_p",
    "typical_p",
    "repetition_penalty",
    "length_penalty",
    "no_repeat_ngram_size",
    "encoder_no_repeat_ngram_size",
    "bad_words_ids",
    "num_return_sequences",
    "output_scores",
    "return_dict_in_generate",
    "forced_bos_token_id",
    "forced_eos_token_id",
    "remove_invalid_values",
    "exponential_decay_length_penalty",
    "suppress_tokens",
    "begin_suppress_tokens",
};

json::Table<RawConfig> joined() {
  json::Table<RawConfig> table = readKeys;
  table.insert(table.end(), fixedKeys.begin(), fixedKeys.end());
  for (const char *key : harmless)
    table.push_back({key, Need::Harmless, {}, "does not change a forward pass"});
  // Only families with windows know the key; for others it says nothing that could be contradicted.
  table.push_back(
      {"max_window_layers", Need::Harmless, {}, "no layer has a window", "", Llama | Mistral});
  return table;
}

} // namespace

unsigned ropeGroup(int kind) { return 1u << kind; }

const json::Table<RawConfig> &configKeys() {
  static const json::Table<RawConfig> table = joined();
  return table;
}

const json::Table<RawRope> &ropeKeys() {
  // Bits as ropeGroup gives them: default 1, linear 2, llama3 4, yarn 8, dynamic 16.
  static const json::Table<RawRope> table = {
      {"rope_type", Need::Optional, &RawRope::type, "kind of scaling"},
      {"type", Need::Optional, &RawRope::oldType, "kind of scaling, older spelling"},
      {"rope_theta", Need::Optional, &RawRope::theta, "base of the frequencies"},
      {"partial_rotary_factor", Need::Fixed, {}, "all dimensions of a head are rotated", "1|null"},
      {"factor", Need::Required, &RawRope::factor, "stretch of the context", "", 2 | 4 | 8 | 16},
      {"original_max_position_embeddings", Need::Optional, &RawRope::originalMaxPositions,
       "context of the first training", "", 4 | 8 | 16},
      {"low_freq_factor", Need::Required, &RawRope::lowFreqFactor, "of llama3", "", 4},
      {"high_freq_factor", Need::Required, &RawRope::highFreqFactor, "of llama3", "", 4},
      {"beta_fast", Need::Optional, &RawRope::betaFast, "of yarn", "", 8},
      {"beta_slow", Need::Optional, &RawRope::betaSlow, "of yarn", "", 8},
      {"attention_factor", Need::Optional, &RawRope::attentionFactor, "of yarn", "", 8},
      {"mscale", Need::Optional, &RawRope::mscale, "of yarn", "", 8},
      {"mscale_all_dim", Need::Optional, &RawRope::mscaleAllDim, "of yarn", "", 8},
      {"truncate", Need::Optional, &RawRope::truncate, "of yarn", "", 8},
      {"finetuned", Need::Harmless, {}, "how the model was made", "", 8},
  };
  return table;
}

unsigned familyOf(std::string_view modelType) {
  return modelType == "llama"     ? Llama
         : modelType == "mistral" ? Mistral
         : modelType == "qwen2"   ? Qwen2
         : modelType == "qwen3"   ? Qwen3
                                  : 0;
}

} // namespace llmc::huggingface
