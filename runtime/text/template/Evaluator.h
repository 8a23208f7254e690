// SPDX-License-Identifier: Apache-2.0
// Runs a parsed template: walks the tree, with scopes that hold what `set`, loops and macros name.
#pragma once

#include "runtime/text/template/Builtin.h"
#include <ctime>

namespace llmc::templates {

struct Variable {
  Text name;
  Value value;
  Variable *next;
};

// Null if the name is not in the list.
Variable *findIn(Job &job, Variable *first, Text name);

// Names that were set between a begin and its end; a loop has one for each round. A macro keeps the
// scope that it was written in.
struct Scope {
  Variable *first = nullptr;
  Scope *parent = nullptr;
  bool isKept = false; // by a macro, so that it outlives its end
};

// namespace(): the one value that a template can change.
struct Namespace {
  Variable *first = nullptr;
};

// The variable `loop`.
struct Loop {
  Value items;
  size_t index = 0; // from 0
  size_t depth = 0; // of recursive loops, from 0
  const Node *node = nullptr;
  Scope *scope = nullptr; // around the loop
  bool hasSeen = false;
  Value seen; // what loop.changed() was last asked
};

// A builtin with the object that it belongs to, or a macro with its scope.
struct Callable {
  Text name;
  const Builtin *builtin = nullptr;
  Value self;
  const Node *parameters = nullptr; // of a macro, or of a call block
  const Node *body = nullptr;
  Scope *scope = nullptr;
};

class Evaluator {
public:
  // `variables` are the template's, below what it sets itself. now: for strftime_now.
  Evaluator(Job &job, const Source &source, const Dict &variables, time_t now)
      : job(job), source(source), variables(variables), now(now) {}

  // The rendering; meaningless if the job failed.
  Text render(const Node *root);

  // For builtins.
  Value call(const Value &callee, const Arguments &arguments);
  Value callBuiltin(const Builtin &builtin, const Value &self, const Arguments &arguments);
  Value attributeOf(const Value &object, Text name);
  Value itemOf(const Value &object, const Value &key);
  // The attribute that `selectattr` and the like name: "function.name", or a number.
  // Where a part is undefined, `otherwise` (null: none) takes its place.
  Value attributeByPath(const Value &object, const Value &path, const Value *otherwise = nullptr);
  time_t time() const { return now; }

  Job &job;

private:
  enum class Flow { Next, Break, Continue };

  // Expressions (Evaluator.cpp)
  Value evaluate(const Node *node);
  Value evaluateNested(const Node *node);
  Value evaluateName(const Node *node);
  Value evaluateList(const Node *node);
  Value evaluateDict(const Node *node);
  Value evaluateCompare(const Node *node);
  Value evaluateConcat(const Node *node);
  Value evaluateConditional(const Node *node);
  Value evaluateIndex(const Node *node);
  Value evaluateCall(const Node *node);
  Value evaluateFilter(const Node *node);
  Value evaluateTest(const Node *node);
  bool evaluateArguments(const Node *list, Arguments *arguments);
  bool spread(const Node *node, ListBuilder &positional, Growing<NamedValue> &named);
  Value unknown(const Node *node, const BuiltinSet &set);
  Value callMacro(const Callable &macro, const Arguments &arguments);
  bool bindMacro(const Callable &macro, const Arguments &arguments, Scope *inner);
  Value callLoop(Loop *loop, const Arguments &arguments);

  // Attributes, elements, slices (Access.cpp)
  Value method(const Value &object, const BuiltinSet &set, Text name);
  Value loopAttribute(const Loop &loop, Text name);
  Value slice(const Value &object, const Node *node);
  bool sliceBound(const Node *node, bool *given, int64_t *bound);

  // Statements (Statements.cpp)
  Flow run(const Node *list);
  Flow runOne(const Node *node);
  Flow runIf(const Node *node);
  Flow runFor(const Node *node, const Value &iterable, size_t depth, Scope *around);
  Value keepWhere(const Node *node, const Value &items, Scope *around);
  Flow runWith(const Node *node);
  Flow runInside(const Node *body, Scope *inner);
  void runCallBlock(const Node *node);
  void defineMacro(const Node *node);
  Value capture(const Node *body, Scope *inner);
  Value captureFiltered(const Node *filters, const Value &text);
  void assign(const Node *target, const Value &value);
  void assignAttribute(const Node *target, const Value &value);
  void setVariable(Variable **first, Text name, const Value &value);
  const Value *findVariable(Text name) const;
  Scope *newScope(Scope *parent);
  void keep(Scope *inner);
  Scope *nextRound(Scope *last, Scope *around);
  void here(const Node *node) { job.at(source, node->offset); }

  const Source &source;
  const Dict &variables;
  const time_t now;
  Scope *scope = nullptr;
  Variable *spare = nullptr; // of scopes that ended
  TextBuilder *output = nullptr;
  Value captured; // what a filter without an operand is applied to
};

} // namespace llmc::templates
