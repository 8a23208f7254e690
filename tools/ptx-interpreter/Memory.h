// SPDX-License-Identifier: Apache-2.0
// Device memory and its checkers. Global memory is a set of buffers at made-up device addresses
// with guard gaps, so no host address is ever valid. Each byte knows whether it was written and,
// within a launch, which blocks touched it; each shared byte which warps touched it since the last
// barrier.
#ifndef LLMC_TOOLS_PTX_INTERPRETER_MEMORY_H
#define LLMC_TOOLS_PTX_INTERPRETER_MEMORY_H

#include "tools/ptx-interpreter/Module.h"
#include "tools/ptx-interpreter/Report.h"

#include <cstdlib>
#include <map>
#include <memory>

namespace llmc::ptx {

/// Generic addresses carry their space in the top byte; global addresses are themselves.
uint64_t genericAddress(Space space, uint64_t offset);
uint64_t windowOffset(uint64_t address);
Space spaceOfGeneric(uint64_t address);

/// Zeroed memory from the C heap, which hands out untouched pages lazily and fails with a null, not
/// an exception.
struct FreeDeleter {
  void operator()(void *memory) const { std::free(memory); }
};
template <typename Element> using HeapArray = std::unique_ptr<Element[], FreeDeleter>;
template <typename Element> HeapArray<Element> allocateZeroed(size_t count) {
  return HeapArray<Element>(
      static_cast<Element *>(std::calloc(count ? count : 1, sizeof(Element))));
}

/// Findings of one access, at most one of each kind.
struct Findings {
  uint32_t kinds = 0; // bit set over ReportKind
  void add(ReportKind kind) { kinds |= 1u << static_cast<unsigned>(kind); }
  bool has(ReportKind kind) const { return kinds >> static_cast<unsigned>(kind) & 1; }
};

class GlobalMemory {
public:
  explicit GlobalMemory(uint64_t limitBytes) : limit(limitBytes) {}

  /// Device address of a new buffer, 0 when the limit or the host's memory is spent. Its bytes are
  /// uninitialised.
  uint64_t allocate(uint64_t size);
  bool release(uint64_t address);
  uint64_t bytesInUse() const { return inUse; }

  /// Whether [address, address + size) lies in one buffer.
  bool contains(uint64_t address, uint64_t size);

  /// Host-side copies; false when out of bounds. Written bytes become initialised.
  bool write(uint64_t address, const void *source, uint64_t size);
  bool read(uint64_t address, void *destination, uint64_t size);
  bool fill(uint64_t address, uint8_t value, uint64_t size);

  /// Begins a launch of so many blocks: forgets who touched what.
  void beginLaunch(uint64_t blocks);

  /// A kernel's access; null when out of bounds. `block` is the linear block index.
  uint8_t *access(uint64_t address, uint32_t size, bool write, uint64_t block, Findings &findings);

  /// What lies around an address, in words.
  std::string describe(uint64_t address) const;

private:
  struct Stamps {
    uint32_t writer, reader;
  };
  struct Buffer {
    uint64_t size = 0;
    HeapArray<uint8_t> bytes;
    HeapArray<uint8_t> initialised;        // a bit a byte
    std::vector<HeapArray<Stamps>> stamps; // pages, made on first touch
  };
  using Buffers = std::map<uint64_t, Buffer>;

  Buffer *find(uint64_t address, uint64_t size, uint64_t &offset);
  Stamps *stampsOf(Buffer &buffer, uint64_t offset);
  void checkRaces(Buffer &buffer, uint64_t offset, uint32_t size, bool write, uint32_t stamp,
                  Findings &findings);

  Buffers buffers;
  Buffers::iterator last = buffers.end();
  uint64_t limit;
  uint64_t inUse = 0;
  uint64_t nextAddress = 0x100000000;
  uint32_t firstStamp = 1; // stamps below it are of earlier launches; itself means "several blocks"
  uint32_t nextStamp = 2;
};

/// Whether each byte of [offset, offset + size) is marked in a bit map.
bool allMarked(const uint8_t *bits, uint64_t offset, uint64_t size);
void mark(uint8_t *bits, uint64_t offset, uint64_t size);

class SharedMemory {
public:
  /// Fresh, uninitialised memory for a block.
  void reset(uint32_t size);
  /// A barrier of the whole block: what came before is ordered before what follows.
  void barrier() { ++epoch; }
  /// Null when out of bounds.
  uint8_t *access(uint64_t offset, uint32_t size, bool write, uint32_t warp, Findings &findings);
  /// Marks bytes as the target of an asynchronous copy, or the copy as arrived. In bounds by an
  /// earlier access.
  void setInFlight(uint64_t offset, uint32_t size, bool inFlight);
  uint32_t size() const { return uint32_t(bytes.size()); }

private:
  struct Shadow {
    uint32_t writeEpoch = 0, readEpoch = 0; // 0: never
    uint16_t writer = 0, reader = 0;
    bool inFlight = false;
  };
  std::vector<uint8_t> bytes;
  std::vector<Shadow> shadows;
  uint32_t epoch = 1;
};

} // namespace llmc::ptx

#endif
