// SPDX-License-Identifier: Apache-2.0
// One graph of an artefact: its commands, operands, slots, results and names.
#include "runtime/engine/ArtifactCheck.h"
#include "runtime/engine/Error.h"

namespace llmc {
namespace {

constexpr uint32_t kMaxTable = 1u << 24;
constexpr uint64_t kAcceptedBytes = 2 * sizeof(int32_t);

using ull = unsigned long long;

llmc_status checkTables(const CheckPlace &place, uint32_t index, const llmc_graph &g) {
  const bool counts = g.n_commands && g.n_commands <= kMaxTable && g.n_operands <= 65536 &&
                      g.n_slots <= kMaxTable && g.n_results && g.n_results <= kMaxTable &&
                      g.names_bytes;
  if (!counts || g.kind > LLMC_GRAPH_VERIFY)
    return fail(
        place.error, LLMC_BAD_ARTIFACT,
        "%s: graph %u: error: found kind %u, %u commands, %u operands, %u slots, %u results, "
        "%u bytes of names, expected kind 0 to 2 and sane counts; the file is damaged, "
        "compile it again",
        place.file, index, g.kind, g.n_commands, g.n_operands, g.n_slots, g.n_results,
        g.names_bytes);
  if (!place.mapping.holdsArray(g.commands, g.n_commands) ||
      !place.mapping.holdsArray(g.operands, g.n_operands) ||
      !place.mapping.holdsArray(g.slots, g.n_slots) ||
      !place.mapping.holdsArray(g.results, g.n_results) ||
      !place.mapping.holds(g.names, g.names_bytes) || g.names[g.names_bytes - 1])
    return fail(place.error, LLMC_BAD_ARTIFACT,
                "%s: graph %u: error: found a table outside the model's memory or names without an "
                "end, expected them inside; the file is damaged, compile it again",
                place.file, index);
  return LLMC_OK;
}

// The bytes that an operand of this kind may address, and whether its index is good.
bool operandLimit(const llmc_artifact &a, const llmc_operand &operand, uint64_t *limit) {
  switch (operand.kind) {
  case LLMC_OPERAND_ROWS:
    *limit = a.rows_arena_bytes;
    return true;
  case LLMC_OPERAND_OUTPUTS:
    *limit = a.outputs_arena_bytes;
    return true;
  case LLMC_OPERAND_WEIGHT:
    *limit = a.weights_bytes;
    return operand.index < a.n_weights;
  case LLMC_OPERAND_KV:
    *limit = a.chunk_bytes;
    return operand.index < a.n_caches;
  default:
    return false;
  }
}

llmc_status checkOperands(const CheckPlace &place, const llmc_artifact &a, uint32_t index,
                          const llmc_graph &g) {
  for (uint32_t i = 0; i < g.n_operands; ++i) {
    const llmc_operand &operand = g.operands[i];
    uint64_t limit = 0;
    if (!operandLimit(a, operand, &limit) || operand.offset > limit ||
        operand.line_bytes > limit - operand.offset)
      return fail(place.error, LLMC_BAD_ARTIFACT,
                  "%s: graph %u, operand %u: error: found kind %u, index %u, bytes %llu + %llu, "
                  "expected them inside %llu; the file is damaged, compile it again",
                  place.file, index, i, operand.kind, operand.index,
                  static_cast<ull>(operand.offset), static_cast<ull>(operand.line_bytes),
                  static_cast<ull>(limit));
  }
  for (uint32_t i = 0; i < g.n_slots; ++i)
    if (g.slots[i] >= g.n_operands)
      return fail(place.error, LLMC_BAD_ARTIFACT,
                  "%s: graph %u, slot %u: error: found operand %u, expected less than %u; the file "
                  "is damaged, compile it again",
                  place.file, index, i, g.slots[i], g.n_operands);
  return LLMC_OK;
}

llmc_status checkCommands(const CheckPlace &place, const llmc_artifact &a, uint32_t index,
                          const llmc_graph &g) {
  for (uint32_t i = 0; i < g.n_commands; ++i) {
    const llmc_command &c = g.commands[i];
    const bool slots = c.n_slots <= LLMC_MAX_OPERANDS && c.first_slot <= g.n_slots &&
                       c.n_slots <= g.n_slots - c.first_slot;
    if (!slots || c.kernel >= a.n_kernels || c.extent > LLMC_EXTENT_SEQUENCES ||
        !c.programs_per_chunk || c.dependency < -1 || c.dependency >= static_cast<int64_t>(i) ||
        c.name >= g.names_bytes)
      return fail(place.error, LLMC_BAD_ARTIFACT,
                  "%s: graph %u, command %u: error: found kernel %u, slots %u + %u, extent %u, %u "
                  "programs a chunk, dependency %d, name %u, expected each inside its table; the "
                  "file is damaged, compile it again",
                  place.file, index, i, c.kernel, c.first_slot, c.n_slots, c.extent,
                  c.programs_per_chunk, c.dependency, c.name);
  }
  return LLMC_OK;
}

llmc_status checkResults(const CheckPlace &place, const llmc_artifact &a, uint32_t index,
                         const llmc_graph &g) {
  bool hasLogits = false;
  for (uint32_t i = 0; i < g.n_results; ++i) {
    const llmc_result &result = g.results[i];
    const bool logits = result.kind == LLMC_RESULT_LOGITS;
    const uint64_t bytes = logits ? a.limits.vocabulary * sizeof(float) : kAcceptedBytes;
    if (result.kind > LLMC_RESULT_ACCEPTED || result.operand >= g.n_operands ||
        g.operands[result.operand].kind != LLMC_OPERAND_OUTPUTS ||
        g.operands[result.operand].line_bytes != bytes)
      return fail(
          place.error, LLMC_BAD_ARTIFACT,
          "%s: graph %u, result %u: error: found kind %u, operand %u, expected an output of "
          "%llu bytes a line; the file is damaged, compile it again",
          place.file, index, i, result.kind, result.operand, static_cast<ull>(bytes));
    hasLogits |= logits;
  }
  if (!hasLogits)
    return fail(place.error, LLMC_BAD_ARTIFACT,
                "%s: graph %u: error: found no logits among %u results, expected them; the file is "
                "damaged, compile it again",
                place.file, index, g.n_results);
  return LLMC_OK;
}

} // namespace

llmc_status checkGraph(const CheckPlace &place, const llmc_artifact &artifact, uint32_t index) {
  const llmc_graph &graph = artifact.graphs[index];
  if (llmc_status status = checkTables(place, index, graph))
    return status;
  if (llmc_status status = checkOperands(place, artifact, index, graph))
    return status;
  if (llmc_status status = checkCommands(place, artifact, index, graph))
    return status;
  return checkResults(place, artifact, index, graph);
}

} // namespace llmc
