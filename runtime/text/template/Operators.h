// SPDX-License-Identifier: Apache-2.0
// What operators mean, as in Python: + joins texts and lists too, / gives a float, // and % round
// down. Integers are 64 bits; what does not fit is an error, never a wrong number.
#pragma once

#include "runtime/text/template/Ast.h"

namespace llmc::templates {

// Binary operations and comparisons.
Value apply(Job &job, Operation operation, const Value &left, const Value &right);
Value negate(Job &job, const Value &operand);

// Never fails, but for depth and steps.
bool isEqual(Job &job, const Value &left, const Value &right);
// Less than 0, 0 or more; fails for values that have no order.
int order(Job &job, const Value &left, const Value &right);
bool contains(Job &job, const Value &container, const Value &element);

// What a `for` over the value sees, as a list: elements, keys, or characters.
Value elementsOf(Job &job, const Value &value);
// In characters for a text.
int64_t lengthOf(Job &job, const Value &value);

// str(): what {{ value }} prints.
Text toText(Job &job, const Value &value);
// repr(): as inside a printed list.
void appendRepr(TextBuilder &result, Job &job, const Value &value);

// "%s of %d" % (a, b): a conversion s, r, d, i, f or .Nf for each value of a tuple, or for one
// value.
Value formatPercent(Job &job, Text format, const Value &values);

} // namespace llmc::templates
