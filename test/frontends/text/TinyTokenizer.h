// SPDX-License-Identifier: Apache-2.0
// Small tokenizer.json files with all their parts, for tests to change.
#pragma once

#include <nlohmann/json.hpp>

namespace llmc::test {

using Json = nlohmann::ordered_json;

inline Json addedToken(int id, const char *content, bool special) {
  return {{"id", id},        {"content", content},  {"single_word", false}, {"lstrip", false},
          {"rstrip", false}, {"normalized", false}, {"special", special}};
}

// Llama's kin: characters, bytes to fall back on, BOS before a text.
inline Json tinyCharacters() {
  Json vocab = Json::object();
  int next = 0;
  for (const char *text : {"<unk>", "<s>", "</s>", "\xe2\x96\x81", "a", "b", "c", "ab", "abc",
                           "\xe2\x96\x81"
                           "a",
                           "<0x41>", "<0xC3>", "<0xA9>"})
    vocab[text] = next++;
  Json replace = {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "\xe2\x96\x81"}};
  Json prepend = {{"type", "Prepend"}, {"prepend", "\xe2\x96\x81"}};
  Json back = {{"type", "Replace"}, {"pattern", {{"String", "\xe2\x96\x81"}}}, {"content", " "}};
  Json strip = {{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}};
  Json single = {{{"SpecialToken", {{"id", "<s>"}, {"type_id", 0}}}},
                 {{"Sequence", {{"id", "A"}, {"type_id", 0}}}}};
  return {
      {"version", "1.0"},
      {"truncation", nullptr},
      {"padding", nullptr},
      {"added_tokens",
       {addedToken(0, "<unk>", true), addedToken(1, "<s>", true), addedToken(13, "<new>", false)}},
      {"normalizer", {{"type", "Sequence"}, {"normalizers", {prepend, replace}}}},
      {"pre_tokenizer", nullptr},
      {"post_processor",
       {{"type", "TemplateProcessing"},
        {"single", single},
        {"pair", single},
        {"special_tokens", {{"<s>", {{"id", "<s>"}, {"ids", {1}}, {"tokens", {"<s>"}}}}}}}},
      {"decoder",
       {{"type", "Sequence"},
        {"decoders", {back, {{"type", "ByteFallback"}}, {{"type", "Fuse"}}, strip}}}},
      {"model",
       {{"type", "BPE"},
        {"dropout", nullptr},
        {"unk_token", "<unk>"},
        {"continuing_subword_prefix", nullptr},
        {"end_of_word_suffix", nullptr},
        {"fuse_unk", true},
        {"byte_fallback", true},
        {"vocab", vocab},
        {"merges", {"a b", "ab c", "\xe2\x96\x81 a"}}}}};
}

// GPT-2's kin: bytes in its alphabet, digits apart.
inline Json tinyBytes() {
  Json root = tinyCharacters();
  Json vocab = Json::object();
  int next = 0;
  for (const char *text : {"<unk>", "<s>", "</s>", "\xc4\xa0", "a", "b", "c", "ab", "abc",
                           "\xc4\xa0"
                           "a",
                           "1", "\xc3\x83", "\xc2\xa9"})
    vocab[text] = next++;
  root["model"]["vocab"] = vocab;
  root["model"]["merges"] = Json::array(
      {Json::array({"a", "b"}), Json::array({"ab", "c"}), Json::array({"\xc4\xa0", "a"})});
  root["model"]["unk_token"] = nullptr;
  root["model"]["byte_fallback"] = false;
  root["normalizer"] = {{"type", "NFC"}};
  root["pre_tokenizer"] = {{"type", "Sequence"},
                           {"pretokenizers",
                            {{{"type", "Split"},
                              {"pattern", {{"Regex", "\\p{N}{1,3}"}}},
                              {"behavior", "Isolated"},
                              {"invert", false}},
                             {{"type", "ByteLevel"},
                              {"add_prefix_space", false},
                              {"trim_offsets", true},
                              {"use_regex", true}}}}};
  root["decoder"] = {{"type", "ByteLevel"}};
  return root;
}

} // namespace llmc::test
