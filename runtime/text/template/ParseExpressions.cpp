// SPDX-License-Identifier: Apache-2.0
// Expressions: if else, or, and, not, comparisons, + -, ~, * / // %, **, signs, postfixes, filters
// and tests, from loose to tight. `~` binds tighter than `+`, as in Jinja.
#include "runtime/text/template/Builtin.h"
#include "runtime/text/template/Parser.h"

namespace llmc::templates {

const char *spelling(Operation operation) {
  static const char *const kSpellings[] = {
      "+", "-", "*", "/", "//", "%", "**", "==", "!=", "<", "<=", ">", ">=", "in", "not in"};
  return kSpellings[static_cast<size_t>(operation)];
}

bool Parser::isTupleEnd() const {
  return current().kind == TokenKind::OutputEnd || current().kind == TokenKind::StatementEnd ||
         atOperator(")");
}

// One expression, or several with commas between them.
Node *Parser::parseTuple(bool withCondition, bool mayBeEmpty) {
  const size_t offset = current().offset;
  NodeList elements;
  bool isTuple = false;
  while (!job.failed() && !isTupleEnd() && !(isTuple && atName("recursive"))) {
    elements.add(parseExpression(withCondition));
    if (!skipOperator(","))
      break;
    isTuple = true;
  }
  if (!isTuple && !elements.empty())
    return elements.first();
  if (!isTuple && !mayBeEmpty) {
    unexpected("an expression");
    return nullptr;
  }
  Node *tuple = make(NodeKind::Tuple, offset);
  if (tuple)
    tuple->first = elements.first();
  return tuple;
}

Node *Parser::parseExpression(bool withCondition) {
  place();
  Nested nested(job);
  if (!nested)
    return nullptr;
  const size_t offset = current().offset;
  Node *result = parseOr();
  while (withCondition && !job.failed() && skipName("if")) {
    Node *conditional = make(NodeKind::Conditional, offset);
    if (!conditional)
      return nullptr;
    conditional->second = result;
    conditional->first = parseOr();
    if (skipName("else"))
      conditional->third = parseExpression();
    result = conditional;
  }
  return result;
}

Node *Parser::parseOr() {
  const size_t offset = current().offset;
  Node *left = parseAnd();
  while (!job.failed() && skipName("or")) {
    Node *node = make(NodeKind::Or, offset);
    if (!node)
      return nullptr;
    node->first = left;
    node->second = parseAnd();
    left = node;
  }
  return left;
}

Node *Parser::parseAnd() {
  const size_t offset = current().offset;
  Node *left = parseNot();
  while (!job.failed() && skipName("and")) {
    Node *node = make(NodeKind::And, offset);
    if (!node)
      return nullptr;
    node->first = left;
    node->second = parseNot();
    left = node;
  }
  return left;
}

Node *Parser::parseNot() {
  if (!atName("not"))
    return parseCompare();
  place();
  Nested nested(job);
  Node *node = nested ? make(NodeKind::Not, take().offset) : nullptr;
  if (node)
    node->first = parseNot();
  return node;
}

bool Parser::takeComparison(Operation *operation) {
  static const Operation kComparisons[] = {Operation::Equal,       Operation::NotEqual,
                                           Operation::LessOrEqual, Operation::GreaterOrEqual,
                                           Operation::Less,        Operation::Greater};
  for (Operation comparison : kComparisons) {
    *operation = comparison;
    if (skipOperator(spelling(comparison)))
      return true;
  }
  *operation = Operation::In;
  if (skipName("in"))
    return true;
  *operation = Operation::NotIn;
  if (!atName("not") || !isName(following(), "in"))
    return false;
  take(), take();
  return true;
}

Node *Parser::parseCompare() {
  const size_t offset = current().offset;
  Node *left = parseSum();
  NodeList comparands;
  Operation operation;
  for (size_t where = current().offset; !job.failed() && takeComparison(&operation);
       where = current().offset) {
    Node *comparand = make(NodeKind::Comparand, where);
    if (!comparand)
      return nullptr;
    comparand->operation = operation;
    comparand->first = parseSum();
    comparands.add(comparand);
  }
  if (comparands.empty())
    return left;
  Node *node = make(NodeKind::Compare, offset);
  if (node)
    node->first = left, node->second = comparands.first();
  return node;
}

Node *Parser::binary(Operation operation, Node *left, Node *right, size_t offset) {
  Node *node = make(NodeKind::Binary, offset);
  if (node)
    node->operation = operation, node->first = left, node->second = right;
  return node;
}

Node *Parser::parseSum() {
  Node *left = parseConcat();
  while (!job.failed() && (atOperator("+") || atOperator("-"))) {
    const Token &sign = take();
    left = binary(isOperator(sign, "+") ? Operation::Add : Operation::Subtract, left, parseConcat(),
                  sign.offset);
  }
  return left;
}

Node *Parser::parseConcat() {
  const size_t offset = current().offset;
  Node *first = parseProduct();
  if (!atOperator("~"))
    return first;
  NodeList operands;
  operands.add(first);
  while (!job.failed() && skipOperator("~"))
    operands.add(parseProduct());
  Node *node = make(NodeKind::Concat, offset);
  if (node)
    node->first = operands.first();
  return node;
}

Node *Parser::parseProduct() {
  static const Operation kOperations[] = {Operation::Multiply, Operation::FloorDivide,
                                          Operation::Divide, Operation::Modulo};
  Node *left = parsePower();
  while (!job.failed()) {
    const Token &sign = current();
    const Operation *found = nullptr;
    for (const Operation &operation : kOperations)
      if (isOperator(sign, spelling(operation)))
        found = &operation;
    if (!found)
      break;
    take();
    left = binary(*found, left, parsePower(), sign.offset);
  }
  return left;
}

Node *Parser::parsePower() {
  Node *left = parseUnary();
  while (!job.failed() && atOperator("**")) {
    const size_t offset = take().offset;
    left = binary(Operation::Power, left, parseUnary(), offset);
  }
  return left;
}

Node *Parser::parseUnary(bool withFilters) {
  place();
  Nested nested(job);
  if (!nested)
    return nullptr;
  Node *operand = nullptr;
  if (atOperator("-") || atOperator("+")) {
    const Token &sign = take();
    operand = make(isOperator(sign, "-") ? NodeKind::Negate : NodeKind::Plus, sign.offset);
    if (operand)
      operand->first = parseUnary(false);
  } else {
    operand = parsePrimary();
  }
  operand = parsePostfix(operand);
  return withFilters ? parseFilters(operand) : operand;
}

Node *Parser::parsePrimary() {
  const Token &token = current();
  if (token.kind == TokenKind::Name)
    return parseNameOrConstant();
  if (token.kind == TokenKind::String)
    return parseStrings();
  if (token.kind == TokenKind::Number) {
    Node *node = make(NodeKind::Constant, take().offset);
    if (node)
      node->value = token.value;
    return node;
  }
  if (skipOperator("(")) {
    Node *node = parseTuple(true, true);
    expectOperator(")");
    return node;
  }
  if (atOperator("["))
    return parseList();
  if (atOperator("{"))
    return parseDict();
  unexpected("an expression");
  return nullptr;
}

Node *Parser::parseNameOrConstant() {
  const Token &token = take();
  const bool isTrue = isName(token, "true") || isName(token, "True");
  const bool isBoolean = isTrue || isName(token, "false") || isName(token, "False");
  const bool isNone = isName(token, "none") || isName(token, "None");
  Node *node = make(isBoolean || isNone ? NodeKind::Constant : NodeKind::Name, token.offset);
  if (node)
    node->name = token.text, node->value = isBoolean ? Value::of(isTrue) : Value::none();
  return node;
}

// Strings beside each other are one.
Node *Parser::parseStrings() {
  Node *node = make(NodeKind::Constant, current().offset);
  if (!node)
    return nullptr;
  node->value = take().value;
  if (current().kind != TokenKind::String)
    return node;
  TextBuilder whole(job);
  whole.append(node->value.text());
  while (current().kind == TokenKind::String)
    whole.append(take().value.text());
  node->value = whole.value();
  return node;
}

Node *Parser::parseList() {
  Node *list = make(NodeKind::List, take().offset);
  NodeList elements;
  while (!job.failed() && !atOperator("]")) {
    elements.add(parseExpression());
    if (!skipOperator(","))
      break;
  }
  expectOperator("]");
  if (list)
    list->first = elements.first();
  return list;
}

Node *Parser::parseDict() {
  Node *dict = make(NodeKind::Dict, take().offset);
  NodeList pairs;
  while (!job.failed() && !atOperator("}")) {
    Node *pair = make(NodeKind::Pair, current().offset);
    if (!pair)
      return nullptr;
    pair->first = parseExpression();
    expectOperator(":");
    pair->second = parseExpression();
    pairs.add(pair);
    if (!skipOperator(","))
      break;
  }
  expectOperator("}");
  if (dict)
    dict->first = pairs.first();
  return dict;
}

Node *Parser::parsePostfix(Node *operand) {
  while (!job.failed()) {
    if (atOperator(".") || atOperator("["))
      operand = parseSubscript(operand);
    else if (atOperator("("))
      operand = parseCall(operand);
    else
      break;
  }
  return operand;
}

Node *Parser::parseFilters(Node *operand) {
  while (!job.failed()) {
    if (atOperator("|"))
      operand = parseFilterChain(operand, false);
    else if (atName("is"))
      operand = parseTest(operand);
    else if (atOperator("("))
      operand = parseCall(operand);
    else
      break;
  }
  return operand;
}

// "| upper | trim(x)"; startsInline: the first one without its "|".
Node *Parser::parseFilterChain(Node *operand, bool startsInline) {
  while (!job.failed() && (startsInline || skipOperator("|"))) {
    startsInline = false;
    Node *filter = make(NodeKind::Filter, current().offset);
    const Text name = expectName("the name of a filter");
    if (!filter || job.failed())
      return nullptr;
    filter->name = name;
    filter->builtin = findBuiltin(kFilters, name);
    filter->first = operand;
    if (atOperator("("))
      filter->second = parseArguments();
    operand = filter;
  }
  return operand;
}

Node *Parser::parseSubscript(Node *operand) {
  const Token &opening = take();
  const bool byDot = isOperator(opening, ".");
  if (byDot && current().kind != TokenKind::Number) {
    Node *node = make(NodeKind::Attribute, opening.offset);
    const Text name = expectName("the name of an attribute");
    if (node)
      node->first = operand, node->name = name;
    return node;
  }
  Node *node = make(NodeKind::Index, opening.offset);
  if (!node)
    return nullptr;
  node->first = operand;
  if (byDot) {
    node->second = parsePrimary();
    return node;
  }
  node->second = parseSlice();
  expectOperator("]");
  return node;
}

// What is between brackets: an expression, or start:stop:step.
Node *Parser::parseSlice() {
  const size_t offset = current().offset;
  Node *start = atOperator(":") ? nullptr : parseExpression();
  if (!atOperator(":"))
    return start;
  Node *slice = make(NodeKind::Slice, offset);
  if (!slice)
    return nullptr;
  slice->first = start;
  take();
  if (!atOperator(":") && !atOperator("]"))
    slice->second = parseExpression();
  if (skipOperator(":") && !atOperator("]"))
    slice->third = parseExpression();
  return slice;
}

Node *Parser::parseCall(Node *callee) {
  Node *call = make(NodeKind::Call, current().offset);
  Node *arguments = parseArguments();
  if (call)
    call->first = callee, call->second = arguments;
  return call;
}

Node *Parser::parseArguments() {
  NodeList arguments;
  bool named = false;
  expectOperator("(");
  while (!job.failed() && !atOperator(")")) {
    const size_t offset = current().offset;
    Node *argument = parseArgument();
    if (!argument)
      return nullptr;
    const bool isNamed = !argument->name.empty() || argument->flag;
    if (named && !isNamed) {
      job.fail(source, offset,
               "found an argument without a name after one with a name, "
               "expected the ones with names last");
      return nullptr;
    }
    named = isNamed;
    arguments.add(argument);
    if (!skipOperator(","))
      break;
  }
  expectOperator(")");
  return arguments.first();
}

Node *Parser::parseArgument() {
  const bool spreads = atOperator("*") || atOperator("**");
  Node *argument = make(spreads ? NodeKind::Spread : NodeKind::Argument, current().offset);
  if (!argument)
    return nullptr;
  if (spreads) {
    argument->flag = isOperator(take(), "**");
  } else if (current().kind == TokenKind::Name && isOperator(following(), "=")) {
    argument->name = take().text;
    take();
  }
  argument->first = parseExpression();
  return argument;
}

Node *Parser::parseTest(Node *operand) {
  const size_t offset = take().offset;
  const bool negated = skipName("not");
  Node *test = make(NodeKind::Test, offset);
  const Text name = expectName("the name of a test");
  if (!test || job.failed())
    return nullptr;
  test->name = name;
  test->builtin = findBuiltin(kTests, name);
  test->first = operand;
  if (atOperator("(")) {
    test->second = parseArguments();
  } else if ((current().kind == TokenKind::Name && !atName("else") && !atName("or") &&
              !atName("and")) ||
             current().kind == TokenKind::String || current().kind == TokenKind::Number ||
             atOperator("[") || atOperator("{")) {
    if (atName("is")) {
      unexpected("one test; several are joined by 'and'");
      return nullptr;
    }
    Node *argument = make(NodeKind::Argument, current().offset);
    if (argument)
      argument->first = parsePostfix(parsePrimary());
    test->second = argument;
  }
  Node *node = negated ? make(NodeKind::Not, offset) : test;
  if (negated && node)
    node->first = test;
  return node;
}

} // namespace llmc::templates
