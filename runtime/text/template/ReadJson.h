// SPDX-License-Identifier: Apache-2.0
// JSON read into values: messages, tools and other variables that a host gives as text.
#pragma once

#include "runtime/text/template/Job.h"

namespace llmc::templates {

// The one value that the text holds, with nothing but whitespace around it. Failures are noted in
// the job with the source's name, line and column. Of a key given twice the last value holds; an
// integer beyond 64 bits becomes a float.
Value readJson(Job &job, const Source &source);

} // namespace llmc::templates
