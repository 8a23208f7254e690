// SPDX-License-Identifier: Apache-2.0
// The parts that the tables of builtins are made of, and what several of them use.
#pragma once

#include "runtime/text/template/Evaluator.h"

namespace llmc::templates {

extern const Builtin kTextFilters[], kListFilters[], kNumberFilters[];

// Letters of another case. A few characters become two or three, as in Python (German sharp s); the
// last sigma of a Greek word is no exception here.
enum class LetterCase { Upper, Lower, Title };
void appendCase(TextBuilder &result, Job &job, Text text, LetterCase wanted);
// The first character in upper case, the others in lower.
void appendCapitalized(TextBuilder &result, Job &job, Text text);
// Whether there are letters with a case, and all of them have this one.
bool hasCase(Job &job, Text text, LetterCase wanted);

// `count` < 0: all of them.
Value replaceAll(Job &job, Text text, Text old, Text fresh, int64_t count);
// Lines without their ends; keepEnds: with them.
Value splitLines(Job &job, Text text, bool keepEnds);

// "{} of {n}".format(...): a method of texts.
Value formatBraces(Call &call);

// As Python's json.dumps.
struct JsonStyle {
  bool ascii = false;
  bool sorted = false;
  bool indented = false;
  Text indent;                       // of one level
  Text between = ", ", colon = ": "; // between items, after a key
};
void appendJson(TextBuilder &result, Job &job, const Value &value, const JsonStyle &style);

// Sorts in place, keeping the order of equals. `key` gives what an element is compared by.
void sortValues(Job &job, Value *values, Value *keys, size_t count, bool reverse);

} // namespace llmc::templates
