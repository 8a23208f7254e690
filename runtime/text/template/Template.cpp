// SPDX-License-Identifier: Apache-2.0
// Parses and runs a template.
#include "runtime/text/template/Template.h"
#include "runtime/text/template/Evaluator.h"

namespace llmc::templates {

llmc_status render(Job &job, Text text, const Value &variables, time_t now, Text *rendering) {
  Source source{"chat template", text};
  if (text.size > job.limits.sourceBytes)
    job.fail(source, 0, "found %zu bytes, expected at most %zu", text.size, job.limits.sourceBytes);
  if (!variables.is(Kind::Dict))
    job.fail(source, 0, "found %s as its variables, expected a mapping", describe(variables.kind));
  if (job.failed())
    return job.status();
  source.text = withPlainNewlines(job, text);
  const Node *root = parse(job, source);
  if (root)
    *rendering = Evaluator(job, source, *variables.dict, now).render(root);
  return job.status();
}

} // namespace llmc::templates
