// SPDX-License-Identifier: Apache-2.0
// Tests: what may stand after `is`.
#include "runtime/text/template/Builtins.h"

namespace llmc::templates {

template <Kind wanted> static Value isKind(Call &call) { return Value::of(call.self.is(wanted)); }

static Value isDefined(Call &call) { return Value::of(!call.self.is(Kind::Undefined)); }
static Value isNumber(Call &call) { return Value::of(call.self.isNumber()); }
static Value isTrueItself(Call &call) {
  return Value::of(call.self.is(Kind::Bool) && call.self.boolean);
}
static Value isFalseItself(Call &call) {
  return Value::of(call.self.is(Kind::Bool) && !call.self.boolean);
}
static Value isSequence(Call &call) {
  const Kind kind = call.self.kind;
  return Value::of(kind == Kind::String || kind == Kind::List || kind == Kind::Dict ||
                   kind == Kind::Undefined);
}
static Value isCallable(Call &call) {
  return Value::of(call.self.is(Kind::Callable) || call.self.is(Kind::Loop));
}

// Modulo by a number; null after a failure.
static Value remainder(Call &call, int64_t divisor) {
  const Value rest = apply(call.job, Operation::Modulo, call.self, Value::of(divisor));
  return call.job.failed() ? Value::of(int64_t(0)) : rest;
}
static Value isOdd(Call &call) {
  return Value::of(isEqual(call.job, remainder(call, 2), Value::of(int64_t(1))));
}
static Value isEven(Call &call) {
  return Value::of(isEqual(call.job, remainder(call, 2), Value::of(int64_t(0))));
}
static Value isDivisible(Call &call) {
  return Value::of(isEqual(call.job, remainder(call, call.integer(0, 1)), Value::of(int64_t(0))));
}

static Value isUpperCase(Call &call) {
  return Value::of(hasCase(call.job, call.selfText(), LetterCase::Upper));
}
static Value isLowerCase(Call &call) {
  return Value::of(hasCase(call.job, call.selfText(), LetterCase::Lower));
}

static Value isSame(Call &call) {
  const Value &left = call.self, &right = call.values[0];
  if (left.kind != right.kind)
    return Value::of(false);
  if (left.is(Kind::List))
    return Value::of(left.elements == right.elements && left.size == right.size);
  if (left.is(Kind::Dict))
    return Value::of(left.dict == right.dict);
  return Value::of(isEqual(call.job, left, right));
}

static Value isFilter(Call &call) {
  return Value::of(call.self.isString() && findBuiltin(kFilters, call.self.text()));
}
static Value isTest(Call &call) {
  return Value::of(call.self.isString() && findBuiltin(kTests, call.self.text()));
}
static Value isEscaped(Call &) { return Value::of(false); }

template <Operation operation> static Value compares(Call &call) {
  return apply(call.job, operation, call.self, call.values[0]);
}

static const Builtin kAll[] = {
    {"!=", compares<Operation::NotEqual>, "other", 1},
    {"<", compares<Operation::Less>, "other", 1},
    {"<=", compares<Operation::LessOrEqual>, "other", 1},
    {"==", compares<Operation::Equal>, "other", 1},
    {">", compares<Operation::Greater>, "other", 1},
    {">=", compares<Operation::GreaterOrEqual>, "other", 1},
    {"boolean", isKind<Kind::Bool>, "", 0},
    {"callable", isCallable, "", 0},
    {"defined", isDefined, "", 0},
    {"divisibleby", isDivisible, "num", 1},
    {"eq", compares<Operation::Equal>, "other", 1},
    {"equalto", compares<Operation::Equal>, "other", 1},
    {"escaped", isEscaped, "", 0},
    {"even", isEven, "", 0},
    {"false", isFalseItself, "", 0},
    {"filter", isFilter, "", 0},
    {"float", isKind<Kind::Float>, "", 0},
    {"ge", compares<Operation::GreaterOrEqual>, "other", 1},
    {"greaterthan", compares<Operation::Greater>, "other", 1},
    {"gt", compares<Operation::Greater>, "other", 1},
    {"in", compares<Operation::In>, "seq", 1},
    {"integer", isKind<Kind::Int>, "", 0},
    {"iterable", isSequence, "", 0},
    {"le", compares<Operation::LessOrEqual>, "other", 1},
    {"lessthan", compares<Operation::Less>, "other", 1},
    {"lower", isLowerCase, "", 0},
    {"lt", compares<Operation::Less>, "other", 1},
    {"mapping", isKind<Kind::Dict>, "", 0},
    {"ne", compares<Operation::NotEqual>, "other", 1},
    {"none", isKind<Kind::None>, "", 0},
    {"number", isNumber, "", 0},
    {"odd", isOdd, "", 0},
    {"sameas", isSame, "other", 1},
    {"sequence", isSequence, "", 0},
    {"string", isKind<Kind::String>, "", 0},
    {"test", isTest, "", 0},
    {"true", isTrueItself, "", 0},
    {"undefined", isKind<Kind::Undefined>, "", 0},
    {"upper", isUpperCase, "", 0},
    {nullptr, nullptr, nullptr, 0},
};

const BuiltinSet kTests = {"test", {kAll, nullptr, nullptr}};

} // namespace llmc::templates
