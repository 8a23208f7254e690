/* SPDX-License-Identifier: Apache-2.0
 *
 * The six functions of the executor that an artefact's root table points to. Their contracts are
 * those of the pointers of the same name in abi.h. The compiler refers to them by name; they are
 * hidden, so an artefact exports its query alone.
 */
#ifndef LLMC_EXECUTOR_EXECUTOR_H
#define LLMC_EXECUTOR_EXECUTOR_H

#include "llmc/abi.h"

uint64_t llmc_executor_cpu_features(void);
uint64_t llmc_executor_run_bytes(const llmc_artifact *artifact, uint32_t graph);
uint32_t llmc_executor_run_begin(const llmc_artifact *artifact, const llmc_memory *memory,
                                 const llmc_step *step, const llmc_run_options *options,
                                 llmc_run *run);
uint32_t llmc_executor_run_work(llmc_run *run);
void llmc_executor_run_cancel(llmc_run *run);
void llmc_executor_run_help(llmc_run *run);

#endif
