// SPDX-License-Identifier: Apache-2.0
//
// Addresses inside a chunk: keys first, values after them. Token-major: each [token][head][width].
// Head-major: values [head][token][width], keys [head][width][token]. Scales of codes: [head][token],
// behind those.
#include "tools/llmc/compiler/CompareCaches.h"
#include "dialects/model/Quantize.h"
#include <algorithm>
#include <cstring>

namespace llmc::compare {
namespace {

constexpr int64_t kChunk = LLMC_KV_CHUNK_TOKENS;

uint64_t elementBytes(const llmc_cache &cache) {
  return cache.element == LLMC_I8 ? 1 : cache.element == LLMC_BF16 ? 2 : 4;
}

/// The finest that caches are written in.
uint64_t leastBytes(const llmc_artifact &artifact) {
  uint64_t least = sizeof(float);
  for (uint32_t c = 0; c < artifact.n_caches; ++c)
    least = std::min(least, elementBytes(artifact.caches[c]));
  return least;
}

float readFloat(const char *from) {
  float value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

float readElement(const llmc_cache &cache, const char *from) {
  if (cache.element == LLMC_I8)
    return static_cast<signed char>(*from);
  if (cache.element == LLMC_F32)
    return readFloat(from);
  uint16_t bits;
  std::memcpy(&bits, from, sizeof bits);
  return model::fromBFloat16(bits);
}

/// Where one element of a part lies, counted in elements.
int64_t placeIn(const llmc_cache &cache, bool isKey, int64_t head, int64_t token, int64_t i) {
  int64_t width = isKey ? cache.key_width : cache.value_width;
  if (cache.token_major)
    return (token * cache.kv_heads + head) * width + i;
  return head * kChunk * width + (isKey ? i * kChunk + token : token * width + i);
}

/// Bytes of a part before its scales.
int64_t elementsBytes(const llmc_cache &cache, bool isKey) {
  int64_t width = isKey ? cache.key_width : cache.value_width;
  return cache.kv_heads * width * kChunk * int64_t(elementBytes(cache));
}

/// Head and token of what lies `within` bytes into a part.
std::pair<int64_t, int64_t> headAndToken(const llmc_cache &cache, bool isKey, int64_t within) {
  int64_t scales = elementsBytes(cache, isKey);
  if (within >= scales) {
    int64_t scale = (within - scales) / int64_t(sizeof(float));
    return {scale / kChunk, scale % kChunk};
  }
  int64_t width = isKey ? cache.key_width : cache.value_width,
          place = within / int64_t(elementBytes(cache));
  if (cache.token_major)
    return {place / width % cache.kv_heads, place / width / cache.kv_heads};
  return {place / width / kChunk, isKey ? place % kChunk : place / width % kChunk};
}

void readPart(const llmc_cache &cache, const char *part, bool isKey, int64_t token,
              std::vector<float> &row) {
  int64_t width = isKey ? cache.key_width : cache.value_width;
  const char *scales = part + elementsBytes(cache, isKey);
  for (int64_t head = 0; head < cache.kv_heads; ++head) {
    float scale = 1;
    if (cache.element == LLMC_I8)
      scale = readFloat(scales + (head * kChunk + token) * int64_t(sizeof(float)));
    for (int64_t i = 0; i < width; ++i) {
      auto place = uint64_t(placeIn(cache, isKey, head, token, i));
      row.push_back(scale * readElement(cache, part + place * elementBytes(cache)));
    }
  }
}

} // namespace

reference::CachedRow readRow(const llmc_cache &cache, const llmc_sequence *sequence, int64_t slot) {
  reference::CachedRow row;
  auto chunk = static_cast<const char *>(inspect::chunkAddress(sequence, uint32_t(slot / kChunk)));
  if (!chunk)
    return row;
  readPart(cache, chunk + cache.offset, /*isKey=*/true, slot % kChunk, row.key);
  readPart(cache, chunk + cache.offset + cache.key_bytes, /*isKey=*/false, slot % kChunk,
           row.value);
  return row;
}

PagesCopy::PagesCopy(const llmc_artifact &artifact, const SequenceList &sequences)
    : artifact(artifact), sequences(sequences) {
  for (const llmc_sequence *sequence : sequences) {
    chunks.emplace_back();
    for (uint32_t chunk = 0;
         auto bytes = static_cast<const char *>(inspect::chunkAddress(sequence, chunk)); ++chunk)
      chunks.back().emplace_back(bytes, bytes + artifact.chunk_bytes);
  }
}

/// In words what lies `at` bytes into a chunk; empty where it may have changed.
std::string PagesCopy::placeOf(uint64_t at, uint64_t sequence, uint32_t chunk, uint32_t own,
                               const std::vector<std::pair<uint64_t, int64_t>> &slots) const {
  for (uint32_t c = 0; c < artifact.n_caches; ++c) {
    const llmc_cache &cache = artifact.caches[c];
    if (at < cache.offset || at >= cache.offset + cache.key_bytes + cache.value_bytes)
      continue;
    bool isKey = at < cache.offset + cache.key_bytes;
    uint64_t within = at - cache.offset - (isKey ? 0 : cache.key_bytes);
    auto [head, token] = headAndToken(cache, isKey, int64_t(within));
    int64_t slot = chunk * kChunk + token;
    if (c == own && std::find(slots.begin(), slots.end(), std::pair(sequence, slot)) != slots.end())
      return {};
    return std::string(cache.name) + ", " + (isKey ? "keys" : "values") + ", head " +
           std::to_string(head) + " of slot " + std::to_string(slot) + " of sequence " +
           std::to_string(sequence);
  }
  return "a place between caches";
}

std::optional<std::string>
PagesCopy::changedElsewhere(uint32_t own,
                            const std::vector<std::pair<uint64_t, int64_t>> &slots) const {
  const uint64_t least = leastBytes(artifact);
  for (size_t s = 0; s < chunks.size(); ++s)
    for (uint32_t chunk = 0; chunk < chunks[s].size(); ++chunk) {
      const char *before = chunks[s][chunk].data();
      auto now = static_cast<const char *>(inspect::chunkAddress(sequences[s], chunk));
      if (!std::memcmp(before, now, size_t(artifact.chunk_bytes)))
        continue;
      for (uint64_t at = 0; at < artifact.chunk_bytes; at += least)
        if (std::memcmp(before + at, now + at, least))
          if (std::string place = placeOf(at, s, chunk, own, slots); !place.empty())
            return place;
    }
  return std::nullopt;
}

} // namespace llmc::compare
