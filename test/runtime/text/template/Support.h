// SPDX-License-Identifier: Apache-2.0
// Renders a template with variables given as JSON.
#pragma once

#include "runtime/text/template/ReadJson.h"
#include "runtime/text/template/Template.h"
#include <string>

namespace llmc::templates {

inline Text textOf(const std::string &string) { return Text(string.data(), string.size()); }

struct Rendering {
  llmc_status status = LLMC_OK;
  std::string text;
  std::string message;
};

inline Rendering renderWith(const Allocator &allocator, const std::string &source,
                            const std::string &variables = "{}", const Limits &limits = Limits(),
                            time_t now = 1790000000) {
  llmc_error error{};
  error.struct_size = sizeof error;
  Job job(allocator, limits, &error);
  const Source json{"variables", textOf(variables)};
  const Value values = readJson(job, json);
  Text text;
  Rendering result;
  if (!job.failed())
    render(job, textOf(source), values, now, &text);
  result.status = job.status();
  if (!result.status)
    result.text.assign(text.data, text.size);
  result.message = error.message;
  return result;
}

inline Rendering renderText(const std::string &source, const std::string &variables = "{}",
                            const Limits &limits = Limits()) {
  const Allocator allocator(nullptr);
  return renderWith(allocator, source, variables, limits);
}

} // namespace llmc::templates
