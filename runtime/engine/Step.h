// SPDX-License-Identifier: Apache-2.0
// A step in three acts: plan (check the rows, take pages, fill the descriptor), run commands, then
// keep or undo. The public step does all three; tools run the middle one command range by command
// range (Inspect.h).
#pragma once

#include "runtime/engine/Session.h"

namespace llmc {

// On failure nothing has changed. On success the session's descriptor is filled and keepStep or
// undoStep must follow.
llmc_status planStep(llmc_session &session, const llmc_rows *rows, uint32_t entries,
                     const llmc_step_options *options, llmc_error *error);

struct CommandRange {
  uint32_t first;
  uint32_t end; // UINT32_MAX: to the last
};
// Runs part of the planned step with all helpers; times as in llmc_run_options.
llmc_status runCommands(llmc_session &session, CommandRange range, uint64_t (*clock)(void),
                        llmc_command_time *times, llmc_error *error);

void keepStep(llmc_session &session);
void undoStep(llmc_session &session);
void fillResult(const llmc_session &session, llmc_step_result *result);

} // namespace llmc
