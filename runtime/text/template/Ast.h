// SPDX-License-Identifier: Apache-2.0
// A parsed template: one kind of node, whose children mean what the comment at its kind says. A
// list of nodes is its first one, the others follow through `next`; null is the empty list.
#pragma once

#include "runtime/text/template/Lexer.h"

namespace llmc::templates {

struct Builtin;

enum class NodeKind : uint8_t {
  // Expressions
  Constant,    // value
  Name,        // name
  List,        // first: elements
  Tuple,       // first: elements
  Dict,        // first: pairs
  Pair,        // first: key, second: value
  Not,         // first
  Negate,      // first
  Plus,        // first
  Binary,      // operation, first, second
  Compare,     // first, second: comparands
  Comparand,   // operation, first
  And,         // first, second
  Or,          // first, second
  Concat,      // first: operands
  Conditional, // first: condition, second: if true, third: if not, or null
  Attribute,   // first, name
  Index,       // first, second: an expression or a slice
  Slice,       // first: start, second: stop, third: step; each may be null
  Call,        // first: what is called, second: arguments
  Argument,    // name: of a keyword argument, first
  Spread,      // *first, or **first if `flag`
  Filter,      // name, builtin, first: operand, or null for a captured text; second: arguments
  Test,        // name, builtin, first: operand, second: arguments
  // Statements
  Data,        // value
  Output,      // first
  If,          // first: branches
  Branch,      // first: condition, or null for else; second: body
  For,         // first: target, second: iterable, third: condition or null, fourth: body,
               // fifth: else; flag: recursive
  Set,         // first: target, second: value
  Capture,     // first: target, second: filters or null, third: body
  Macro,       // name, first: parameters, second: body
  Parameter,   // name, first: default or null
  CallBlock,   // first: call, second: parameters, third: body
  FilterBlock, // first: filters, second: body
  With,        // first: Sets, second: body
  Scope,       // first: body
  Break,
  Continue,
};

enum class Operation : uint8_t {
  Add,
  Subtract,
  Multiply,
  Divide,
  FloorDivide,
  Modulo,
  Power,
  Equal,
  NotEqual,
  Less,
  LessOrEqual,
  Greater,
  GreaterOrEqual,
  In,
  NotIn,
};

// As it is written: "+", "not in".
const char *spelling(Operation operation);

struct Node {
  NodeKind kind = NodeKind::Constant;
  Operation operation = Operation::Add;
  bool flag = false;
  size_t offset = 0; // in the source
  Text name;
  Value value;
  const Builtin *builtin = nullptr; // null: there is none of that name
  Node *first = nullptr, *second = nullptr, *third = nullptr, *fourth = nullptr, *fifth = nullptr;
  Node *next = nullptr;
};

// The template as a Scope; null after a failure. The source's text has plain newlines already.
const Node *parse(Job &job, const Source &source);

} // namespace llmc::templates
