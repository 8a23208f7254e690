// SPDX-License-Identifier: Apache-2.0
// Looks at a file before the dynamic loader does: the loader trusts what it maps, and a file cut
// short would end the process with SIGBUS. Passes only shared objects for this machine whose
// segments lie inside the file.
#pragma once

#include "llmc/llmc.h"

namespace llmc {

llmc_status checkElfFile(const char *path, llmc_error *error);

} // namespace llmc
