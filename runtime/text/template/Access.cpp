// SPDX-License-Identifier: Apache-2.0
// Attributes, elements and slices. As in Jinja, object.name looks for a method first and for a key
// second, object["name"] the other way round; what is not there is undefined, not an error.
#include "runtime/text/template/Evaluator.h"

namespace llmc::templates {

static int shown(Text text) { return static_cast<int>(text.size < 60 ? text.size : 60); }

Value Evaluator::method(const Value &object, const BuiltinSet &set, Text name) {
  const Builtin *builtin = findBuiltin(set, name);
  Callable *callable = builtin ? job.create<Callable>() : nullptr;
  if (!callable)
    return Value::undefined(name);
  callable->name = name, callable->builtin = builtin, callable->self = object;
  return Value::of(static_cast<const Callable *>(callable));
}

Value Evaluator::loopAttribute(const Loop &loop, Text name) {
  const int64_t index = int64_t(loop.index), count = int64_t(loop.items.size);
  const struct {
    const char *name;
    int64_t value;
  } numbers[] = {{"index", index + 1},
                 {"index0", index},
                 {"revindex", count - index},
                 {"revindex0", count - index - 1},
                 {"length", count},
                 {"depth", int64_t(loop.depth) + 1},
                 {"depth0", int64_t(loop.depth)}};
  for (const auto &number : numbers)
    if (name == Text(number.name))
      return Value::of(number.value);
  if (name == Text("first"))
    return Value::of(index == 0);
  if (name == Text("last"))
    return Value::of(index + 1 == count);
  if (name == Text("previtem") && index > 0)
    return loop.items.elements[index - 1];
  if (name == Text("nextitem") && index + 1 < count)
    return loop.items.elements[index + 1];
  return Value::undefined(name);
}

Value Evaluator::attributeOf(const Value &object, Text name) {
  Value found = Value::undefined(name);
  switch (object.kind) {
  case Kind::Undefined:
    job.failHere("found undefined '%.*s', expected a value that has '%.*s'", shown(object.text()),
                 object.bytes, shown(name), name.data);
    break;
  case Kind::String:
    return method(object, kTextMethods, name);
  case Kind::List:
    return method(object, kListMethods, name);
  case Kind::Dict:
    found = method(object, kDictMethods, name);
    if (found.is(Kind::Undefined))
      if (const Value *value = object.dict->find(name))
        return *value;
    break;
  case Kind::Namespace:
    if (const Variable *variable = findIn(job, object.space->first, name))
      return variable->value;
    break;
  case Kind::Loop:
    found = loopAttribute(*object.loop, name);
    return found.is(Kind::Undefined) ? method(object, kLoopMethods, name) : found;
  case Kind::Callable:
    if (name == Text("name"))
      return Value::of(object.callable->name);
    break;
  default:
    break;
  }
  return found;
}

Value Evaluator::itemOf(const Value &object, const Value &key) {
  if (object.is(Kind::Undefined)) {
    const Text name = object.text();
    job.failHere("found undefined '%.*s', expected a value with elements", shown(name), name.data);
    return Value();
  }
  const bool isSequence = object.isString() || object.is(Kind::List);
  if (isSequence && key.isIntegral()) {
    const int64_t length = lengthOf(job, object);
    const int64_t index = key.asInteger() < 0 ? key.asInteger() + length : key.asInteger();
    if (index < 0 || index >= length)
      return Value::undefined();
    if (object.is(Kind::List))
      return object.elements[index];
    const Text text = object.text();
    const size_t offset = offsetOfCharacter(text, size_t(index));
    return Value::of(text.slice(offset, offset + characterAt(text, offset).size));
  }
  if (object.is(Kind::Dict))
    if (const Value *value = object.dict->find(key))
      return *value;
  return key.isString() ? attributeOf(object, key.text()) : Value::undefined();
}

// Each part of "function.name" in turn; a part of digits is a number.
Value Evaluator::attributeByPath(const Value &object, const Value &path, const Value *otherwise) {
  const auto orOther = [otherwise](const Value &value) {
    return otherwise && value.is(Kind::Undefined) ? *otherwise : value;
  };
  if (!path.isString())
    return orOther(itemOf(object, path));
  Value result = object;
  Text rest = path.text();
  for (bool more = true; more && !job.failed();) {
    const size_t dot = rest.find(".");
    more = dot != Text::kNone;
    const Text part = rest.slice(0, more ? dot : rest.size);
    rest = more ? rest.from(dot + 1) : Text();
    int64_t number = 0;
    bool digits = !part.empty() && part.size < 10;
    for (char byte : part) {
      digits &= byte >= '0' && byte <= '9';
      number = digits ? number * 10 + (byte - '0') : 0;
    }
    result = orOther(itemOf(result, digits ? Value::of(number) : Value::of(part)));
  }
  return result;
}

bool Evaluator::sliceBound(const Node *node, bool *given, int64_t *bound) {
  const Value value = evaluate(node);
  *given = node && !value.is(Kind::None);
  if (*given && !value.isIntegral()) {
    here(node);
    job.failHere("found %s as a bound of a slice, expected an integer", describe(value.kind));
  }
  *bound = *given && !job.failed() ? value.asInteger() : 0;
  return !job.failed();
}

static int64_t clip(int64_t bound, int64_t length, int64_t low, int64_t high) {
  bound = bound < 0 ? bound + length : bound;
  return bound < low ? low : bound > high ? high : bound;
}

Value Evaluator::slice(const Value &object, const Node *node) {
  bool hasStart = false, hasStop = false, hasStep = false;
  int64_t start = 0, stop = 0, step = 1;
  if (!sliceBound(node->first, &hasStart, &start) || !sliceBound(node->second, &hasStop, &stop) ||
      !sliceBound(node->third, &hasStep, &step))
    return Value();
  here(node);
  if (object.is(Kind::Undefined))
    return itemOf(object, Value::none());
  if (!object.isString() && !object.is(Kind::List))
    return Value::undefined();
  if (!hasStep)
    step = 1;
  if (step == 0) {
    job.failHere("found a slice with step 0, expected another step");
    return Value();
  }
  const int64_t length = lengthOf(job, object);
  const bool forward = step > 0;
  const int64_t low = forward ? 0 : -1, high = forward ? length : length - 1;
  start = hasStart ? clip(start, length, low, high) : forward ? 0 : length - 1;
  stop = hasStop ? clip(stop, length, low, high) : forward ? length : -1;
  if (step == 1 && object.is(Kind::List))
    return start < stop ? Value::list(object.elements + start, size_t(stop - start), object.isTuple)
                        : Value::list(nullptr, 0, object.isTuple);
  if (step == 1) {
    const size_t from = offsetOfCharacter(object.text(), size_t(start));
    const Text rest = object.text().from(from);
    return Value::of(
        rest.slice(0, start < stop ? offsetOfCharacter(rest, size_t(stop - start)) : 0));
  }
  const Value elements = elementsOf(job, object);
  ListBuilder picked(job);
  TextBuilder text(job);
  // No overflow: a step beyond the length picks one element.
  step = step > length ? length + 1 : step < -length ? -length - 1 : step;
  for (int64_t i = start; (forward ? i < stop : i > stop) && job.spend(1); i += step)
    if (object.isString() ? !text.append(elements.elements[i].text())
                          : !picked.push(elements.elements[i]))
      break;
  return object.isString() ? text.value() : listOf(picked, object.isTuple);
}

} // namespace llmc::templates
