// SPDX-License-Identifier: Apache-2.0
#include "passes/codegen/tokenizer/TokenizerDecoding.h"

#include "llmc/tokenizer_abi.h"

namespace llmc::tokenizer {
namespace {

using model::DecoderStep;
using Kind = DecoderStep::Kind;

std::string replaced(const std::string &text, const std::string &from, const std::string &to) {
  std::string result;
  size_t at = 0;
  for (size_t found; (found = text.find(from, at)) != std::string::npos; at = found + from.size())
    result += text.substr(at, found - at) + to;
  return result + text.substr(at);
}

std::string stripped(const std::string &text, const DecoderStep &step) {
  const std::string &content = step.content;
  size_t begin = 0;
  size_t end = text.size();
  for (int i = 0; i < step.start && text.compare(begin, content.size(), content) == 0 &&
                  begin + content.size() <= text.size();
       ++i)
    begin += content.size();
  for (int i = 0; i < step.stop && end >= begin + content.size() &&
                  text.compare(end - content.size(), content.size(), content) == 0;
       ++i)
    end -= content.size();
  return text.substr(begin, end - begin);
}

// <0x0A>, either case.
bool isByteText(const std::string &text) {
  return text.size() == 6 && text.compare(0, 3, "<0x") == 0 && text[5] == '>' &&
         isxdigit(static_cast<unsigned char>(text[3])) &&
         isxdigit(static_cast<unsigned char>(text[4]));
}

class Planner {
public:
  Planner(const model::TokenizerSpec &spec, const std::string &file) : spec(spec), file(file) {}
  Result<Decoding> run();

private:
  Error problem(size_t step, const std::string &text) const {
    return errorAt(file, "/decoder/" + std::to_string(step), text);
  }
  Status take(size_t index, const DecoderStep &step);
  Status fallBack(size_t index);

  const model::TokenizerSpec &spec;
  const std::string &file;
  Decoding plan;
  bool fused = false;
};

Status Planner::fallBack(size_t index) {
  if (plan.flags & LLMC_TOKENIZER_BYTE_RUNS)
    return problem(index, "found a second ByteFallback, expected one at most");
  plan.flags |= LLMC_TOKENIZER_BYTE_RUNS;
  for (size_t id = 0; id < plan.texts.size(); ++id)
    if (isByteText(plan.texts[id])) {
      plan.isByte[id] = true;
      plan.texts[id].assign(1,
                            static_cast<char>(std::stoi(plan.texts[id].substr(3, 2), nullptr, 16)));
    }
  return {};
}

Status Planner::take(size_t index, const DecoderStep &step) {
  const bool alone = !fused && !(plan.flags & LLMC_TOKENIZER_BYTE_RUNS);
  switch (step.kind) {
  case Kind::ByteLevel:
    return problem(index, "found ByteLevel, expected it in a byte level tokenizer only");
  case Kind::ByteFallback:
    if (fused)
      return problem(index, "found ByteFallback behind Fuse, expected it before");
    return fallBack(index);
  case Kind::Fuse:
    fused = true;
    return {};
  case Kind::Replace:
    if (!alone || step.pattern.isRegex || step.pattern.text.empty() ||
        plan.flags & LLMC_TOKENIZER_STRIP_MARK)
      return problem(index, "found a Replace that llmc cannot carry out token by token, expected "
                            "plain text and no step but Replace and Strip before it");
    for (std::string &text : plan.texts)
      text = replaced(text, step.pattern.text, step.content);
    return {};
  case Kind::Strip:
    if (step.content.empty() || step.start < 0 || step.stop < 0)
      return problem(index, "found a Strip of nothing, expected a character and counts from 0");
    if (fused && step.stop == 0 && plan.stripCount == 0) {
      plan.strip = step.content;
      plan.stripCount = static_cast<uint32_t>(step.start);
      return {};
    }
    if (!alone || plan.flags & LLMC_TOKENIZER_STRIP_MARK)
      return problem(index, "found a Strip that llmc cannot carry out while text streams, expected "
                            "one behind Fuse with stop 0, or one before other steps");
    for (std::string &text : plan.texts)
      text = stripped(text, step);
    return {};
  case Kind::Metaspace:
    if (index != 0 || step.content.empty())
      return problem(index, "found Metaspace behind another step, expected it first");
    plan.mark = step.content;
    if (step.prepend != model::PrependScheme::Never)
      plan.flags |= LLMC_TOKENIZER_STRIP_MARK;
    for (std::string &text : plan.texts)
      text = replaced(text, step.content, " ");
    return {};
  }
  return {};
}

Result<Decoding> Planner::run() {
  for (const model::Token &token : spec.tokens)
    plan.texts.push_back(token.bytes);
  plan.isByte.assign(plan.texts.size(), false);
  if (spec.kind == model::TokenizerKind::ByteLevel) {
    if (spec.decoder.size() == 1 && spec.decoder[0].kind == Kind::ByteLevel)
      return std::move(plan);
    return errorAt(file, "/decoder",
                   "found " + std::to_string(spec.decoder.size()) +
                       " steps, expected ByteLevel alone in a byte level tokenizer");
  }
  if (spec.decoder.empty())
    plan.flags |= LLMC_TOKENIZER_JOIN_SPACES;
  for (size_t i = 0; i < spec.decoder.size(); ++i)
    if (Status status = take(i, spec.decoder[i]); !status)
      return status.takeError();
  return std::move(plan);
}

} // namespace

Result<Decoding> planDecoding(const model::TokenizerSpec &spec, const std::string &file) {
  return Planner(spec, file).run();
}

} // namespace llmc::tokenizer
