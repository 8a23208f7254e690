// SPDX-License-Identifier: Apache-2.0
// Values as text, as Python's str() and repr() write them.
#include "runtime/text/template/Evaluator.h"
#include "runtime/text/template/Number.h"
#include "runtime/text/template/Operators.h"
#include <cstdio>

namespace llmc::templates {

static void appendEscaped(TextBuilder &result, uint32_t code, Text bytes) {
  char escape[16];
  if (code == kInvalid)
    code = static_cast<unsigned char>(bytes[0]);
  snprintf(escape, sizeof escape,
           code < 0x100     ? "\\x%02x"
           : code < 0x10000 ? "\\u%04x"
                            : "\\U%08x",
           code);
  result.append(escape);
}

// In single quotes, or in double ones if that saves escapes.
static void appendQuoted(TextBuilder &result, Job &job, Text text) {
  const bool useDouble = text.find("'") != Text::kNone && text.find("\"") == Text::kNone;
  const char quote = useDouble ? '"' : '\'';
  result.append(quote);
  for (size_t offset = 0; offset < text.size && job.spend(1);) {
    const Character character = characterAt(text, offset);
    const Text bytes = text.slice(offset, offset + character.size);
    offset += character.size;
    if (character.code == '\n')
      result.append("\\n");
    else if (character.code == '\r')
      result.append("\\r");
    else if (character.code == '\t')
      result.append("\\t");
    else if (character.code == '\\' || character.code == static_cast<unsigned char>(quote))
      result.append('\\'), result.append(bytes);
    else if (isPrintable(character.code))
      result.append(bytes);
    else
      appendEscaped(result, character.code, bytes);
  }
  result.append(quote);
}

static void appendList(TextBuilder &result, Job &job, const Value &list) {
  result.append(list.isTuple ? '(' : '[');
  for (size_t i = 0; i < list.size && !job.failed(); ++i) {
    result.append(i ? ", " : "");
    appendRepr(result, job, list.elements[i]);
  }
  result.append(list.isTuple && list.size == 1 ? "," : "");
  result.append(list.isTuple ? ')' : ']');
}

static void appendDict(TextBuilder &result, Job &job, const Dict &dict) {
  result.append('{');
  for (size_t i = 0; i < dict.size && !job.failed(); ++i) {
    result.append(i ? ", " : "");
    appendRepr(result, job, dict.entries[i].key);
    result.append(": ");
    appendRepr(result, job, dict.entries[i].value);
  }
  result.append('}');
}

static void appendNamespace(TextBuilder &result, Job &job, const Namespace &space) {
  result.append("<Namespace {");
  for (const Variable *variable = space.first; variable && !job.failed();
       variable = variable->next) {
    result.append(variable == space.first ? "" : ", ");
    appendQuoted(result, job, variable->name);
    result.append(": ");
    appendRepr(result, job, variable->value);
  }
  result.append("}>");
}

void appendRepr(TextBuilder &result, Job &job, const Value &value) {
  Nested nested(job);
  if (!nested || !job.spend(1))
    return;
  switch (value.kind) {
  case Kind::Undefined:
    result.append("Undefined");
    break;
  case Kind::None:
    result.append("None");
    break;
  case Kind::Bool:
    result.append(value.boolean ? "True" : "False");
    break;
  case Kind::Int:
    result.append(printInteger(value.integer).text());
    break;
  case Kind::Float:
    result.append(printFloat(value.number).text());
    break;
  case Kind::String:
    appendQuoted(result, job, value.text());
    break;
  case Kind::List:
    appendList(result, job, value);
    break;
  case Kind::Dict:
    appendDict(result, job, *value.dict);
    break;
  case Kind::Namespace:
    appendNamespace(result, job, *value.space);
    break;
  case Kind::Loop:
    result.append("<loop>");
    break;
  case Kind::Callable:
    result.append("<function ");
    result.append(value.callable->name);
    result.append('>');
    break;
  }
}

Text toText(Job &job, const Value &value) {
  if (value.isString())
    return value.text();
  if (value.is(Kind::Undefined))
    return Text();
  TextBuilder result(job);
  appendRepr(result, job, value);
  return result.text();
}

} // namespace llmc::templates
