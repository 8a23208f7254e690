// SPDX-License-Identifier: Apache-2.0
// The tables of one artefact as plain C++: graphs as commands over operands, weights with their
// packing, caches, kernels, limits and arena sizes. The middle of the artefact writer: read from
// the module (ReadTables.h), streamed by the packer (Pack.h), written as constants
// (TablesObject.h). No LLVM and no MLIR here.
#pragma once

#include "dialects/model/Quantize.h"
#include "llmc/abi.h"

#include <optional>
#include <string>
#include <vector>

namespace llmc::artifact {

// A computed weight: row p = magnitude * [cos(p * f_0) ..., sin(p * f_0) ...].
struct RopeTable {
  std::vector<float> frequencies;
  float magnitude = 1;
};

struct PackedWeight {
  std::string name; // canonical names joined by '+'; the symbol of a computed one
  uint64_t rows = 0;
  uint64_t columns = 0;
  model::Format format;   // of an element
  uint64_t panelRows = 0; // 0: row-major
  uint64_t offset = 0;    // from the start of the weights
  uint64_t bytes = 0;
  std::vector<std::string> sources; // stacked by rows
  std::optional<RopeTable> computed;

  // Format and layout in words: "panel32<int4>" or "row_major<f32>".
  std::string layout() const {
    return (panelRows ? "panel" + std::to_string(panelRows) : std::string("row_major")) + "<" +
           model::name(format) + ">";
  }
};

struct Cache {
  std::string name;
  uint32_t heads = 0;
  uint32_t keyWidth = 0;
  uint32_t valueWidth = 0;
  bool tokenMajor = false;
  llmc_element element = LLMC_F32;
  uint64_t offset = 0; // inside a chunk block
  uint64_t keyBytes = 0;
  uint64_t valueBytes = 0;
};

struct Graph {
  llmc_graph_kind kind = LLMC_GRAPH_PREFILL;
  std::vector<llmc_command> commands;
  std::vector<llmc_operand> operands;
  std::vector<uint16_t> slots;
  std::vector<llmc_result> results;
  std::string names; // NUL-terminated strings, one after the other
};

struct Limits {
  uint32_t hidden = 0;
  uint32_t vocabulary = 0;
  uint32_t layers = 0;
  uint32_t maxPositions = 0;
  uint32_t maxSequences = 0;
  std::vector<int32_t> eos;
};

struct Tables {
  std::vector<Graph> graphs;
  std::vector<std::string> kernels; // in the order of their first launch
  std::vector<Cache> caches;
  std::vector<PackedWeight> weights; // by ascending offset
  Limits limits;
  uint64_t rowsArenaBytes = 0;
  uint64_t outputsArenaBytes = 0;
  uint64_t chunkBytes = 0;
  uint64_t weightsBytes = 0;
};

// XXH64 of packed bytes, known once they have been written.
struct WeightHashes {
  std::vector<uint64_t> weights; // one for each of Tables.weights
  uint64_t all = 0;              // of all bytes, gaps between weights included
};

} // namespace llmc::artifact
