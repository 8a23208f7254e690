// SPDX-License-Identifier: Apache-2.0
// Reads the command line and runs the command that it names.
#pragma once

namespace llmc::tool {

enum ExitCode { Fine = 0, Failed = 1, Usage = 2 };

// Prints what went wrong to stderr.
int runCommandLine(int argc, char **argv);

} // namespace llmc::tool
