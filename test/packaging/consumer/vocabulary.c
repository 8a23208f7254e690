/* SPDX-License-Identifier: Apache-2.0 */
#include <llmc/llmc.h>
#include <stdio.h>

int main(int argc, char **argv) {
  llmc_error error = {.struct_size = sizeof error};
  llmc_context *context = NULL;
  llmc_model *model = NULL;
  llmc_model_info info = {.struct_size = sizeof info};
  if (argc != 2 || llmc_context_create(NULL, &context, &error) ||
      llmc_model_open(context, argv[1], NULL, &model, &error) || llmc_model_get_info(model, &info, &error)) {
    fprintf(stderr, "%s\n", argc == 2 ? error.message : "usage: vocabulary MODEL.so");
    return 1;
  }
  printf("%u tokens\n", info.vocabulary);
  llmc_model_destroy(model);
  llmc_context_destroy(context);
  return 0;
}
