// SPDX-License-Identifier: Apache-2.0
// What operators mean.
#include "runtime/text/template/Operators.h"
#include <cmath>

namespace llmc::templates {

static Value mismatch(Job &job, Operation operation, const Value &left, const Value &right) {
  auto name = [](const Value &value) {
    return value.is(Kind::Undefined) ? static_cast<int>(value.size < 60 ? value.size : 60) : 0;
  };
  const Value &odd = right.is(Kind::Undefined) ? right : left;
  if (odd.is(Kind::Undefined))
    job.failHere("found undefined '%.*s' as an operand of '%s', expected a value", name(odd),
                 odd.bytes, spelling(operation));
  else
    job.failHere("found %s '%s' %s, expected operands that fit each other", describe(left.kind),
                 spelling(operation), describe(right.kind));
  return Value();
}

static Value tooLarge(Job &job) {
  job.failHere("found an integer beyond 64 bits, expected a smaller one");
  return Value();
}

static Value byZero(Job &job) {
  job.failHere("found a division by zero, expected another divisor");
  return Value();
}

static int64_t floorDivide(int64_t left, int64_t right) {
  const int64_t quotient = left / right;
  return quotient - (left % right != 0 && (left < 0) != (right < 0));
}

static Value power(Job &job, int64_t base, int64_t exponent) {
  if (exponent < 0)
    return Value::of(std::pow(double(base), double(exponent)));
  if (base == 0 || base == 1)
    return Value::of(exponent == 0 ? int64_t(1) : base);
  if (base == -1)
    return Value::of(exponent % 2 ? int64_t(-1) : int64_t(1));
  int64_t result = 1;
  for (; exponent > 0; --exponent) // at most 63 rounds before it overflows
    if (__builtin_mul_overflow(result, base, &result))
      return tooLarge(job);
  return Value::of(result);
}

static Value applyIntegers(Job &job, Operation operation, int64_t left, int64_t right) {
  int64_t result = 0;
  bool overflow = false;
  switch (operation) {
  case Operation::Add:
    overflow = __builtin_add_overflow(left, right, &result);
    break;
  case Operation::Subtract:
    overflow = __builtin_sub_overflow(left, right, &result);
    break;
  case Operation::Multiply:
    overflow = __builtin_mul_overflow(left, right, &result);
    break;
  case Operation::Divide:
    return right ? Value::of(double(left) / double(right)) : byZero(job);
  case Operation::FloorDivide:
  case Operation::Modulo:
    if (right == 0)
      return byZero(job);
    if (right == -1)
      return operation == Operation::Modulo ? Value::of(int64_t(0)) : negate(job, Value::of(left));
    result = floorDivide(left, right);
    if (operation == Operation::Modulo)
      result = left - result * right;
    break;
  default:
    return power(job, left, right);
  }
  return overflow ? tooLarge(job) : Value::of(result);
}

static Value applyFloats(Job &job, Operation operation, double left, double right) {
  switch (operation) {
  case Operation::Add:
    return Value::of(left + right);
  case Operation::Subtract:
    return Value::of(left - right);
  case Operation::Multiply:
    return Value::of(left * right);
  case Operation::Power:
    return Value::of(std::pow(left, right));
  default:
    break;
  }
  if (right == 0)
    return byZero(job);
  if (operation == Operation::Divide)
    return Value::of(left / right);
  double rest = std::fmod(left, right);
  if (rest != 0 && (rest < 0) != (right < 0))
    rest += right;
  if (operation == Operation::Modulo)
    return Value::of(rest);
  return Value::of(std::floor((left - rest) / right + 0.5));
}

static Value repeat(Job &job, const Value &sequence, int64_t times) {
  if (sequence.isString()) {
    TextBuilder result(job);
    result.appendRepeated(sequence.text(), times > 0 ? uint64_t(times) : 0);
    return result.value();
  }
  ListBuilder result(job);
  for (int64_t i = 0; i < times && sequence.size; ++i)
    for (size_t k = 0; k < sequence.size; ++k)
      if (!job.spend(1) || !result.push(sequence.elements[k]))
        return Value();
  return listOf(result, sequence.isTuple);
}

static Value join(Job &job, const Value &left, const Value &right) {
  if (left.isString()) {
    TextBuilder result(job);
    result.append(left.text());
    result.append(right.text());
    return result.value();
  }
  ListBuilder result(job);
  for (const Value *list : {&left, &right})
    for (size_t i = 0; i < list->size; ++i)
      if (!job.spend(1) || !result.push(list->elements[i]))
        return Value();
  return listOf(result, left.isTuple);
}

static bool isComparison(Operation operation) { return operation >= Operation::Equal; }

static Value compareValues(Job &job, Operation operation, const Value &left, const Value &right) {
  switch (operation) {
  case Operation::Equal:
    return Value::of(isEqual(job, left, right));
  case Operation::NotEqual:
    return Value::of(!isEqual(job, left, right));
  case Operation::In:
    return Value::of(contains(job, right, left));
  case Operation::NotIn:
    return Value::of(!contains(job, right, left));
  default:
    break;
  }
  if (left.isNumber() && right.isNumber() &&
      (std::isnan(left.asNumber()) || std::isnan(right.asNumber())))
    return Value::of(false);
  const int result = order(job, left, right);
  return Value::of(operation == Operation::Less          ? result < 0
                   : operation == Operation::LessOrEqual ? result <= 0
                   : operation == Operation::Greater     ? result > 0
                                                         : result >= 0);
}

Value apply(Job &job, Operation operation, const Value &left, const Value &right) {
  if (isComparison(operation))
    return compareValues(job, operation, left, right);
  if (left.isIntegral() && right.isIntegral())
    return applyIntegers(job, operation, left.asInteger(), right.asInteger());
  if (left.isNumber() && right.isNumber())
    return applyFloats(job, operation, left.asNumber(), right.asNumber());
  const bool isText = left.isString() && right.isString();
  const bool isList = left.is(Kind::List) && right.is(Kind::List) && left.isTuple == right.isTuple;
  if (operation == Operation::Add && (isText || isList))
    return join(job, left, right);
  const bool leftRepeats = left.isString() || left.is(Kind::List);
  if (operation == Operation::Multiply && leftRepeats && right.isIntegral())
    return repeat(job, left, right.asInteger());
  if (operation == Operation::Multiply && left.isIntegral() &&
      (right.isString() || right.is(Kind::List)))
    return repeat(job, right, left.asInteger());
  if (operation == Operation::Modulo && left.isString())
    return formatPercent(job, left.text(), right);
  return mismatch(job, operation, left, right);
}

Value negate(Job &job, const Value &operand) {
  int64_t result = 0;
  if (operand.is(Kind::Float))
    return Value::of(-operand.number);
  if (!operand.isIntegral())
    return mismatch(job, Operation::Subtract, operand, operand);
  if (__builtin_sub_overflow(int64_t(0), operand.asInteger(), &result))
    return tooLarge(job);
  return Value::of(result);
}

static bool sameEntries(Job &job, const Dict &left, const Dict &right) {
  if (left.size != right.size)
    return false;
  for (size_t i = 0; i < left.size && !job.failed(); ++i) {
    const Value *other = right.find(left.entries[i].key);
    if (!other || !isEqual(job, left.entries[i].value, *other))
      return false;
  }
  return true;
}

bool isEqual(Job &job, const Value &left, const Value &right) {
  if (!job.spendBytes(left.isString() && left.size == right.size ? left.size : 0))
    return false;
  if (left.isNumber() || left.isString())
    return canBeKey(right) && sameKey(left, right);
  if (left.kind != right.kind)
    return false;
  Nested nested(job);
  switch (left.kind) {
  case Kind::List:
    if (!nested || left.size != right.size || left.isTuple != right.isTuple)
      return false;
    for (size_t i = 0; i < left.size; ++i)
      if (!isEqual(job, left.elements[i], right.elements[i]))
        return false;
    return true;
  case Kind::Dict:
    return nested && (left.dict == right.dict || sameEntries(job, *left.dict, *right.dict));
  case Kind::Namespace:
    return left.space == right.space;
  case Kind::Loop:
    return left.loop == right.loop;
  case Kind::Callable:
    return left.callable == right.callable;
  default:
    return true; // none, undefined
  }
}

int order(Job &job, const Value &left, const Value &right) {
  Nested nested(job);
  if (!nested || !job.spend(1))
    return 0;
  if (left.isIntegral() && right.isIntegral())
    return left.asInteger() < right.asInteger() ? -1 : left.asInteger() > right.asInteger();
  if (left.isNumber() && right.isNumber())
    return left.asNumber() < right.asNumber() ? -1 : left.asNumber() > right.asNumber();
  if (left.isString() && right.isString())
    return job.spendBytes(left.size) ? compare(left.text(), right.text()) : 0;
  if (!left.is(Kind::List) || !right.is(Kind::List) || left.isTuple != right.isTuple) {
    mismatch(job, Operation::Less, left, right);
    return 0;
  }
  for (size_t i = 0; i < left.size && i < right.size && !job.failed(); ++i)
    if (!isEqual(job, left.elements[i], right.elements[i]))
      return order(job, left.elements[i], right.elements[i]);
  return left.size < right.size ? -1 : left.size > right.size;
}

bool contains(Job &job, const Value &container, const Value &element) {
  switch (container.kind) {
  case Kind::String:
    if (!element.isString()) {
      mismatch(job, Operation::In, element, container);
      return false;
    }
    return job.spendBytes(container.size) && container.text().find(element.text()) != Text::kNone;
  case Kind::List:
    for (size_t i = 0; i < container.size && !job.failed(); ++i)
      if (isEqual(job, container.elements[i], element))
        return true;
    return false;
  case Kind::Dict:
    return container.dict->find(element) != nullptr;
  case Kind::Undefined:
    return false;
  default:
    mismatch(job, Operation::In, element, container);
    return false;
  }
}

static Value charactersOf(Job &job, Text text) {
  ListBuilder list(job);
  for (size_t offset = 0; offset < text.size;) {
    const size_t size = characterAt(text, offset).size;
    if (!job.spend(1) || !list.push(Value::of(text.slice(offset, offset + size))))
      break;
    offset += size;
  }
  return listOf(list);
}

Value elementsOf(Job &job, const Value &value) {
  switch (value.kind) {
  case Kind::List:
    return value;
  case Kind::String:
    return charactersOf(job, value.text());
  case Kind::Undefined:
    return Value::list(nullptr, 0);
  case Kind::Dict:
    break;
  default:
    job.failHere("found %s, expected a list, a mapping or a string to go through",
                 describe(value.kind));
    return Value::list(nullptr, 0);
  }
  ListBuilder keys(job);
  for (size_t i = 0; i < value.dict->size; ++i)
    if (!job.spend(1) || !keys.push(value.dict->entries[i].key))
      break;
  return listOf(keys);
}

int64_t lengthOf(Job &job, const Value &value) {
  switch (value.kind) {
  case Kind::String:
    return job.spendBytes(value.size) ? int64_t(countCharacters(value.text())) : 0;
  case Kind::List:
    return int64_t(value.size);
  case Kind::Dict:
    return int64_t(value.dict->size);
  case Kind::Undefined:
    return 0;
  default:
    job.failHere("found %s, expected a list, a mapping or a string that has a length",
                 describe(value.kind));
    return 0;
  }
}

} // namespace llmc::templates
