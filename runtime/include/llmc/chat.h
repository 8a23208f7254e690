/* SPDX-License-Identifier: Apache-2.0
 *
 * Conversations as the text that a model was trained on: the model's chat template, or one that is
 * given, run over messages. What a template means is what Hugging Face's apply_chat_template gives.
 * The rules at the top of llmc.h hold.
 *
 *     llmc_chat_message messages[] = {{sizeof *messages, 0, "user", "Hello", NULL}};
 *     llmc_chat_options options = {.struct_size = sizeof options,
 *                                  .flags = LLMC_CHAT_ADD_GENERATION_PROMPT};
 *     llmc_chat_render(model, messages, 1, &options, text, sizeof text, &bytes, &error);
 *     llmc_encode(model, text, bytes, LLMC_ENCODE_PARSE_SPECIAL, ...);
 *
 * Encode it with LLMC_ENCODE_PARSE_SPECIAL and without LLMC_ENCODE_ADD_SPECIAL: templates write a
 * model's special tokens out, the first one too. So a message by a stranger that holds such a text
 * ("<|im_end|>") is read as that token: refuse or change such messages before they come here.
 */
#ifndef LLMC_CHAT_H
#define LLMC_CHAT_H

#include "llmc/llmc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All texts are UTF-8, borrowed for the call. */
typedef struct llmc_chat_message {
  uint32_t struct_size;
  uint32_t reserved;
  const char *role;    /* "system", "user", "assistant", "tool", or what the template knows */
  const char *content; /* NULL: the message has no such field */
  const char *fields;  /* a JSON object with more fields ({"tool_calls": [...]}), or NULL */
} llmc_chat_message;

/* Ends the text so that the model answers as the assistant. */
#define LLMC_CHAT_ADD_GENERATION_PROMPT 1u

typedef struct llmc_chat_options {
  uint32_t struct_size;
  uint32_t flags;
  const char *template_name; /* of the model's; NULL: "default" */
  const char *template_text; /* used instead of the model's; NULL: the model's */
  size_t template_bytes;     /* 0: template_text ends with a NUL */
  /* A JSON object: {"tools": [...], "enable_thinking": false}, or NULL. Each key is a variable of
   * the template; "messages" may be given here if n_messages is 0. */
  const char *variables;
  int64_t now;               /* for templates that write the date: seconds since 1970; 0: the clock */
} llmc_chat_options;

/* Writes the conversation to `text` (room for `capacity` bytes), without a NUL; *bytes (not NULL)
 * is how long it is. LLMC_TOO_SMALL when that is more than `capacity`: the first bytes are written.
 * messages[0].struct_size is the stride of the array. `options` may be NULL; so may `model` if
 * options have a template (it then has no special tokens but those among the variables:
 * "bos_token", "eos_token", ...).
 *
 * A template that is wrong, refuses the messages, or does not end is LLMC_INVALID_ARGUMENT with
 * line and column: it may run 10 million steps (half a second) and use 512 MiB. A model without a
 * template is LLMC_NOT_FOUND. Allocates and gives back all it needs. */
LLMC_API llmc_status llmc_chat_render(const llmc_model *model, const llmc_chat_message *messages,
                                      uint32_t n_messages, const llmc_chat_options *options,
                                      char *text, size_t capacity, size_t *bytes,
                                      llmc_error *error);

#ifdef __cplusplus
}
#endif
#endif /* LLMC_CHAT_H */
