/* SPDX-License-Identifier: Apache-2.0
 *
 * Two models linked into one program. Prints the logits of the last of three tokens, first of
 * alpha, then of beta.
 */
#include "toy_step.h"
#include <stdio.h>

extern const llmc_artifact *alpha_llmc_query(uint32_t version);
extern const llmc_artifact *beta_llmc_query(uint32_t version);

static int show(const llmc_artifact *artifact) {
  const int32_t tokens[] = {4, 0, 10};
  float logits[3 * TOY_VOCABULARY];
  if (!artifact || toy_step(artifact, NULL, 0, tokens, 3, logits))
    return 1;
  for (int i = 0; i < TOY_VOCABULARY; ++i)
    printf("%a ", (double)logits[2 * TOY_VOCABULARY + i]);
  return 0;
}

int main(void) {
  return show(alpha_llmc_query(LLMC_ABI_VERSION)) || show(beta_llmc_query(LLMC_ABI_VERSION));
}
