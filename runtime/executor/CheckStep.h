/* SPDX-License-Identifier: Apache-2.0
 *
 * Says whether a step descriptor stays inside the memory that a session lends: counts, row and page
 * indices, tokens.
 */
#ifndef LLMC_EXECUTOR_CHECKSTEP_H
#define LLMC_EXECUTOR_CHECKSTEP_H

#include "llmc/abi.h"

int llmcStepFits(const llmc_artifact *artifact, const llmc_graph *graph, const llmc_memory *memory,
                 const llmc_step *step);

#endif
