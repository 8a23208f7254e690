// SPDX-License-Identifier: Apache-2.0
// llmc_chat_render without a model: what messages and options become, and what is refused.
#include "llmc/chat.h"
#include <gtest/gtest.h>
#include <string>

namespace {

const char kChatml[] = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}"
                       "{% if add_generation_prompt %}<assistant>{% endif %}";

struct Chat {
  llmc_error error{};
  llmc_chat_options options{};
  llmc_chat_message messages[2]{};
  uint32_t count = 2;
  char text[256] = "";
  size_t capacity = sizeof text, bytes = 0;

  Chat() {
    error.struct_size = sizeof error;
    options.struct_size = sizeof options;
    options.template_text = kChatml;
    messages[0] = {sizeof *messages, 0, "user", "Hi", nullptr};
    messages[1] = {sizeof *messages, 0, "assistant", "Ho", nullptr};
  }
  llmc_status run() {
    return llmc_chat_render(nullptr, messages, count, &options, text, capacity, &bytes, &error);
  }
  std::string rendered() {
    EXPECT_EQ(run(), LLMC_OK) << error.message;
    return std::string(text, bytes);
  }
  void expect(llmc_status status, const std::string &message) {
    EXPECT_EQ(run(), status);
    EXPECT_EQ(error.message, message);
  }
};

} // namespace

TEST(ChatRender, MessagesAndTheGenerationPrompt) {
  Chat chat;
  EXPECT_EQ(chat.rendered(), "<user>Hi<assistant>Ho");
  chat.options.flags = LLMC_CHAT_ADD_GENERATION_PROMPT;
  EXPECT_EQ(chat.rendered(), "<user>Hi<assistant>Ho<assistant>");
}

TEST(ChatRender, TemplateOfAGivenLength) {
  Chat chat;
  chat.options.template_bytes = 20;
  chat.options.template_text = "{{ messages[0].role }}";
  chat.expect(LLMC_INVALID_ARGUMENT,
              "chat template:1:1: error: found a tag without an end, expected \"}}\"");
  chat.options.template_bytes = 22;
  EXPECT_EQ(chat.rendered(), "user");
}

TEST(ChatRender, FieldsAndVariables) {
  Chat chat;
  chat.messages[1].content = nullptr;
  chat.messages[1].fields = R"({"tool_calls": [{"name": "f"}], "content": "c"})";
  chat.options.variables = R"({"bos_token": "<s>", "tools": [1, 2]})";
  chat.options.template_text = "{{ bos_token }}{{ messages[1].tool_calls[0].name }}"
                               "{{ messages[1].content }}{{ tools }}{{ documents is none }}";
  EXPECT_EQ(chat.rendered(), "<s>fc[1, 2]True");
  chat.messages[1].fields = nullptr;
  chat.options.variables = nullptr;
  chat.options.template_text = "{{ messages[1].content is defined }}{{ tools is none }}"
                               "{{ bos_token is defined }}";
  EXPECT_EQ(chat.rendered(), "FalseTrueFalse");
}

TEST(ChatRender, MessagesAmongTheVariables) {
  Chat chat;
  chat.count = 0;
  chat.options.variables = R"({"messages": [{"role": "user", "content": "json"}]})";
  EXPECT_EQ(chat.rendered(), "<user>json");
}

TEST(ChatRender, TheTimeIsTheCallersToGive) {
  setenv("TZ", "UTC", 1);
  Chat chat;
  chat.options.template_text = "{{ strftime_now('%Y-%m-%d') }}";
  chat.options.now = 1790000000;
  EXPECT_EQ(chat.rendered(), "2026-09-21");
}

TEST(ChatRender, TooSmallABufferGetsTheFirstBytes) {
  Chat chat;
  chat.capacity = 4;
  chat.expect(LLMC_TOO_SMALL, "chat: error: found room for 4 bytes, expected room for 21");
  EXPECT_EQ(chat.bytes, 21u);
  EXPECT_EQ(std::string(chat.text, 5), std::string("<use\0", 5));
  chat.capacity = 0;
  EXPECT_EQ(
      llmc_chat_render(nullptr, chat.messages, 2, &chat.options, nullptr, 0, &chat.bytes, nullptr),
      LLMC_TOO_SMALL);
  EXPECT_EQ(chat.bytes, 21u);
  chat.capacity = 21;
  EXPECT_EQ(chat.rendered(), "<user>Hi<assistant>Ho");
}

TEST(ChatRender, WhatIsRefused) {
  Chat chat;
  chat.messages[0].role = nullptr;
  chat.expect(LLMC_INVALID_ARGUMENT,
              "chat messages: error: found no role at 0, expected one, such as \"user\"");
  chat = Chat();
  chat.messages[0].struct_size = 8;
  chat.expect(LLMC_INVALID_ARGUMENT,
              "chat messages: error: found struct_size 8, expected at least 32");
  chat = Chat();
  chat.options.struct_size = 8;
  chat.expect(LLMC_INVALID_ARGUMENT,
              "chat options: error: found struct_size 8, expected at least " +
                  std::to_string(sizeof(llmc_chat_options)));
  chat = Chat();
  chat.options.flags = 6;
  chat.expect(LLMC_INVALID_ARGUMENT, "chat: error: found flags 0x6, expected 0x1 or 0");
  chat = Chat();
  chat.options.template_text = nullptr;
  chat.expect(LLMC_INVALID_ARGUMENT,
              "chat: error: found neither a model nor a template, expected one of them");
  chat = Chat();
  chat.messages[1].fields = "[1]";
  chat.expect(LLMC_INVALID_ARGUMENT,
              "chat message fields:1:1: error: found a list, expected an object");
  chat = Chat();
  chat.options.variables = "{\"a\": }";
  chat.expect(LLMC_INVALID_ARGUMENT, "chat variables:1:7: error: found '}', expected a value");
  EXPECT_EQ(
      llmc_chat_render(nullptr, nullptr, 1, &chat.options, chat.text, 1, &chat.bytes, nullptr),
      LLMC_INVALID_ARGUMENT);
  EXPECT_EQ(
      llmc_chat_render(nullptr, chat.messages, 1, &chat.options, nullptr, 1, &chat.bytes, nullptr),
      LLMC_INVALID_ARGUMENT);
  EXPECT_EQ(
      llmc_chat_render(nullptr, chat.messages, 1, &chat.options, chat.text, 1, nullptr, nullptr),
      LLMC_INVALID_ARGUMENT);
}
