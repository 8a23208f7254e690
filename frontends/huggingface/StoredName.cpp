// SPDX-License-Identifier: Apache-2.0
// The names that Llama, Mistral, Qwen2 and Qwen3 share for their tensors.
#include "frontends/huggingface/OpenFolder.h"

namespace llmc::huggingface {

std::string storedName(std::string_view canonical) {
  struct Row {
    std::string_view canonical, stored;
  };
  static constexpr Row whole[] = {{"embed", "model.embed_tokens.weight"},
                                  {"final_norm", "model.norm.weight"},
                                  {"lm_head", "lm_head.weight"}};
  static constexpr Row ofLayer[] = {
      {"attn_norm", "input_layernorm.weight"},
      {"mlp_norm", "post_attention_layernorm.weight"},
      {"q", "self_attn.q_proj.weight"},
      {"q_bias", "self_attn.q_proj.bias"},
      {"k", "self_attn.k_proj.weight"},
      {"k_bias", "self_attn.k_proj.bias"},
      {"v", "self_attn.v_proj.weight"},
      {"v_bias", "self_attn.v_proj.bias"},
      {"o", "self_attn.o_proj.weight"},
      {"o_bias", "self_attn.o_proj.bias"},
      {"q_norm", "self_attn.q_norm.weight"},
      {"k_norm", "self_attn.k_norm.weight"},
      {"gate", "mlp.gate_proj.weight"},
      {"gate_bias", "mlp.gate_proj.bias"},
      {"up", "mlp.up_proj.weight"},
      {"up_bias", "mlp.up_proj.bias"},
      {"down", "mlp.down_proj.weight"},
      {"down_bias", "mlp.down_proj.bias"},
  };
  for (const Row &row : whole)
    if (canonical == row.canonical)
      return std::string(row.stored);
  size_t dot = canonical.rfind('.');
  for (const Row &row : ofLayer)
    if (dot != std::string_view::npos && canonical.substr(dot + 1) == row.canonical)
      return "model." + std::string(canonical.substr(0, dot + 1)) + std::string(row.stored);
  return std::string(canonical);
}

} // namespace llmc::huggingface
