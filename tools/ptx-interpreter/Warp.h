// SPDX-License-Identifier: Apache-2.0
// A warp: 32 lanes with their registers, run one instruction at a time for the lanes that share the
// lowest program counter. Lanes that reach a collective (shfl, vote, barrier) before its other
// members wait for them.
#ifndef LLMC_TOOLS_PTX_INTERPRETER_WARP_H
#define LLMC_TOOLS_PTX_INTERPRETER_WARP_H

#include "tools/ptx-interpreter/Forms.h"
#include "tools/ptx-interpreter/Memory.h"
#include "tools/ptx-interpreter/Report.h"

#include <deque>

namespace llmc::ptx {

/// Calls `body(lane)` for each set bit, lowest first.
template <typename Body> void forEachLane(uint32_t lanes, Body body) {
  for (; lanes; lanes &= lanes - 1)
    body(unsigned(__builtin_ctz(lanes)));
}

/// What the warps of a launch share; block fields are set anew for each block.
struct LaunchState {
  LaunchState(const Kernel &kernel, GlobalMemory &global, ReportLog &log,
              const std::vector<uint8_t> &parameters)
      : kernel(kernel), global(global), log(log), parameters(parameters) {}

  const Kernel &kernel;
  GlobalMemory &global;
  ReportLog &log;
  const std::vector<uint8_t> &parameters;
  uint64_t moduleGlobals = 0; // device address
  uint32_t gridSize[3] = {1, 1, 1};
  uint32_t blockSize[3] = {1, 1, 1};
  uint32_t blockIndex[3] = {0, 0, 0};
  uint64_t linearBlock = 0;
  uint64_t budgetLeft = 0;
  SharedMemory shared;
  Counters counters;
};

class Warp {
public:
  static constexpr unsigned width = 32;
  enum class Stop : uint8_t { Barrier, Done, Failed };

  Warp(LaunchState &launch, uint32_t index, uint32_t lanes);

  /// Back to the first instruction with nothing initialised, for the next block.
  void reset();
  /// Until a block barrier, the end, or a finding that ends the launch.
  Stop run();

  bool isDone() const { return live == 0; }
  uint64_t barrierIdentifier() const { return barrier; }
  void reportBarrierMismatch(const std::string &detail) {
    report(ReportKind::BarrierMismatch, detail);
  }

private:
  using Lanes = uint32_t; // a bit a lane
  static constexpr unsigned quarterBits = 16, quarters = 4;
  enum class Step : uint8_t { Next, Jumped, Waiting, Barrier, Failed };

  // Scheduling.
  bool pick();
  void park();
  Lanes present() const;
  bool gather(Lanes required);
  Step execute(const Instruction &instruction);
  Step branch(const Instruction &instruction, Lanes taken);
  Step exitLanes(Lanes leaving);
  Lanes predicated(const Instruction &instruction);

  // Operands. A source row has a cell for each lane; `scratch` backs those that are not registers.
  const uint64_t *source(const Operand &operand, Lanes lanes, uint64_t *scratch, bool check = true);
  uint64_t special(SpecialRegister which, unsigned lane) const;
  Lanes validLanes(const Operand &operand) const;
  void store(const Operand &operand, unsigned lane, uint64_t value);
  void markValid(const Operand &operand, Lanes lanes, bool valid = true);
  Lanes validLanes(const Operand &operand, unsigned quarter) const;
  /// Of `lanes`, those in known[q] have quarter q initialised; the register has `count` of them.
  void markQuarters(const Operand &operand, Lanes lanes, const Lanes *known, unsigned count);

  Step evaluate(const Instruction &instruction, Lanes lanes);
  Step move(const Instruction &instruction, Lanes lanes);
  Step select(const Instruction &instruction, Lanes lanes);
  Step setPredicate(const Instruction &instruction, Lanes lanes);

  // Memory.
  struct Access {
    uint64_t address;
    Space space;
  };
  Step load(const Instruction &instruction, Lanes lanes);
  Step storeMemory(const Instruction &instruction, Lanes lanes);
  Access resolve(const Instruction &instruction, const Operand &operand, unsigned lane) const;
  uint8_t *reach(const Access &access, uint32_t size, bool write, unsigned lane);
  uint8_t *reachLocal(uint64_t offset, uint32_t size, bool write, unsigned lane,
                      Findings &findings);
  bool checkAddressRegister(const Operand &operand, Lanes lanes);
  void count(const Access *accesses, unsigned number, uint32_t size, bool write);

  // Asynchronous copies to shared memory: bytes arrive only when they are waited for, the latest a
  // device may be.
  struct Copy {
    uint64_t to, from;
    uint32_t size, fromSize; // the rest is zero
  };
  struct Copies {
    std::deque<std::vector<Copy>> groups;
    std::vector<Copy> open; // not yet committed
  };
  Step asyncCopy(const Instruction &instruction, Lanes lanes);
  bool reachOrigin(const Access &origin, uint32_t size, uint32_t fromSize, unsigned lane);
  Step commitCopies(Lanes lanes);
  Step waitForCopies(const Instruction &instruction, Lanes lanes);
  void arrive(const Copy &copy, unsigned lane);
  void reportPendingCopies(Lanes leaving);

  // Tensor cores.
  Step loadMatrix(const Instruction &instruction);
  Step multiplyMatrices(const Instruction &instruction);
  bool gatherWholeWarp(const Instruction &instruction, Step &step);

  // Exchange between lanes.
  Step blockBarrier(const Instruction &instruction);
  Step warpBarrier(const Instruction &instruction);
  Step shuffle(const Instruction &instruction);
  Step vote(const Instruction &instruction);
  bool gatherMembers(const Instruction &instruction, const Operand &mask, Lanes &lanes, Step &step);

  /// Notes a finding at the current instruction; Failed when it ends the launch, else Next.
  Step report(ReportKind kind, const std::string &detail);
  bool isFirst(ReportKind kind) const;
  std::string place(unsigned lane) const;

  LaunchState &launch;
  uint32_t index;
  Lanes existing;
  std::vector<uint64_t> cells;      // register * width + lane
  std::vector<Lanes> valid;         // by register
  std::vector<Lanes> validQuarters; // register * quarters + quarter, where not valid as a whole
  std::vector<uint8_t> local;       // lane * localBytes + offset
  std::vector<uint8_t> localInitialised; // a bit a byte, per lane rounded up to bytes
  std::vector<Copies> copies = std::vector<Copies>(width);
  size_t pendingCopies = 0;
  uint32_t counters[width]; // of lanes not in the running group
  Lanes live = 0, blocked = 0, active = 0;
  uint32_t counter = 0; // of the running group
  uint32_t lowestWaiting = UINT32_MAX;
  uint64_t barrier = 0;
  bool failed = false;
};

} // namespace llmc::ptx

#endif
