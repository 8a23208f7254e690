// SPDX-License-Identifier: Apache-2.0
// Statements, and what both halves of the parser use.
#include "runtime/text/template/Parser.h"
#include <cstdio>

namespace llmc::templates {

bool Parser::skipOperator(const char *name) {
  const bool found = atOperator(name);
  if (found)
    take();
  return found;
}

bool Parser::skipName(const char *name) {
  const bool found = atName(name);
  if (found)
    take();
  return found;
}

void Parser::expectOperator(const char *name) {
  if (skipOperator(name))
    return;
  char expected[16];
  snprintf(expected, sizeof expected, "'%s'", name);
  unexpected(expected);
}

Text Parser::expectName(const char *what) {
  if (current().kind == TokenKind::Name)
    return take().text;
  unexpected(what);
  return Text();
}

void Parser::expectEnd(TokenKind kind, const char *what) {
  if (current().kind == kind)
    take();
  else
    unexpected(what);
}

Node *Parser::make(NodeKind kind, size_t offset) {
  Node *node = job.spend(1) ? job.create<Node>() : nullptr;
  if (node)
    node->kind = kind, node->offset = offset;
  return node;
}

void Parser::unexpected(const char *expected) {
  const Token &token = current();
  const int shown = static_cast<int>(token.text.size < 60 ? token.text.size : 60);
  switch (token.kind) {
  case TokenKind::Data:
    return job.fail(source, token.offset, "found text, expected %s", expected);
  case TokenKind::End:
    return job.fail(source, token.offset, "found the end of the template, expected %s", expected);
  default:
    return job.fail(source, token.offset, "found '%.*s', expected %s", shown, token.text.data,
                    expected);
  }
}

Node *Parser::parseTemplate() {
  static const char *const kNever[] = {nullptr};
  Node *scope = make(NodeKind::Scope, 0);
  if (!scope)
    return nullptr;
  scope->first = parseBody(kNever, current());
  return job.failed() ? nullptr : scope;
}

bool Parser::atEndOf(const char *const *ends) const {
  for (; *ends; ++ends)
    if (isName(following(), *ends))
      return true;
  return false;
}

// Up to a statement of a name in `ends` (null: up to the end of the template), whose name is the
// current token then.
Node *Parser::parseBody(const char *const *ends, const Token &opening) {
  job.at(source, opening.offset);
  Nested nested(job);
  NodeList body;
  while (nested && !job.failed()) {
    const Token &token = current();
    if (token.kind == TokenKind::End) {
      if (*ends)
        job.fail(source, opening.offset,
                 "found '%.*s' without an end, expected {%% %s %%} before the template ends",
                 static_cast<int>(opening.text.size), opening.text.data, *ends);
      break;
    }
    if (token.kind == TokenKind::StatementBegin) {
      if (atEndOf(ends)) {
        take();
        break;
      }
      take();
      body.add(parseStatement());
      expectEnd(TokenKind::StatementEnd, "'%}'");
      continue;
    }
    Node *node =
        make(token.kind == TokenKind::Data ? NodeKind::Data : NodeKind::Output, token.offset);
    if (!node)
      break;
    take();
    if (node->kind == NodeKind::Data) {
      node->value = Value::of(token.text);
    } else {
      node->first = parseTuple();
      expectEnd(TokenKind::OutputEnd, "'}}'");
    }
    body.add(node);
  }
  return body.first();
}

Node *Parser::parseStatement() {
  struct Statement {
    const char *name;
    Node *(Parser::*parse)(const Token &);
  };
  static const Statement kStatements[] = {
      {"for", &Parser::parseFor},        {"if", &Parser::parseIf},
      {"set", &Parser::parseSet},        {"macro", &Parser::parseMacro},
      {"call", &Parser::parseCallBlock}, {"filter", &Parser::parseFilterBlock},
      {"with", &Parser::parseWith},      {"generation", &Parser::parseGeneration},
      {"break", &Parser::parseBreak},    {"continue", &Parser::parseContinue},
  };
  for (const Statement &statement : kStatements)
    if (atName(statement.name)) {
      const Token &opening = take();
      return (this->*statement.parse)(opening);
    }
  unexpected("one of for, if, set, macro, call, filter, with, generation, break, continue, raw, "
             "or the end of an open one");
  return nullptr;
}

Node *Parser::parseFor(const Token &opening) {
  static const char *const kEnds[] = {"endfor", "else", nullptr};
  static const char *const kEndsElse[] = {"endfor", nullptr};
  Node *loop = make(NodeKind::For, opening.offset);
  if (!loop)
    return nullptr;
  loop->first = parseTarget(false);
  if (!skipName("in"))
    unexpected("'in'");
  loop->second = parseTuple(false);
  if (skipName("if"))
    loop->third = parseExpression();
  loop->flag = skipName("recursive");
  expectEnd(TokenKind::StatementEnd, "'%}'");
  loop->fourth = parseBody(kEnds, opening);
  if (skipName("else")) {
    expectEnd(TokenKind::StatementEnd, "'%}'");
    loop->fifth = parseBody(kEndsElse, opening);
  }
  take();
  return loop;
}

Node *Parser::parseIf(const Token &opening) {
  static const char *const kEnds[] = {"endif", "elif", "else", nullptr};
  static const char *const kEndsElse[] = {"endif", nullptr};
  Node *node = make(NodeKind::If, opening.offset);
  NodeList branches;
  bool isElse = false;
  do {
    Node *branch = make(NodeKind::Branch, current().offset);
    if (!branch)
      return nullptr;
    if (!isElse)
      branch->first = parseTuple(false);
    expectEnd(TokenKind::StatementEnd, "'%}'");
    branch->second = parseBody(isElse ? kEndsElse : kEnds, opening);
    branches.add(branch);
    isElse = isName(take(), "else");
    if (!isElse && !isName(tokens.tokens[at - 1], "elif"))
      break;
  } while (!job.failed());
  if (node)
    node->first = branches.first();
  return node;
}

Node *Parser::parseSet(const Token &opening) {
  static const char *const kEnds[] = {"endset", nullptr};
  Node *target = parseTarget(true);
  const bool captures = !skipOperator("=");
  Node *node = make(captures ? NodeKind::Capture : NodeKind::Set, opening.offset);
  if (!node)
    return nullptr;
  node->first = target;
  if (!captures) {
    node->second = parseTuple();
    return node;
  }
  node->second = parseFilterChain(nullptr, false);
  expectEnd(TokenKind::StatementEnd, "'=' or '%}'");
  node->third = parseBody(kEnds, opening);
  take();
  return node;
}

Node *Parser::parseMacro(const Token &opening) {
  static const char *const kEnds[] = {"endmacro", nullptr};
  Node *macro = make(NodeKind::Macro, opening.offset);
  const Text name = expectName("the name of a macro");
  Node *parameters = parseParameters();
  expectEnd(TokenKind::StatementEnd, "'%}'");
  Node *body = parseBody(kEnds, opening);
  take();
  if (macro)
    macro->name = name, macro->first = parameters, macro->second = body;
  return macro;
}

Node *Parser::parseParameters() {
  NodeList parameters;
  bool hasDefault = false;
  expectOperator("(");
  while (!job.failed() && !atOperator(")")) {
    Node *parameter = make(NodeKind::Parameter, current().offset);
    const Text name = expectName("the name of a parameter");
    if (!parameter || job.failed())
      return nullptr;
    parameter->name = name;
    if (skipOperator("=")) {
      hasDefault = true;
      parameter->first = parseExpression();
    } else if (hasDefault) {
      unexpected("'=', since a parameter before it has a default");
    }
    parameters.add(parameter);
    if (!skipOperator(","))
      break;
  }
  expectOperator(")");
  return parameters.first();
}

Node *Parser::parseCallBlock(const Token &opening) {
  static const char *const kEnds[] = {"endcall", nullptr};
  Node *block = make(NodeKind::CallBlock, opening.offset);
  Node *parameters = atOperator("(") ? parseParameters() : nullptr;
  place();
  Node *call = parseExpression();
  if (call && call->kind != NodeKind::Call)
    job.fail(source, call->offset, "found another expression, expected the call of a macro");
  expectEnd(TokenKind::StatementEnd, "'%}'");
  Node *body = parseBody(kEnds, opening);
  take();
  if (block)
    block->first = call, block->second = parameters, block->third = body;
  return block;
}

Node *Parser::parseFilterBlock(const Token &opening) {
  static const char *const kEnds[] = {"endfilter", nullptr};
  Node *block = make(NodeKind::FilterBlock, opening.offset);
  Node *filters = parseFilterChain(nullptr, true);
  expectEnd(TokenKind::StatementEnd, "'%}'");
  Node *body = parseBody(kEnds, opening);
  take();
  if (block)
    block->first = filters, block->second = body;
  return block;
}

Node *Parser::parseWith(const Token &opening) {
  static const char *const kEnds[] = {"endwith", nullptr};
  Node *with = make(NodeKind::With, opening.offset);
  NodeList sets;
  while (!job.failed() && current().kind != TokenKind::StatementEnd) {
    Node *set = make(NodeKind::Set, current().offset);
    if (!set)
      return nullptr;
    set->first = parseOneTarget(false);
    expectOperator("=");
    set->second = parseExpression();
    sets.add(set);
    if (!skipOperator(","))
      break;
  }
  expectEnd(TokenKind::StatementEnd, "'%}'");
  Node *body = parseBody(kEnds, opening);
  take();
  if (with)
    with->first = sets.first(), with->second = body;
  return with;
}

// {% generation %}: marks what the assistant said, for training. Only its scope matters here.
Node *Parser::parseGeneration(const Token &opening) {
  static const char *const kEnds[] = {"endgeneration", nullptr};
  Node *scope = make(NodeKind::Scope, opening.offset);
  expectEnd(TokenKind::StatementEnd, "'%}'");
  Node *body = parseBody(kEnds, opening);
  take();
  if (scope)
    scope->first = body;
  return scope;
}

Node *Parser::parseBreak(const Token &opening) { return make(NodeKind::Break, opening.offset); }
Node *Parser::parseContinue(const Token &opening) {
  return make(NodeKind::Continue, opening.offset);
}

// A name, several names with commas between them, or `space.name` where that is allowed.
Node *Parser::parseTarget(bool mayBeNamespace) {
  const size_t offset = current().offset;
  NodeList targets;
  bool isTuple = false;
  do {
    targets.add(parseOneTarget(mayBeNamespace));
    isTuple |= atOperator(",");
  } while (!job.failed() && skipOperator(",") && !atName("in") && !atOperator("=") &&
           current().kind != TokenKind::StatementEnd);
  if (!isTuple)
    return targets.first();
  Node *tuple = make(NodeKind::Tuple, offset);
  if (tuple)
    tuple->first = targets.first();
  return tuple;
}

Node *Parser::parseOneTarget(bool mayBeNamespace) {
  place();
  Nested nested(job);
  if (!nested)
    return nullptr;
  if (skipOperator("(")) {
    Node *inner = parseTarget(mayBeNamespace);
    expectOperator(")");
    return inner;
  }
  for (const char *constant : {"true", "false", "none", "True", "False", "None"})
    if (atName(constant))
      unexpected("a name to set, not a constant");
  Node *target = make(NodeKind::Name, current().offset);
  const Text name = expectName("a name to set");
  if (!target || job.failed())
    return nullptr;
  target->name = name;
  if (!mayBeNamespace || !skipOperator("."))
    return target;
  Node *attribute = make(NodeKind::Attribute, target->offset);
  const Text attributeName = expectName("the name of an attribute");
  if (attribute)
    attribute->first = target, attribute->name = attributeName;
  return attribute;
}

const Node *parse(Job &job, const Source &source) {
  const Tokens tokens = tokenize(job, source);
  return tokens.count ? Parser(job, source, tokens).parseTemplate() : nullptr;
}

} // namespace llmc::templates
