// SPDX-License-Identifier: Apache-2.0
// Rotary scaling in both spellings: rope_theta beside rope_scaling {type | rope_type} (transformers
// 4), or all of it in rope_parameters (transformers 5).
#include "frontends/huggingface/Config.h"

namespace llmc::huggingface {

using json::Place;
using json::Value;

namespace {

const std::vector<const char *> kinds = {"default", "linear", "llama3", "yarn", "dynamic"};

// The kind decides which other keys the object may hold.
Status readKind(const Value &object, const Place &place, int &kind) {
  if (!object.is(Value::Kind::Object))
    return wrongValue(place, object, "an object or null");
  const Value *type = object.find("rope_type"), *oldType = object.find("type");
  kind = 0;
  if (type)
    if (Status status = readWord(*type, place.at("rope_type"), kinds, kind); !status)
      return status;
  int oldKind = kind;
  if (oldType)
    if (Status status = readWord(*oldType, place.at("type"), kinds, oldKind); !status)
      return status;
  if (type && oldKind != kind) {
    Error error = wrongValue(place.at("type"), *oldType,
                             "the same as \"rope_type\" (" + describe(*type) + ")");
    return std::move(error).withNote(
        place.at("rope_type").note(describe(*type) + " comes from here"));
  }
  kind = oldKind;
  return {};
}

// A number that two places give must be the same in both.
template <typename T>
Status agree(const Place &place, const std::optional<T> &value, const Place &otherPlace,
             const std::optional<T> &other) {
  if (!value || !other || *value == *other)
    return {};
  Value found(static_cast<double>(*value)), expected(static_cast<double>(*other));
  Error error = wrongValue(place, found,
                           "the same as " + otherPlace.pointer + " (" + describe(expected) + ")");
  return std::move(error).withNote(otherPlace.note(describe(expected) + " comes from here"));
}

void fill(const RawRope &raw, model::RopeConfig &rope) {
  rope.factor = raw.factor.value_or(rope.factor);
  rope.lowFreqFactor = raw.lowFreqFactor.value_or(rope.lowFreqFactor);
  rope.highFreqFactor = raw.highFreqFactor.value_or(rope.highFreqFactor);
  // transformers takes a 0 here for an absent value.
  rope.betaFast = raw.betaFast.value_or(0) != 0 ? *raw.betaFast : rope.betaFast;
  rope.betaSlow = raw.betaSlow.value_or(0) != 0 ? *raw.betaSlow : rope.betaSlow;
  rope.attentionFactor = raw.attentionFactor;
  rope.mscale = raw.mscale.value_or(0);
  rope.mscaleAllDim = raw.mscaleAllDim.value_or(0);
  rope.truncate = raw.truncate.value_or(true);
}

Status checkDynamic(const model::RopeConfig &rope, const RawConfig &raw, const Place &place,
                    const Place &root) {
  if (rope.kind != model::RopeKind::Dynamic ||
      rope.originalMaxPositions <= raw.maxPositions.value_or(0))
    return {};
  std::string limit = std::to_string(raw.maxPositions.value_or(0));
  return place.at("original_max_position_embeddings")
      .error("found " + std::to_string(rope.originalMaxPositions) +
             ", expected at most max_position_embeddings (" + limit + ")")
      .withNote(root.at("max_position_embeddings").note(limit + " comes from here"));
}

} // namespace

Status deriveRope(const RawConfig &raw, const Place &root, model::RopeConfig &rope) {
  rope.theta = raw.ropeTheta.value_or(10000.0);
  const Value *object = raw.ropeParameters ? raw.ropeParameters : raw.ropeScaling;
  Place place = root.at(raw.ropeParameters ? "rope_parameters" : "rope_scaling");
  if (raw.ropeParameters && raw.ropeScaling)
    return root.at("rope_scaling")
        .error("found rope_scaling beside rope_parameters, expected one of them")
        .withNote(root.at("rope_parameters").note("the other one is here"));
  if (!object)
    return {};
  int kind = 0;
  if (Status status = readKind(*object, place, kind); !status)
    return status;
  RawRope entry;
  json::ReadOptions options = {ropeGroup(kind), true,
                               "a key of another rope_type, or one llmc must learn first"};
  if (Status status = readObject(ropeKeys(), *object, place, entry, options); !status)
    return status;
  if (Status status =
          agree(place.at("rope_theta"), entry.theta, root.at("rope_theta"), raw.ropeTheta);
      !status)
    return status;
  if (Status status =
          agree(place.at("original_max_position_embeddings"), entry.originalMaxPositions,
                root.at("original_max_position_embeddings"), raw.originalMaxPositions);
      !status)
    return status;
  rope.kind = static_cast<model::RopeKind>(kind);
  rope.theta = entry.theta.value_or(rope.theta);
  fill(entry, rope);
  // As transformers does: a context that is given nowhere is the model's own.
  if (rope.kind != model::RopeKind::Default && rope.kind != model::RopeKind::Linear)
    rope.originalMaxPositions = entry.originalMaxPositions.value_or(
        raw.originalMaxPositions.value_or(raw.maxPositions.value_or(0)));
  return checkDynamic(rope, raw, place, root);
}

} // namespace llmc::huggingface
