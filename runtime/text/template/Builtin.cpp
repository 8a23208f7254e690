// SPDX-License-Identifier: Apache-2.0
// Looking builtins up, and their arguments.
#include "runtime/text/template/Builtin.h"

namespace llmc::templates {

const Builtin *findBuiltin(const BuiltinSet &set, Text name) {
  for (const Builtin *part : set.parts)
    for (; part && part->name; ++part)
      if (name == Text(part->name))
        return part;
  return nullptr;
}

Text Call::text(size_t index, Text otherwise) {
  return given[index] ? toText(job, values[index]) : otherwise;
}

Text Call::string(size_t index, Text otherwise) {
  if (!given[index] || values[index].isString())
    return given[index] ? values[index].text() : otherwise;
  job.failHere("found %s as an argument of '%s', expected a string", describe(values[index].kind),
               builtin.name);
  return Text();
}

int64_t Call::integer(size_t index, int64_t otherwise) {
  if (!given[index] || values[index].isIntegral())
    return given[index] ? values[index].asInteger() : otherwise;
  job.failHere("found %s as an argument of '%s', expected an integer", describe(values[index].kind),
               builtin.name);
  return otherwise;
}

} // namespace llmc::templates
