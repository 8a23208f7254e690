// SPDX-License-Identifier: Apache-2.0
// The parser: recursive descent with Jinja's precedence, from `if else` down to calls. Private to
// Parse*.cpp.
#pragma once

#include "runtime/text/template/Ast.h"

namespace llmc::templates {

// A list of nodes that grows at its end.
class NodeList {
public:
  void add(Node *node) {
    if (!node)
      return;
    *end = node;
    end = &node->next;
  }
  Node *first() const { return head; }
  bool empty() const { return !head; }

private:
  Node *head = nullptr;
  Node **end = &head;
};

class Parser {
public:
  Parser(Job &job, const Source &source, Tokens tokens)
      : job(job), source(source), tokens(tokens) {}

  Node *parseTemplate();

private:
  // Tokens. The End token is never passed.
  const Token &current() const { return tokens.tokens[at]; }
  const Token &following() const { return tokens.tokens[at + 1 < tokens.count ? at + 1 : at]; }
  const Token &take() { return tokens.tokens[at + 1 < tokens.count ? at++ : at]; }
  bool atOperator(const char *name) const { return isOperator(current(), name); }
  bool atName(const char *name) const { return isName(current(), name); }
  bool skipOperator(const char *name);
  bool skipName(const char *name);
  void expectOperator(const char *name);
  Text expectName(const char *what);
  void expectEnd(TokenKind kind, const char *what);
  static bool isOperator(const Token &token, const char *name) {
    return token.kind == TokenKind::Operator && token.text == Text(name);
  }
  static bool isName(const Token &token, const char *name) {
    return token.kind == TokenKind::Name && token.text == Text(name);
  }

  Node *make(NodeKind kind, size_t offset);
  void unexpected(const char *expected);
  void place() { job.at(source, current().offset); }

  // Expressions (ParseExpressions.cpp)
  Node *parseTuple(bool withCondition = true, bool mayBeEmpty = false);
  Node *parseExpression(bool withCondition = true);
  Node *parseOr();
  Node *parseAnd();
  Node *parseNot();
  Node *parseCompare();
  bool takeComparison(Operation *operation);
  Node *parseSum();
  Node *parseConcat();
  Node *parseProduct();
  Node *parsePower();
  Node *parseUnary(bool withFilters = true);
  Node *parsePrimary();
  Node *parseNameOrConstant();
  Node *parseStrings();
  Node *parseList();
  Node *parseDict();
  Node *parsePostfix(Node *operand);
  Node *parseFilters(Node *operand);
  Node *parseFilterChain(Node *operand, bool startsInline);
  Node *parseSubscript(Node *operand);
  Node *parseSlice();
  Node *parseCall(Node *callee);
  Node *parseArguments();
  Node *parseArgument();
  Node *parseTest(Node *operand);
  bool isTupleEnd() const;
  Node *binary(Operation operation, Node *left, Node *right, size_t offset);

  // Statements (ParseStatements.cpp)
  Node *parseBody(const char *const *ends, const Token &opening);
  Node *parseStatement();
  Node *parseFor(const Token &opening);
  Node *parseIf(const Token &opening);
  Node *parseSet(const Token &opening);
  Node *parseMacro(const Token &opening);
  Node *parseCallBlock(const Token &opening);
  Node *parseFilterBlock(const Token &opening);
  Node *parseWith(const Token &opening);
  Node *parseGeneration(const Token &opening);
  Node *parseBreak(const Token &opening);
  Node *parseContinue(const Token &opening);
  Node *parseParameters();
  Node *parseTarget(bool mayBeNamespace);
  Node *parseOneTarget(bool mayBeNamespace);
  bool atEndOf(const char *const *ends) const;

  Job &job;
  const Source &source;
  const Tokens tokens;
  size_t at = 0;
};

} // namespace llmc::templates
