// SPDX-License-Identifier: Apache-2.0
// llmc_chat_render: puts the template's variables together and renders.
#include "llmc/chat.h"
#include "llmc/text.h"
#include "runtime/engine/Error.h"
#include "runtime/engine/Model.h"
#include "runtime/text/template/ReadJson.h"
#include "runtime/text/template/Template.h"

using namespace llmc;
using namespace llmc::templates;

namespace {
struct Request {
  const llmc_model *model;
  const llmc_chat_message *messages;
  uint32_t count;
  llmc_chat_options options;
};
} // namespace

static const llmc_chat_message &messageOf(const Request &request, uint32_t index) {
  const char *first = reinterpret_cast<const char *>(request.messages);
  return *reinterpret_cast<const llmc_chat_message *>(first + size_t(index) *
                                                                  request.messages->struct_size);
}

// The entries of a JSON object; false after a failure.
static bool addJson(Job &job, const char *name, const char *json, DictBuilder &dict) {
  if (!json)
    return true;
  const Source source{name, Text(json)};
  const Value value = readJson(job, source);
  if (!job.failed() && !value.is(Kind::Dict))
    job.fail(source, 0, "found %s, expected an object", describe(value.kind));
  for (size_t i = 0; !job.failed() && i < value.dict->size; ++i)
    dict.set(value.dict->entries[i].key, value.dict->entries[i].value);
  return !job.failed();
}

static Value messagesOf(Job &job, const Request &request) {
  ListBuilder list(job);
  for (uint32_t i = 0; i < request.count && !job.failed(); ++i) {
    const llmc_chat_message &message = messageOf(request, i);
    DictBuilder dict(job);
    dict.set(Value::of("role"), Value::of(message.role));
    if (message.content)
      dict.set(Value::of("content"), Value::of(message.content));
    if (addJson(job, "chat message fields", message.fields, dict))
      list.push(dict.value());
  }
  return listOf(list);
}

// bos_token and its like, as the template's author knows them. A model without a tokenizer has
// none.
static void addSpecialTokens(Job &job, const llmc_model *model, DictBuilder &dict) {
  llmc_tokenizer_info info{};
  info.struct_size = sizeof info;
  if (!model || llmc_model_get_tokenizer_info(model, &info, nullptr))
    return;
  const struct {
    const char *name;
    int32_t token;
  } specials[] = {{"bos_token", info.bos},
                  {"eos_token", info.eos},
                  {"unk_token", info.unk},
                  {"pad_token", info.pad}};
  for (const auto &special : specials) {
    const char *bytes = nullptr;
    size_t size = 0;
    if (special.token >= 0 && !llmc_token_bytes(model, special.token, &bytes, &size, nullptr))
      dict.set(Value::of(special.name), Value::of(job.copy(Text(bytes, size))));
  }
}

static Value variablesOf(Job &job, const Request &request) {
  DictBuilder dict(job);
  addSpecialTokens(job, request.model, dict);
  const bool prompts = request.options.flags & LLMC_CHAT_ADD_GENERATION_PROMPT;
  dict.set(Value::of("add_generation_prompt"), Value::of(prompts));
  dict.set(Value::of("messages"), messagesOf(job, request));
  // As transformers calls it: a template may ask for them without asking whether they are there.
  dict.set(Value::of("tools"), Value::none());
  dict.set(Value::of("documents"), Value::none());
  addJson(job, "chat variables", request.options.variables, dict);
  return dict.value();
}

static llmc_status findTemplate(const Request &request, Text *text, llmc_error *error) {
  const llmc_chat_options &options = request.options;
  if (options.template_text) {
    *text = options.template_bytes ? Text(options.template_text, options.template_bytes)
                                   : Text(options.template_text);
    return LLMC_OK;
  }
  if (!request.model)
    return llmc::fail(error, LLMC_INVALID_ARGUMENT,
                      "chat: error: found neither a model nor a template, expected one of them");
  return llmc_chat_template(request.model, options.template_name, &text->data, &text->size, error);
}

static llmc_status check(const Request &request, const char *text, size_t capacity,
                         const size_t *bytes, llmc_error *error) {
  if (!bytes || (!text && capacity) || (!request.messages && request.count))
    return llmc::fail(error, LLMC_INVALID_ARGUMENT,
                      "chat: error: found NULL for bytes, text or messages, expected memory");
  if (request.options.flags & ~LLMC_CHAT_ADD_GENERATION_PROMPT)
    return llmc::fail(error, LLMC_INVALID_ARGUMENT,
                      "chat: error: found flags %#x, expected %#x or 0", request.options.flags,
                      LLMC_CHAT_ADD_GENERATION_PROMPT);
  if (request.count && request.messages->struct_size < sizeof(llmc_chat_message))
    return llmc::fail(error, LLMC_INVALID_ARGUMENT,
                      "chat messages: error: found struct_size %u, expected at least %zu",
                      request.messages->struct_size, sizeof(llmc_chat_message));
  for (uint32_t i = 0; i < request.count; ++i)
    if (!messageOf(request, i).role)
      return llmc::fail(error, LLMC_INVALID_ARGUMENT,
                        "chat messages: error: found no role at %u, expected one, such as \"user\"",
                        i);
  return LLMC_OK;
}

extern "C" llmc_status llmc_chat_render(const llmc_model *model, const llmc_chat_message *messages,
                                        uint32_t n_messages, const llmc_chat_options *options,
                                        char *text, size_t capacity, size_t *bytes,
                                        llmc_error *error) {
  Request request{model, messages, n_messages, {}};
  if (options && options->struct_size < sizeof *options)
    return llmc::fail(error, LLMC_INVALID_ARGUMENT,
                      "chat options: error: found struct_size %u, expected at least %zu",
                      options->struct_size, sizeof *options);
  if (options)
    request.options = *options;
  Text source, rendering;
  llmc_status status = check(request, text, capacity, bytes, error);
  if (!status)
    status = findTemplate(request, &source, error);
  if (status)
    return status;
  const Allocator standard(nullptr);
  Job job(model ? model->context.allocator : standard, Limits(), error);
  const Value variables = variablesOf(job, request);
  const time_t now = request.options.now ? time_t(request.options.now) : time(nullptr);
  if (job.failed() || render(job, source, variables, now, &rendering))
    return job.status();
  *bytes = rendering.size;
  if (capacity)
    memcpy(text, rendering.data, rendering.size < capacity ? rendering.size : capacity);
  if (rendering.size > capacity)
    return llmc::fail(error, LLMC_TOO_SMALL,
                      "chat: error: found room for %zu bytes, expected room for %zu", capacity,
                      rendering.size);
  return LLMC_OK;
}
