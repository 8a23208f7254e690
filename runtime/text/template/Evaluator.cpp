// SPDX-License-Identifier: Apache-2.0
// Expressions, and calls of macros and builtins.
#include "runtime/text/template/Evaluator.h"

namespace llmc::templates {

// At most this much of a name in a message.
static int shown(Text text) { return static_cast<int>(text.size < 60 ? text.size : 60); }

Value Evaluator::evaluate(const Node *node) {
  if (!node)
    return Value();
  here(node);
  if (!job.spend(1))
    return Value();
  if (node->kind == NodeKind::Constant)
    return node->value;
  if (node->kind == NodeKind::Name)
    return evaluateName(node);
  Nested nested(job);
  return nested ? evaluateNested(node) : Value();
}

Value Evaluator::evaluateNested(const Node *node) {
  Value operand;
  switch (node->kind) {
  case NodeKind::List:
  case NodeKind::Tuple:
    return evaluateList(node);
  case NodeKind::Dict:
    return evaluateDict(node);
  case NodeKind::Not:
    return Value::of(!isTrue(evaluate(node->first)));
  case NodeKind::Negate:
    operand = evaluate(node->first);
    here(node);
    return negate(job, operand);
  case NodeKind::Plus:
    operand = evaluate(node->first);
    here(node);
    return apply(job, Operation::Add, Value::of(int64_t(0)), operand);
  case NodeKind::Binary: {
    const Value left = evaluate(node->first), right = evaluate(node->second);
    here(node);
    return job.failed() ? Value() : apply(job, node->operation, left, right);
  }
  case NodeKind::Compare:
    return evaluateCompare(node);
  case NodeKind::And:
    operand = evaluate(node->first);
    return isTrue(operand) ? evaluate(node->second) : operand;
  case NodeKind::Or:
    operand = evaluate(node->first);
    return isTrue(operand) ? operand : evaluate(node->second);
  case NodeKind::Concat:
    return evaluateConcat(node);
  case NodeKind::Conditional:
    return evaluateConditional(node);
  case NodeKind::Attribute:
    operand = evaluate(node->first);
    here(node);
    return job.failed() ? Value() : attributeOf(operand, node->name);
  case NodeKind::Index:
    return evaluateIndex(node);
  case NodeKind::Call:
    return evaluateCall(node);
  case NodeKind::Filter:
    return evaluateFilter(node);
  case NodeKind::Test:
    return evaluateTest(node);
  default:
    return Value(); // Parts of other nodes and statements: never evaluated by themselves.
  }
}

Value Evaluator::evaluateName(const Node *node) {
  if (const Value *found = findVariable(node->name))
    return *found;
  const Builtin *function = findBuiltin(kFunctions, node->name);
  Callable *callable = function ? job.create<Callable>() : nullptr;
  if (!callable)
    return Value::undefined(node->name);
  callable->name = node->name, callable->builtin = function;
  return Value::of(static_cast<const Callable *>(callable));
}

Value Evaluator::evaluateList(const Node *node) {
  ListBuilder list(job);
  for (const Node *element = node->first; element && !job.failed(); element = element->next)
    list.push(evaluate(element));
  return listOf(list, node->kind == NodeKind::Tuple);
}

Value Evaluator::evaluateDict(const Node *node) {
  DictBuilder dict(job);
  for (const Node *pair = node->first; pair && !job.failed(); pair = pair->next) {
    const Value key = evaluate(pair->first), value = evaluate(pair->second);
    here(pair);
    if (job.failed())
      break;
    if (!canBeKey(key))
      job.failHere("found %s as a key, expected a string, a number, a boolean or none",
                   describe(key.kind));
    dict.set(key, value);
  }
  return dict.value();
}

// a < b <= c: each pair holds, and each operand is evaluated once.
Value Evaluator::evaluateCompare(const Node *node) {
  Value left = evaluate(node->first), result;
  for (const Node *comparand = node->second; comparand && !job.failed();
       comparand = comparand->next) {
    const Value right = evaluate(comparand->first);
    here(comparand);
    if (job.failed())
      break;
    result = apply(job, comparand->operation, left, right);
    if (!isTrue(result))
      break;
    left = right;
  }
  return result;
}

Value Evaluator::evaluateConcat(const Node *node) {
  TextBuilder result(job);
  for (const Node *operand = node->first; operand && !job.failed(); operand = operand->next)
    result.append(toText(job, evaluate(operand)));
  return result.value();
}

Value Evaluator::evaluateConditional(const Node *node) {
  const bool holds = isTrue(evaluate(node->first));
  return evaluate(holds ? node->second : node->third);
}

Value Evaluator::evaluateIndex(const Node *node) {
  const Value object = evaluate(node->first);
  if (node->second && node->second->kind == NodeKind::Slice)
    return slice(object, node->second);
  const Value key = evaluate(node->second);
  here(node);
  return job.failed() ? Value() : itemOf(object, key);
}

bool Evaluator::spread(const Node *node, ListBuilder &positional, Growing<NamedValue> &named) {
  const Value value = evaluate(node->first);
  here(node);
  if (!node->flag) {
    const Value elements = elementsOf(job, value);
    for (size_t i = 0; i < elements.size && !job.failed(); ++i)
      positional.push(elements.elements[i]);
    return !job.failed();
  }
  if (!value.is(Kind::Dict)) {
    job.failHere("found %s after '**', expected a mapping", describe(value.kind));
    return false;
  }
  for (size_t i = 0; i < value.dict->size && !job.failed(); ++i)
    named.push({toText(job, value.dict->entries[i].key), value.dict->entries[i].value});
  return !job.failed();
}

bool Evaluator::evaluateArguments(const Node *list, Arguments *arguments) {
  ListBuilder positional(job);
  Growing<NamedValue> named(job);
  for (const Node *node = list; node && !job.failed(); node = node->next) {
    if (node->kind == NodeKind::Spread)
      spread(node, positional, named);
    else if (node->name.empty())
      positional.push(evaluate(node->first));
    else
      named.push({node->name, evaluate(node->first)});
  }
  *arguments = {positional.data(), positional.size(), named.data(), named.size()};
  return !job.failed();
}

Value Evaluator::evaluateCall(const Node *node) {
  const Value callee = evaluate(node->first);
  Arguments arguments;
  if (!evaluateArguments(node->second, &arguments))
    return Value();
  here(node);
  return call(callee, arguments);
}

Value Evaluator::unknown(const Node *node, const BuiltinSet &set) {
  job.failHere("found the %s '%.*s', expected one that is known", set.what, shown(node->name),
               node->name.data);
  return Value();
}

Value Evaluator::evaluateFilter(const Node *node) {
  const Value operand = node->first ? evaluate(node->first) : captured;
  Arguments arguments;
  if (!evaluateArguments(node->second, &arguments))
    return Value();
  here(node);
  return node->builtin ? callBuiltin(*node->builtin, operand, arguments) : unknown(node, kFilters);
}

Value Evaluator::evaluateTest(const Node *node) {
  const Value operand = evaluate(node->first);
  Arguments arguments;
  if (!evaluateArguments(node->second, &arguments))
    return Value();
  here(node);
  return node->builtin ? callBuiltin(*node->builtin, operand, arguments) : unknown(node, kTests);
}

Value Evaluator::call(const Value &callee, const Arguments &arguments) {
  Nested nested(job);
  if (!nested)
    return Value();
  if (callee.is(Kind::Loop))
    return callLoop(callee.loop, arguments);
  if (callee.is(Kind::Callable) && callee.callable->builtin)
    return callBuiltin(*callee.callable->builtin, callee.callable->self, arguments);
  if (callee.is(Kind::Callable))
    return callMacro(*callee.callable, arguments);
  const Text name = callee.is(Kind::Undefined) ? callee.text() : Text();
  if (callee.is(Kind::Undefined))
    job.failHere("found undefined '%.*s', expected a function or a macro", shown(name), name.data);
  else
    job.failHere("found %s, expected a function or a macro", describe(callee.kind));
  return Value();
}

bool Evaluator::bindMacro(const Callable &macro, const Arguments &arguments, Scope *inner) {
  const auto tooMany = [&](Text what) {
    job.failHere("found an argument too many for '%.*s' ('%.*s'), expected those that it names",
                 shown(macro.name), macro.name.data, shown(what), what.data);
    return false;
  };
  size_t position = 0, used = 0;
  for (const Node *parameter = macro.parameters; parameter; parameter = parameter->next) {
    const Value *value = position < arguments.count ? &arguments.positional[position++] : nullptr;
    job.spend(1 + arguments.namedCount / 8);
    for (size_t i = 0; i < arguments.namedCount; ++i)
      if (arguments.named[i].name == parameter->name) {
        if (value)
          return tooMany(parameter->name);
        value = &arguments.named[i].value;
        ++used;
      }
    if (!value && !parameter->first) // left out, and without a default
      setVariable(&inner->first, parameter->name, Value::undefined(parameter->name));
    else
      setVariable(&inner->first, parameter->name, value ? *value : evaluate(parameter->first));
    if (job.failed())
      return false;
  }
  for (size_t i = 0; i < arguments.namedCount; ++i)
    if (arguments.named[i].name == Text("caller")) {
      setVariable(&inner->first, "caller", arguments.named[i].value);
      ++used;
    }
  if (position < arguments.count)
    return tooMany(toText(job, arguments.positional[position]));
  return used >= arguments.namedCount || tooMany(arguments.named[0].name);
}

Value Evaluator::callMacro(const Callable &macro, const Arguments &arguments) {
  Scope *inner = newScope(macro.scope);
  if (!inner)
    return Value();
  Scope *outer = scope;
  scope = inner; // defaults see the parameters before them
  const bool bound = bindMacro(macro, arguments, inner);
  scope = outer;
  return bound ? capture(macro.body, inner) : Value();
}

// loop(children): the recursive loop again, one deeper.
Value Evaluator::callLoop(Loop *loop, const Arguments &arguments) {
  if (!loop->node->flag || arguments.count != 1 || arguments.namedCount) {
    job.failHere("found a call of 'loop', expected one value, in a loop marked 'recursive'");
    return Value();
  }
  TextBuilder text(job);
  TextBuilder *outer = output;
  output = &text;
  runFor(loop->node, arguments.positional[0], loop->depth + 1, loop->scope);
  output = outer;
  return text.value();
}

// Index of a name in "old,new,count"; kMost if it is not there.
static size_t indexOfParameter(Text parameters, Text name) {
  for (size_t index = 0; !parameters.empty(); ++index) {
    const size_t comma = parameters.find(",");
    const size_t end = comma == Text::kNone ? parameters.size : comma;
    if (parameters.slice(0, end) == name)
      return index;
    parameters = parameters.from(end + 1);
  }
  return Call::kMost;
}

static size_t countParameters(Text parameters) {
  size_t count = !parameters.empty();
  for (char byte : parameters)
    count += byte == ',';
  return count;
}

Value Evaluator::callBuiltin(const Builtin &builtin, const Value &self,
                             const Arguments &arguments) {
  Nested nested(job);
  if (!nested || !job.spend(1))
    return Value();
  Call call{*this, job, builtin, self, arguments, {}, {}};
  const Text parameters = builtin.parameters;
  if (parameters == Text("*"))
    return builtin.run(call);
  const size_t most = countParameters(parameters);
  if (arguments.count > most) {
    job.failHere("found %zu arguments for '%s', expected at most %zu", arguments.count,
                 builtin.name, most);
    return Value();
  }
  for (size_t i = 0; i < arguments.count; ++i)
    call.values[i] = arguments.positional[i], call.given[i] = true;
  for (size_t i = 0; i < arguments.namedCount; ++i) {
    const NamedValue &named = arguments.named[i];
    const size_t index = indexOfParameter(parameters, named.name);
    if (index == Call::kMost || call.given[index]) {
      job.failHere("found the argument '%.*s' for '%s', expected one of '%s', each once",
                   shown(named.name), named.name.data, builtin.name, builtin.parameters);
      return Value();
    }
    call.values[index] = named.value, call.given[index] = true;
  }
  for (size_t i = 0; i < builtin.required; ++i)
    if (!call.given[i]) {
      job.failHere("found too few arguments for '%s', expected '%s'", builtin.name,
                   builtin.parameters);
      return Value();
    }
  return builtin.run(call);
}

} // namespace llmc::templates
