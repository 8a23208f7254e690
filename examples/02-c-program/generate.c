/* SPDX-License-Identifier: Apache-2.0
 *
 * Opens a compiled model, reads a prompt and writes the likeliest tokens, one after the other:
 *
 *   generate MODEL.so NEW_TOKENS PROMPT_ID...
 *
 * Everything that an application needs of llmc.h is here: context > model > session > sequence, a
 * prefill, one step a token, and errors as a line for people.
 */
#include "llmc/llmc.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

static int report(const llmc_error *error) {
  fprintf(stderr, "generate: %s\n", error->message);
  return 1;
}

static int read_number(const char *text, int32_t *number) {
  char *end;
  errno = 0;
  const long value = strtol(text, &end, 10);
  if (errno || end == text || *end || value < 0 || value > INT_MAX)
    return 0;
  *number = (int32_t)value;
  return 1;
}

static int ends_text(const llmc_model_info *info, int32_t token) {
  for (uint32_t i = 0; i < info->n_eos; ++i)
    if (info->eos[i] == token)
      return 1;
  return 0;
}

/* The logits of a step choose a token; the token is the input of the next step. */
static llmc_status generate(llmc_session *session, llmc_sequence *sequence,
                            const llmc_model_info *info, const int32_t *prompt, uint32_t n_prompt,
                            int32_t n_new, llmc_error *error) {
  llmc_step_result result = {.struct_size = sizeof result};
  llmc_status status = llmc_prefill(session, sequence, prompt, n_prompt, &result, error);
  if (status)
    return status;
  for (int32_t i = 0; i < n_new && !status; ++i) {
    const int32_t token = llmc_argmax(result.logits, result.vocabulary);
    printf("%s%d", i ? "," : "", token);
    if (ends_text(info, token) || i + 1 == n_new)
      break;
    const llmc_rows rows = {
        .struct_size = sizeof rows, .n_tokens = 1, .sequence = sequence, .tokens = &token};
    status = llmc_session_step(session, &rows, 1, NULL, &result, error);
  }
  printf("\n");
  return status;
}

/* One exit for success and failure: destroying NULL is fine. */
static int run(const char *path, int32_t n_new, const int32_t *prompt, uint32_t n_prompt) {
  llmc_error error = {.struct_size = sizeof error};
  llmc_model_info info = {.struct_size = sizeof info};
  llmc_session_options options = {.struct_size = sizeof options,
                                  .max_tokens = n_prompt + (uint32_t)n_new};
  llmc_context *context = NULL;
  llmc_model *model = NULL;
  llmc_session *session = NULL;
  llmc_sequence *sequence = NULL;
  const int failed = llmc_context_create(NULL, &context, &error) ||
                     llmc_model_open(context, path, NULL, &model, &error) ||
                     llmc_model_get_info(model, &info, &error) ||
                     llmc_session_create(model, &options, &session, &error) ||
                     llmc_sequence_create(session, &sequence, &error) ||
                     generate(session, sequence, &info, prompt, n_prompt, n_new, &error);
  llmc_session_destroy(session); /* its sequence goes with it */
  llmc_model_destroy(model);
  llmc_context_destroy(context);
  return failed ? report(&error) : 0;
}

int main(int argc, char **argv) {
  int32_t numbers[1024];
  int good = argc >= 4 && argc - 2 <= (int)(sizeof numbers / sizeof numbers[0]);
  for (int i = 2; good && i < argc; ++i)
    good = read_number(argv[i], &numbers[i - 2]);
  if (!good) {
    fprintf(stderr, "usage: generate MODEL.so NEW_TOKENS PROMPT_ID... (numbers from 0 on)\n");
    return 2;
  }
  return run(argv[1], numbers[0], numbers + 1, (uint32_t)argc - 3);
}
