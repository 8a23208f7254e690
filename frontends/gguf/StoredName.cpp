// SPDX-License-Identifier: Apache-2.0
// The names that the architectures llama, qwen2 and qwen3 share for their tensors.
#include "frontends/gguf/Config.h"

namespace llmc::gguf {

std::string storedName(std::string_view canonical) {
  struct Row {
    std::string_view canonical, stored;
  };
  static constexpr Row whole[] = {{"embed", "token_embd.weight"},
                                  {"final_norm", "output_norm.weight"},
                                  {"lm_head", "output.weight"}};
  static constexpr Row ofLayer[] = {
      {"attn_norm", "attn_norm.weight"},
      {"mlp_norm", "ffn_norm.weight"},
      {"q", "attn_q.weight"},
      {"q_bias", "attn_q.bias"},
      {"k", "attn_k.weight"},
      {"k_bias", "attn_k.bias"},
      {"v", "attn_v.weight"},
      {"v_bias", "attn_v.bias"},
      {"o", "attn_output.weight"},
      {"o_bias", "attn_output.bias"},
      {"q_norm", "attn_q_norm.weight"},
      {"k_norm", "attn_k_norm.weight"},
      {"gate", "ffn_gate.weight"},
      {"gate_bias", "ffn_gate.bias"},
      {"up", "ffn_up.weight"},
      {"up_bias", "ffn_up.bias"},
      {"down", "ffn_down.weight"},
      {"down_bias", "ffn_down.bias"},
  };
  for (const Row &row : whole)
    if (canonical == row.canonical)
      return std::string(row.stored);
  constexpr std::string_view layers = "layers.";
  size_t dot = canonical.rfind('.');
  for (const Row &row : ofLayer)
    if (dot != std::string_view::npos && canonical.substr(dot + 1) == row.canonical)
      return "blk." + std::string(canonical.substr(layers.size(), dot + 1 - layers.size())) +
             std::string(row.stored);
  return std::string(canonical);
}

} // namespace llmc::gguf
