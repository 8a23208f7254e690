/* SPDX-License-Identifier: Apache-2.0
 *
 * A C program against the shared library: llmc.h is plain C, and a greedy text comes out of a model
 * file.
 */
#include "llmc/llmc.h"
#include <stdio.h>

int main(int argc, char **argv) {
  llmc_error error = {.struct_size = sizeof error};
  llmc_context *context = NULL;
  llmc_model *model = NULL;
  llmc_session *session = NULL;
  llmc_sequence *sequence = NULL;
  llmc_step_result result = {.struct_size = sizeof result};
  int32_t token[1] = {7};
  int failed = argc != 2 || llmc_context_create(NULL, &context, &error) ||
               llmc_model_open(context, argv[1], NULL, &model, &error) ||
               llmc_session_create(model, NULL, &session, &error) ||
               llmc_sequence_create(session, &sequence, &error);
  for (int i = 0; !failed && i < 5; ++i) {
    llmc_rows rows = {sizeof rows, 1, sequence, token, LLMC_OUTPUTS_LAST, 0, NULL};
    failed = llmc_session_step(session, &rows, 1, NULL, &result, &error);
    if (!failed) {
      token[0] = llmc_argmax(result.logits, result.vocabulary);
      printf("%d ", token[0]);
    }
  }
  if (failed)
    printf("%s\n", error.message);
  llmc_session_destroy(session);
  llmc_model_destroy(model);
  llmc_context_destroy(context);
  return failed;
}
