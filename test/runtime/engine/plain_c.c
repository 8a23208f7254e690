/* SPDX-License-Identifier: Apache-2.0
 *
 * A C program against the shared library: its headers are plain C, and a greedy text comes out of a
 * model file, step by step and once more by a generator.
 */
#include "llmc/generate.h"
#include "llmc/llmc.h"
#include <stdio.h>

enum { COUNT = 5, FIRST = 7 };

/* The same text; 0 if it is. */
static int generateAgain(llmc_session *session, llmc_sequence *sequence, const int32_t *expected,
                         llmc_error *error) {
  const llmc_generator_options options = {.struct_size = sizeof options, .ignore_stop_ids = 1};
  const int32_t first[1] = {FIRST};
  llmc_generator *generator = NULL;
  llmc_generated generated = {.struct_size = sizeof generated};
  int failed = llmc_sequence_truncate(sequence, 0, error) ||
               llmc_generator_create(session, sequence, &options, &generator, error) ||
               llmc_generator_prompt(generator, first, 1, error);
  for (int i = 0; !failed && i < COUNT; ++i)
    failed =
        llmc_generator_next(generator, 0, &generated, error) || generated.tokens[0] != expected[i];
  llmc_generator_destroy(generator);
  return failed;
}

int main(int argc, char **argv) {
  llmc_error error = {.struct_size = sizeof error};
  llmc_context *context = NULL;
  llmc_model *model = NULL;
  llmc_session *session = NULL;
  llmc_sequence *sequence = NULL;
  llmc_step_result result = {.struct_size = sizeof result};
  int32_t token[1] = {FIRST};
  int32_t text[COUNT] = {0};
  int failed = argc != 2 || llmc_context_create(NULL, &context, &error) ||
               llmc_model_open(context, argv[1], NULL, &model, &error) ||
               llmc_session_create(model, NULL, &session, &error) ||
               llmc_sequence_create(session, &sequence, &error);
  for (int i = 0; !failed && i < COUNT; ++i) {
    llmc_rows rows = {sizeof rows, 1, sequence, token, LLMC_OUTPUTS_LAST, 0, NULL};
    failed = llmc_session_step(session, &rows, 1, NULL, &result, &error);
    if (!failed) {
      token[0] = llmc_argmax(result.logits, result.vocabulary);
      text[i] = token[0];
      printf("%d ", token[0]);
    }
  }
  failed = failed || generateAgain(session, sequence, text, &error);
  if (failed)
    printf("%s\n", error.message);
  llmc_session_destroy(session);
  llmc_model_destroy(model);
  llmc_context_destroy(context);
  return failed;
}
