// SPDX-License-Identifier: Apache-2.0
// Filters, tests, functions and methods: each a row of a table and a function. To add one, write
// the function and its row.
#pragma once

#include "runtime/text/template/Operators.h"

namespace llmc::templates {

class Evaluator;
struct Call;

struct Builtin {
  const char *name;
  Value (*run)(Call &call);
  const char *parameters; // "old,new,count"; "*": whatever is given, found in Call::all
  size_t required;        // of the parameters
};

struct BuiltinSet {
  const char *what;        // "filter"
  const Builtin *parts[3]; // each ends with an entry without a name
};

extern const BuiltinSet kFilters, kTests, kFunctions;
extern const BuiltinSet kTextMethods, kListMethods, kDictMethods, kLoopMethods;

// Null if there is none.
const Builtin *findBuiltin(const BuiltinSet &set, Text name);

struct NamedValue {
  Text name;
  Value value;
};

// What a call gives.
struct Arguments {
  const Value *positional = nullptr;
  size_t count = 0;
  const NamedValue *named = nullptr;
  size_t namedCount = 0;

  Arguments from(size_t first) const {
    Arguments rest = *this;
    rest.positional += first, rest.count -= first;
    return rest;
  }
};

// A call of a builtin with its arguments in the order of its parameters.
struct Call {
  static constexpr size_t kMost = 6;

  Evaluator &evaluator;
  Job &job;
  const Builtin &builtin;
  const Value &self; // what a filter or test is applied to; the object of a method
  const Arguments &all;
  Value values[kMost];
  bool given[kMost] = {};

  // Argument `index`, or the default. text(): of any value, as it is printed.
  Text text(size_t index, Text otherwise = Text());
  // Fails for a value of another kind.
  Text string(size_t index, Text otherwise = Text());
  int64_t integer(size_t index, int64_t otherwise);
  bool truth(size_t index, bool otherwise) {
    return given[index] ? isTrue(values[index]) : otherwise;
  }
  Text selfText() { return toText(job, self); }
};

} // namespace llmc::templates
