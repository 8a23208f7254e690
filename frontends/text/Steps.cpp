// SPDX-License-Identifier: Apache-2.0
#include "frontends/text/Steps.h"
#include "frontends/text/Fields.h"

namespace llmc::tokenizers {

using json::Place;
using json::Value;
using model::DecoderStep;
using model::NormalizerStep;
using model::Pattern;
using model::PrependScheme;
using model::PreTokenizerStep;
using model::SplitBehavior;

namespace {

// What ByteLevel cuts at when it is to use its own pattern, GPT-2's.
constexpr const char *kByteLevelPattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
// A word character in the words of Rust's regex crate.
constexpr const char *kRustWord = R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\x{200C}\x{200D})";

const std::vector<const char *> kBehaviors = {"Removed", "Isolated", "MergedWithPrevious",
                                              "MergedWithNext", "Contiguous"};
const std::vector<const char *> kSchemes = {"never", "always", "first"};

// Calls `take(item, place)` for the items of a Sequence, else for the value itself. Null: nothing.
template <typename Take>
Status eachStep(const Value &value, const Place &place, const char *list, Take &&take,
                int depth = 0) {
  if (value.is(Value::Kind::Null))
    return {};
  const Value *type = value.find("type");
  if (!type || !type->is(Value::Kind::String))
    return place.error("found " + json::describe(value) + ", expected an object with a \"type\"");
  if (type->text() != "Sequence")
    return take(type->text(), value, place);
  const Value *items = value.find(list);
  if (!items || !items->is(Value::Kind::Array))
    return place.error("found a Sequence without \"" + std::string(list) + "\", expected the list");
  if (depth == 8 || items->size() > static_cast<size_t>(model::maxTokenizerSteps))
    return place.error("found a Sequence of " + std::to_string(items->size()) + " steps, " +
                       std::to_string(depth) + " deep, expected at most " +
                       std::to_string(model::maxTokenizerSteps) + " and 8");
  for (size_t i = 0; i < items->size(); ++i)
    if (Status status =
            eachStep((*items)[i], place.at(list).at(std::to_string(i)), list, take, depth + 1);
        !status)
      return status;
  return {};
}

// Appends when the fields were in order and there is room.
template <typename Step>
Status append(std::vector<Step> &steps, Step step, Fields &fields, const Place &place) {
  if (Status status = fields.finish(); !status)
    return status;
  if (steps.size() == static_cast<size_t>(model::maxTokenizerSteps))
    return place.error("found more than " + std::to_string(model::maxTokenizerSteps) +
                       " steps, expected fewer");
  steps.push_back(std::move(step));
  return {};
}

Error unknownType(const Place &place, const std::string &type, const char *known) {
  return place.at("type").error("found \"" + escaped(type, 60) + "\", expected " + known);
}

Pattern readPattern(Fields &fields, const Place &place) {
  Pattern pattern;
  const Value *value = fields.required("pattern");
  if (!value)
    return pattern;
  Fields inner(*value, place.at("pattern"));
  pattern.isRegex = value->find("Regex") != nullptr;
  pattern.text = inner.requiredText(pattern.isRegex ? "Regex" : "String");
  if (Status status = inner.finish(); !status)
    fields.fail(status.takeError());
  else if (pattern.text.empty())
    fields.fail(place.at("pattern").error("found an empty pattern, expected a text to look for"));
  else if (pattern.text.size() > static_cast<size_t>(model::maxPatternBytes))
    fields.fail(place.at("pattern").error(
        "found a pattern of " + std::to_string(pattern.text.size()) + " bytes, expected at most " +
        std::to_string(model::maxPatternBytes)));
  return pattern;
}

PrependScheme readScheme(Fields &fields) {
  const bool spaceWanted = fields.boolean("add_prefix_space", true);
  const int scheme = fields.word("prepend_scheme", kSchemes, spaceWanted ? 1 : 0);
  return static_cast<PrependScheme>(scheme);
}

// ---- Normalizers ----

Status takeNormalizer(const std::string &type, const Value &value, const Place &place,
                      std::vector<NormalizerStep> &steps) {
  using Kind = NormalizerStep::Kind;
  Fields fields(value, place);
  fields.harmless({"type"});
  const std::pair<const char *, Kind> forms[] = {
      {"NFC", Kind::NFC}, {"NFD", Kind::NFD}, {"NFKC", Kind::NFKC}, {"NFKD", Kind::NFKD}};
  for (const auto &[name, kind] : forms)
    if (type == name)
      return append(steps, {kind, {}, ""}, fields, place);
  if (type == "Prepend") {
    NormalizerStep step{Kind::Prepend, {}, fields.requiredText("prepend")};
    return append(steps, std::move(step), fields, place);
  }
  if (type == "Replace") {
    NormalizerStep step{Kind::Replace, readPattern(fields, place), ""};
    fields.required("content");
    step.content = fields.text("content");
    return append(steps, std::move(step), fields, place);
  }
  if (type == "Strip") {
    const bool left = fields.boolean("strip_left", true);
    const bool right = fields.boolean("strip_right", true);
    Status status = fields.finish();
    if (status && left)
      status = append(steps, {Kind::StripLeft, {}, ""}, fields, place);
    if (status && right)
      status = append(steps, {Kind::StripRight, {}, ""}, fields, place);
    return status;
  }
  return unknownType(place, type,
                     "NFC, NFD, NFKC, NFKD, Prepend, Replace, Strip or a Sequence of them");
}

// ---- Pre-tokenizers ----

PreTokenizerStep split(const std::string &regex, SplitBehavior behavior, bool invert = false) {
  PreTokenizerStep step;
  step.pattern = {regex, true};
  step.behavior = behavior;
  step.invert = invert;
  return step;
}

Status takeByteLevel(Fields &fields, const Place &place, std::vector<PreTokenizerStep> &steps) {
  const bool space = fields.boolean("add_prefix_space", true);
  const bool regex = fields.boolean("use_regex", true);
  fields.harmless({"trim_offsets"}); // about offsets only
  Status status = fields.finish();
  PreTokenizerStep step;
  step.kind = PreTokenizerStep::Kind::PrefixSpace;
  if (status && space)
    status = append(steps, step, fields, place);
  if (status && regex)
    status = append(steps, split(kByteLevelPattern, SplitBehavior::Isolated), fields, place);
  step.kind = PreTokenizerStep::Kind::ByteLevel;
  return status ? append(steps, step, fields, place) : std::move(status);
}

Status takePreTokenizer(const std::string &type, const Value &value, const Place &place,
                        std::vector<PreTokenizerStep> &steps) {
  Fields fields(value, place);
  fields.harmless({"type"});
  if (type == "ByteLevel")
    return takeByteLevel(fields, place, steps);
  if (type == "Split") {
    PreTokenizerStep step;
    step.pattern = readPattern(fields, place);
    fields.required("behavior");
    step.behavior = static_cast<SplitBehavior>(fields.word("behavior", kBehaviors, 0));
    step.invert = fields.boolean("invert", false);
    return append(steps, std::move(step), fields, place);
  }
  if (type == "Digits") {
    const bool each = fields.boolean("individual_digits", false);
    return append(steps,
                  split(R"(\p{N})", each ? SplitBehavior::Isolated : SplitBehavior::Contiguous),
                  fields, place);
  }
  if (type == "Punctuation") {
    const int behavior = fields.word("behavior", kBehaviors, 1);
    return append(steps, split(R"([!-/:-@\[-`{-~\p{P}])", static_cast<SplitBehavior>(behavior)),
                  fields, place);
  }
  if (type == "Whitespace") {
    const std::string word = kRustWord;
    return append(steps, split("[" + word + "]+|[^" + word + "\\s]+", SplitBehavior::Removed, true),
                  fields, place);
  }
  if (type == "WhitespaceSplit")
    return append(steps, split(R"(\s)", SplitBehavior::Removed), fields, place);
  if (type == "CharDelimiterSplit") {
    PreTokenizerStep step = split("", SplitBehavior::Removed);
    step.pattern = {fields.requiredText("delimiter"), false};
    if (step.pattern.text.empty())
      fields.fail(place.at("delimiter").error("found an empty text, expected one character"));
    return append(steps, std::move(step), fields, place);
  }
  if (type == "Metaspace") {
    PreTokenizerStep step;
    step.kind = PreTokenizerStep::Kind::Metaspace;
    step.replacement = fields.text("replacement", step.replacement);
    step.prepend = readScheme(fields);
    step.split = fields.boolean("split", true);
    fields.harmless({"str_rep"});
    if (step.replacement.empty())
      fields.fail(place.at("replacement").error("found an empty text, expected one character"));
    return append(steps, std::move(step), fields, place);
  }
  return unknownType(place, type,
                     "ByteLevel, Split, Digits, Punctuation, Whitespace, WhitespaceSplit, "
                     "CharDelimiterSplit, Metaspace or a Sequence of them");
}

// ---- Decoders ----

Status takeDecoder(const std::string &type, const Value &value, const Place &place,
                   std::vector<DecoderStep> &steps) {
  using Kind = DecoderStep::Kind;
  Fields fields(value, place);
  fields.harmless({"type"});
  DecoderStep step;
  if (type == "ByteLevel") {
    fields.harmless({"add_prefix_space", "trim_offsets", "use_regex"}); // no part in decoding
  } else if (type == "ByteFallback") {
    step.kind = Kind::ByteFallback;
  } else if (type == "Fuse") {
    step.kind = Kind::Fuse;
  } else if (type == "Replace") {
    step.kind = Kind::Replace;
    step.pattern = readPattern(fields, place);
    fields.required("content");
    step.content = fields.text("content");
  } else if (type == "Strip") {
    step.kind = Kind::Strip;
    step.content = fields.requiredText("content");
    step.start = static_cast<int32_t>(std::min<int64_t>(fields.number("start", 0), 1 << 20));
    step.stop = static_cast<int32_t>(std::min<int64_t>(fields.number("stop", 0), 1 << 20));
  } else if (type == "Metaspace") {
    step.kind = Kind::Metaspace;
    step.content = fields.text("replacement", PreTokenizerStep().replacement);
    step.prepend = readScheme(fields);
    fields.harmless({"str_rep", "split"});
  } else {
    return unknownType(place, type,
                       "ByteLevel, ByteFallback, Fuse, Replace, Strip, Metaspace or a Sequence of "
                       "them");
  }
  return append(steps, std::move(step), fields, place);
}

// ---- The post-processor ----

class TemplateReader {
public:
  TemplateReader(std::vector<int32_t> &prefix, std::vector<int32_t> &suffix)
      : prefix(prefix), suffix(suffix) {}

  Status take(const std::string &type, const Value &value, const Place &place);

private:
  Status takeTemplate(const Value &value, const Place &place);
  Status takePair(const Value &value, const Place &place); // Roberta's and Bert's
  Status appendIds(const std::string &name, const Value *specials, const Place &place);
  Status appendId(const Value &id, const Place &place, std::vector<int32_t> &to);

  std::vector<int32_t> &prefix;
  std::vector<int32_t> &suffix;
  bool found = false; // one template has been read
  bool textSeen = false;
};

Status TemplateReader::appendId(const Value &id, const Place &place, std::vector<int32_t> &to) {
  if (!id.is(Value::Kind::Integer) || id.integer < 0 || id.integer > INT32_MAX)
    return json::wrongValue(place, id, "a token id");
  if (to.size() == 64)
    return place.error("found more than 64 tokens around a text, expected fewer");
  to.push_back(static_cast<int32_t>(id.integer));
  return {};
}

Status TemplateReader::appendIds(const std::string &name, const Value *specials,
                                 const Place &place) {
  const Value *entry = specials ? specials->find(name) : nullptr;
  const Value *ids = entry ? entry->find("ids") : nullptr;
  if (!ids || !ids->is(Value::Kind::Array))
    return place.error("found the special token \"" + escaped(name, 60) +
                       "\" without ids, expected it in special_tokens");
  for (size_t i = 0; i < ids->size(); ++i)
    if (Status status = appendId((*ids)[i], place, textSeen ? suffix : prefix); !status)
      return status;
  return {};
}

Status TemplateReader::takeTemplate(const Value &value, const Place &place) {
  const Value *single = value.find("single");
  if (!single || !single->is(Value::Kind::Array))
    return place.error("found no list \"single\", expected the template of one text");
  for (size_t i = 0; i < single->size(); ++i) {
    const Place at = place.at("single").at(std::to_string(i));
    const Value &piece = (*single)[i];
    const Value *special = piece.find("SpecialToken");
    const Value *id = special ? special->find("id") : nullptr;
    if (id && id->is(Value::Kind::String)) {
      if (Status status = appendIds(id->text(), value.find("special_tokens"), at); !status)
        return status;
    } else if (!piece.find("Sequence") || textSeen) {
      return json::wrongValue(at, piece, "a SpecialToken with an id, or one Sequence");
    } else {
      textSeen = true;
    }
  }
  if (!textSeen)
    return place.at("single").error("found no Sequence, expected the text's place");
  return {};
}

Status TemplateReader::takePair(const Value &value, const Place &place) {
  for (const char *key : {"cls", "sep"}) {
    const Value *pair = value.find(key);
    if (!pair || !pair->is(Value::Kind::Array) || pair->size() != 2)
      return place.error("found no pair \"" + std::string(key) + "\", expected a token and its id");
    if (Status status = appendId((*pair)[1], place.at(key), textSeen ? suffix : prefix); !status)
      return status;
    textSeen = true;
  }
  return {};
}

Status TemplateReader::take(const std::string &type, const Value &value, const Place &place) {
  if (type == "ByteLevel")
    return {}; // about offsets only
  const bool isTemplate = type == "TemplateProcessing";
  if (!isTemplate && type != "RobertaProcessing" && type != "BertProcessing")
    return unknownType(place, type,
                       "TemplateProcessing, RobertaProcessing, BertProcessing, ByteLevel or a "
                       "Sequence of them");
  if (found)
    return place.error("found a second template, expected one at most");
  found = true;
  return isTemplate ? takeTemplate(value, place) : takePair(value, place);
}

} // namespace

Status readNormalizer(const Value &value, const Place &place, std::vector<NormalizerStep> &steps) {
  return eachStep(value, place, "normalizers",
                  [&](const std::string &type, const Value &item, const Place &at) {
                    return takeNormalizer(type, item, at, steps);
                  });
}

Status readPreTokenizer(const Value &value, const Place &place,
                        std::vector<PreTokenizerStep> &steps) {
  return eachStep(value, place, "pretokenizers",
                  [&](const std::string &type, const Value &item, const Place &at) {
                    return takePreTokenizer(type, item, at, steps);
                  });
}

Status readDecoder(const Value &value, const Place &place, std::vector<DecoderStep> &steps) {
  return eachStep(value, place, "decoders",
                  [&](const std::string &type, const Value &item, const Place &at) {
                    return takeDecoder(type, item, at, steps);
                  });
}

Status readPostProcessor(const Value &value, const Place &place, std::vector<int32_t> &prefix,
                         std::vector<int32_t> &suffix) {
  TemplateReader reader(prefix, suffix);
  return eachStep(value, place, "processors",
                  [&](const std::string &type, const Value &item, const Place &at) {
                    return reader.take(type, item, at);
                  });
}

} // namespace llmc::tokenizers
