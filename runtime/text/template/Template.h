// SPDX-License-Identifier: Apache-2.0
// Chat templates: the part of Jinja that Hugging Face models write theirs in, run by a small
// interpreter with limits. What a rendering means is what transformers' apply_chat_template gives
// (Jinja 3.1 with trim_blocks, lstrip_blocks and loop controls); README.md names what differs.
#pragma once

#include "runtime/text/template/Job.h"
#include <ctime>

namespace llmc::templates {

// Renders `source` with the variables, which is a mapping. *rendering lives as long as the job. The
// job's status tells of a template that is wrong, refuses, or does not end.
llmc_status render(Job &job, Text source, const Value &variables, time_t now, Text *rendering);

} // namespace llmc::templates
