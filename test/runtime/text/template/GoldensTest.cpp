// SPDX-License-Identifier: Apache-2.0
// What Jinja gives for whole templates and for pieces of the language: the same text, or a refusal
// where Jinja refuses (tools/goldens/make_templates.py).
#include "Support.h"
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <nlohmann/json.hpp>

using namespace llmc::templates;
using nlohmann::ordered_json;

static std::string read(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

static const ordered_json &goldens() {
  static const ordered_json all = ordered_json::parse(read(TEMPLATE_GOLDENS));
  return all;
}

static void expectSame(const std::string &name, const ordered_json &wanted, const Rendering &got) {
  if (wanted.is_null()) {
    EXPECT_EQ(got.status, LLMC_INVALID_ARGUMENT) << name << "\ngave " << got.text;
    EXPECT_EQ(got.message.rfind("chat template:", 0), 0u) << got.message;
    EXPECT_NE(got.message.find(": error: "), std::string::npos) << got.message;
  } else {
    EXPECT_EQ(got.status, LLMC_OK) << name << "\n" << got.message;
    EXPECT_EQ(got.text, wanted.get<std::string>()) << name;
  }
}

TEST(Goldens, WholeTemplates) {
  size_t count = 0;
  for (const ordered_json &golden : goldens()["templates"]) {
    ordered_json variables = goldens()["specials"];
    variables["tools"] = nullptr;
    variables["documents"] = nullptr;
    const std::string conversation = golden["conversation"];
    variables.update(goldens()["conversations"][conversation]);
    variables["add_generation_prompt"] = golden["prompts"];
    const std::string file = golden["template"];
    expectSame(file + ", " + conversation, golden["text"],
               renderText(read(TEMPLATE_FOLDER "/" + file), variables.dump()));
    ++count;
  }
  EXPECT_GE(count, 140u);
}

TEST(Goldens, PiecesOfTheLanguage) {
  const std::string variables = goldens()["variables"].dump();
  size_t count = 0;
  for (const ordered_json &piece : goldens()["pieces"]) {
    const std::string source = piece[0];
    expectSame(source, piece[1], renderText(source, variables));
    ++count;
  }
  EXPECT_GE(count, 590u);
}

// The comparison itself notices a wrong character.
TEST(Goldens, AChangedTemplateGivesAnotherText) {
  const ordered_json &golden = goldens()["templates"][2];
  ASSERT_FALSE(golden["text"].is_null());
  const std::string source = read(TEMPLATE_FOLDER "/" + golden["template"].get<std::string>());
  ordered_json variables = goldens()["conversations"][golden["conversation"].get<std::string>()];
  variables["add_generation_prompt"] = golden["prompts"];
  EXPECT_EQ(renderText(source, variables.dump()).text, golden["text"]);
  std::string spoiled = source;
  spoiled.replace(spoiled.find("im_start"), 8, "im_begin");
  EXPECT_NE(renderText(spoiled, variables.dump()).text, golden["text"]);
}
