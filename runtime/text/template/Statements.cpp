// SPDX-License-Identifier: Apache-2.0
// Statements and scopes.
#include "runtime/text/template/Evaluator.h"

namespace llmc::templates {

static int shown(Text text) { return static_cast<int>(text.size < 60 ? text.size : 60); }

Text Evaluator::render(const Node *root) {
  TextBuilder text(job);
  output = &text;
  scope = newScope(nullptr);
  if (root && scope && run(root->first) != Flow::Next)
    job.failHere("found 'break' or 'continue', expected them inside a loop only");
  output = nullptr;
  return text.text();
}

Scope *Evaluator::newScope(Scope *parent) {
  Scope *inner = job.create<Scope>();
  if (inner)
    inner->parent = parent;
  return inner;
}

Variable *findIn(Job &job, Variable *first, Text name) {
  size_t passed = 0;
  while (first && first->name != name)
    first = first->next, ++passed;
  job.spend(passed / 8); // so that thousands of names are not free
  return first;
}

const Value *Evaluator::findVariable(Text name) const {
  for (const Scope *inner = scope; inner; inner = inner->parent)
    if (const Variable *found = findIn(job, inner->first, name))
      return &found->value;
  return variables.find(name);
}

void Evaluator::setVariable(Variable **first, Text name, const Value &value) {
  if (Variable *found = findIn(job, *first, name)) {
    found->value = value;
    return;
  }
  Variable *variable = spare ? spare : job.create<Variable>();
  if (!variable)
    return;
  spare = spare ? spare->next : nullptr;
  *variable = {name, value, *first};
  *first = variable;
}

// A macro that was made in a scope sees it, and those around it, as long as it lives.
void Evaluator::keep(Scope *inner) {
  for (; inner && !inner->isKept; inner = inner->parent)
    inner->isKept = true;
}

// A loop's scope for its next round: the last one's memory where nobody can see that any more, so
// that long loops do not take memory for their names.
Scope *Evaluator::nextRound(Scope *last, Scope *around) {
  if (!last || last->isKept)
    return newScope(around);
  while (Variable *variable = last->first) {
    last->first = variable->next;
    variable->next = spare;
    spare = variable;
  }
  return last;
}

Evaluator::Flow Evaluator::run(const Node *list) {
  Nested nested(job);
  for (const Node *node = list; node && nested && !job.failed(); node = node->next) {
    here(node);
    if (!job.spend(1))
      break;
    const Flow flow = runOne(node);
    if (flow != Flow::Next)
      return flow;
  }
  return Flow::Next;
}

Evaluator::Flow Evaluator::runOne(const Node *node) {
  switch (node->kind) {
  case NodeKind::Data:
    output->append(node->value.text());
    break;
  case NodeKind::Output: {
    const Text text = toText(job, evaluate(node->first));
    here(node);
    output->append(text);
    break;
  }
  case NodeKind::If:
    return runIf(node);
  case NodeKind::For: {
    const Value iterable = evaluate(node->second);
    here(node);
    return job.failed() ? Flow::Next : runFor(node, iterable, 0, scope);
  }
  case NodeKind::Set:
    assign(node->first, evaluate(node->second));
    break;
  case NodeKind::Capture:
    assign(node->first, captureFiltered(node->second, capture(node->third, newScope(scope))));
    break;
  case NodeKind::Macro:
    defineMacro(node);
    break;
  case NodeKind::CallBlock:
    runCallBlock(node);
    break;
  case NodeKind::FilterBlock: {
    const Value text = captureFiltered(node->first, capture(node->second, newScope(scope)));
    output->append(toText(job, text));
    break;
  }
  case NodeKind::With:
    return runWith(node);
  case NodeKind::Scope:
    return runInside(node->first, newScope(scope));
  case NodeKind::Break:
    return Flow::Break;
  case NodeKind::Continue:
    return Flow::Continue;
  default:
    break; // Expressions and parts: the parser puts none here.
  }
  return Flow::Next;
}

Evaluator::Flow Evaluator::runIf(const Node *node) {
  for (const Node *branch = node->first; branch && !job.failed(); branch = branch->next)
    if (!branch->first || isTrue(evaluate(branch->first)))
      return job.failed() ? Flow::Next : run(branch->second);
  return Flow::Next;
}

// The items for which the loop's condition holds.
Value Evaluator::keepWhere(const Node *node, const Value &items, Scope *around) {
  ListBuilder kept(job);
  Scope *outer = scope;
  Scope *round = nullptr;
  for (size_t i = 0; i < items.size && !job.failed(); ++i) {
    scope = round = nextRound(round, around);
    if (!round)
      break;
    assign(node->first, items.elements[i]);
    if (isTrue(evaluate(node->third)))
      kept.push(items.elements[i]);
  }
  scope = outer;
  return listOf(kept);
}

Evaluator::Flow Evaluator::runFor(const Node *node, const Value &iterable, size_t depth,
                                  Scope *around) {
  Value items = elementsOf(job, iterable);
  if (node->third)
    items = keepWhere(node, items, around);
  Loop *loop = job.create<Loop>();
  if (!loop)
    return Flow::Next;
  loop->items = items, loop->depth = depth, loop->node = node, loop->scope = around;
  Value loopValue;
  loopValue.kind = Kind::Loop, loopValue.loop = loop;
  Scope *outer = scope;
  Flow flow = Flow::Next;
  Scope *round = nullptr;
  if (node->flag)
    keep(around); // `loop` can be called
  for (size_t i = 0; i < items.size && flow != Flow::Break; ++i) {
    here(node);
    scope = round = job.spend(1) ? nextRound(round, around) : nullptr;
    if (!round)
      break;
    loop->index = i;
    setVariable(&scope->first, "loop", loopValue);
    assign(node->first, items.elements[i]);
    flow = run(node->fourth);
  }
  if (!items.size && node->fifth && (scope = newScope(around)))
    flow = run(node->fifth); // a break in it is the outer loop's
  else
    flow = Flow::Next;
  scope = outer;
  return flow;
}

Evaluator::Flow Evaluator::runInside(const Node *body, Scope *inner) {
  if (!inner)
    return Flow::Next;
  Scope *outer = scope;
  scope = inner;
  const Flow flow = run(body);
  scope = outer;
  return flow;
}

Evaluator::Flow Evaluator::runWith(const Node *node) {
  Scope *outer = scope, *inner = newScope(scope);
  for (const Node *set = node->first; set && inner && !job.failed(); set = set->next) {
    const Value value = evaluate(set->second); // in the scope outside
    scope = inner;
    assign(set->first, value);
    scope = outer;
  }
  return runInside(node->second, inner);
}

void Evaluator::defineMacro(const Node *node) {
  Callable *macro = job.create<Callable>();
  if (!macro)
    return;
  macro->name = node->name, macro->parameters = node->first, macro->body = node->second;
  macro->scope = scope;
  keep(scope);
  setVariable(&scope->first, node->name, Value::of(static_cast<const Callable *>(macro)));
}

// {% call macro(...) %}body{% endcall %}: the macro gets the body as `caller`.
void Evaluator::runCallBlock(const Node *node) {
  Callable *caller = job.create<Callable>();
  const Value callee = evaluate(node->first->first);
  Arguments arguments;
  if (!caller || !evaluateArguments(node->first->second, &arguments))
    return;
  caller->name = "caller", caller->parameters = node->second, caller->body = node->third;
  caller->scope = scope;
  keep(scope);
  Growing<NamedValue> named(job);
  for (size_t i = 0; i < arguments.namedCount; ++i)
    named.push(arguments.named[i]);
  named.push({"caller", Value::of(static_cast<const Callable *>(caller))});
  arguments.named = named.data(), arguments.namedCount = named.size();
  here(node);
  if (job.failed())
    return;
  const Text text = toText(job, call(callee, arguments));
  output->append(text);
}

// What a body writes, as a text.
Value Evaluator::capture(const Node *body, Scope *inner) {
  if (!inner)
    return Value::of(Text());
  TextBuilder text(job);
  TextBuilder *outerOutput = output;
  Scope *outerScope = scope;
  output = &text, scope = inner;
  if (run(body) != Flow::Next)
    job.failHere("found 'break' or 'continue', expected them in a loop's own body");
  output = outerOutput, scope = outerScope;
  return text.value();
}

Value Evaluator::captureFiltered(const Node *filters, const Value &text) {
  if (!filters || job.failed())
    return text;
  const Value outer = captured;
  captured = text;
  const Value result = evaluate(filters);
  captured = outer;
  return result;
}

void Evaluator::assign(const Node *target, const Value &value) {
  Nested nested(job);
  if (!nested || !target)
    return;
  here(target);
  if (target->kind == NodeKind::Name)
    return setVariable(&scope->first, target->name, value);
  if (target->kind == NodeKind::Attribute)
    return assignAttribute(target, value);
  size_t wanted = 0;
  for (const Node *part = target->first; part; part = part->next)
    ++wanted;
  const Value elements = elementsOf(job, value);
  if (!job.failed() && elements.size != wanted)
    job.failHere("found %zu values, expected %zu, one for each name", elements.size, wanted);
  size_t index = 0;
  for (const Node *part = target->first; part && !job.failed(); part = part->next)
    assign(part, elements.elements[index++]);
}

void Evaluator::assignAttribute(const Node *target, const Value &value) {
  const Value *space = findVariable(target->first->name);
  if (!space || !space->is(Kind::Namespace)) {
    const Text name = target->first->name;
    job.failHere("found '%.*s', which is %s, expected a namespace to set an attribute of",
                 shown(name), name.data, describe(space ? space->kind : Kind::Undefined));
    return;
  }
  setVariable(&space->space->first, target->name, value);
}

} // namespace llmc::templates
