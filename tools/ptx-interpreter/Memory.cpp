// SPDX-License-Identifier: Apache-2.0
// Buffers, initialised bits, and the two race checkers.
#include "tools/ptx-interpreter/Memory.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>

namespace llmc::ptx {

namespace {
constexpr unsigned spaceShift = 56;
constexpr uint64_t pageBytes = 1024; // of memory described by one page of stamps
constexpr uint64_t alignment = 512;  // of buffers, as the CUDA driver gives
constexpr uint64_t guardBytes = 1 << 20;
constexpr uint16_t severalWarps = 0xffff;
} // namespace

uint64_t genericAddress(Space space, uint64_t offset) {
  switch (space) {
  case Space::Shared:
  case Space::Parameter:
  case Space::Local:
    return uint64_t(space) << spaceShift | lowBits(offset, 32);
  default:
    return offset;
  }
}

uint64_t windowOffset(uint64_t address) { return lowBits(address, 32); }

Space spaceOfGeneric(uint64_t address) {
  uint64_t tag = address >> spaceShift;
  if (tag == uint64_t(Space::Shared) || tag == uint64_t(Space::Parameter) ||
      tag == uint64_t(Space::Local))
    return static_cast<Space>(tag);
  return Space::Global;
}

bool allMarked(const uint8_t *bits, uint64_t offset, uint64_t size) {
  if (offset % 8 + size <= 8) { // within one byte of the map, as nearly all accesses are
    unsigned wanted = ((1u << size) - 1) << (offset % 8);
    return (bits[offset / 8] & wanted) == wanted;
  }
  for (uint64_t byte = offset; byte < offset + size; ++byte)
    if (!(bits[byte / 8] >> (byte % 8) & 1))
      return false;
  return true;
}

void mark(uint8_t *bits, uint64_t offset, uint64_t size) {
  uint64_t end = offset + size;
  while (offset < end && offset % 8) {
    bits[offset / 8] |= uint8_t(1u << (offset % 8));
    ++offset;
  }
  if (offset >= end)
    return;
  std::memset(bits + offset / 8, 0xff, (end - offset) / 8);
  for (offset = end - end % 8; offset < end; ++offset)
    bits[offset / 8] |= uint8_t(1u << (offset % 8));
}

uint64_t GlobalMemory::allocate(uint64_t size) {
  if (size == 0 || size > limit - inUse)
    return 0;
  Buffer buffer;
  buffer.size = size;
  buffer.bytes = allocateZeroed<uint8_t>(size);
  buffer.initialised = allocateZeroed<uint8_t>(size / 8 + 1);
  if (!buffer.bytes || !buffer.initialised)
    return 0;
  uint64_t address = nextAddress;
  nextAddress += (size + guardBytes + alignment - 1) / alignment * alignment;
  inUse += size;
  buffers.emplace(address, std::move(buffer));
  last = buffers.end();
  return address;
}

bool GlobalMemory::release(uint64_t address) {
  auto found = buffers.find(address);
  if (found == buffers.end())
    return false;
  inUse -= found->second.size;
  buffers.erase(found);
  last = buffers.end();
  return true;
}

GlobalMemory::Buffer *GlobalMemory::find(uint64_t address, uint64_t size, uint64_t &offset) {
  auto holds = [&](Buffers::iterator entry) {
    return address >= entry->first && address - entry->first <= entry->second.size &&
           size <= entry->second.size - (address - entry->first);
  };
  if (last == buffers.end() || !holds(last)) {
    auto above = buffers.upper_bound(address);
    if (above == buffers.begin() || !holds(std::prev(above)))
      return nullptr;
    last = std::prev(above);
  }
  offset = address - last->first;
  return &last->second;
}

bool GlobalMemory::contains(uint64_t address, uint64_t size) {
  uint64_t offset;
  return find(address, size, offset) != nullptr;
}

bool GlobalMemory::write(uint64_t address, const void *source, uint64_t size) {
  uint64_t offset = 0;
  Buffer *buffer = find(address, size, offset);
  if (!buffer)
    return false;
  std::memcpy(buffer->bytes.get() + offset, source, size);
  mark(buffer->initialised.get(), offset, size);
  return true;
}

bool GlobalMemory::read(uint64_t address, void *destination, uint64_t size) {
  uint64_t offset = 0;
  Buffer *buffer = find(address, size, offset);
  if (!buffer)
    return false;
  std::memcpy(destination, buffer->bytes.get() + offset, size);
  return true;
}

bool GlobalMemory::fill(uint64_t address, uint8_t value, uint64_t size) {
  uint64_t offset = 0;
  Buffer *buffer = find(address, size, offset);
  if (!buffer)
    return false;
  std::memset(buffer->bytes.get() + offset, value, size);
  mark(buffer->initialised.get(), offset, size);
  return true;
}

void GlobalMemory::beginLaunch(uint64_t blocks) {
  // A grid of more blocks than stamps wraps within the launch; its instruction budget ends it long
  // before.
  if (blocks + 2 > UINT32_MAX - nextStamp) {
    for (auto &entry : buffers)
      entry.second.stamps.clear();
    nextStamp = 1;
  }
  firstStamp = nextStamp;
  nextStamp += uint32_t(std::min<uint64_t>(blocks + 1, UINT32_MAX - 2));
}

GlobalMemory::Stamps *GlobalMemory::stampsOf(Buffer &buffer, uint64_t offset) {
  if (buffer.stamps.empty())
    buffer.stamps.resize(buffer.size / pageBytes + 1);
  HeapArray<Stamps> &page = buffer.stamps[offset / pageBytes];
  if (!page)
    page = allocateZeroed<Stamps>(pageBytes);
  return page ? &page[offset % pageBytes] : nullptr;
}

void GlobalMemory::checkRaces(Buffer &buffer, uint64_t offset, uint32_t size, bool write,
                              uint32_t stamp, Findings &findings) {
  // An access is aligned to its size, which divides a page, so it lies in one page.
  Stamps *stamps = stampsOf(buffer, offset);
  if (!stamps)
    return; // the host has no memory left for the shadow; the access itself is fine
  for (Stamps *end = stamps + size; stamps != end; ++stamps) {
    bool written = stamps->writer >= firstStamp, isRead = stamps->reader >= firstStamp;
    if (written && stamps->writer != stamp)
      findings.add(write ? ReportKind::BlocksWriteAfterWrite : ReportKind::BlocksReadAfterWrite);
    if (write && isRead && stamps->reader != stamp)
      findings.add(ReportKind::BlocksWriteAfterRead);
    if (write)
      stamps->writer = stamp;
    else
      stamps->reader = isRead && stamps->reader != stamp ? firstStamp : stamp;
  }
}

uint8_t *GlobalMemory::access(uint64_t address, uint32_t size, bool write, uint64_t block,
                              Findings &findings) {
  uint64_t offset = 0;
  Buffer *buffer = find(address, size, offset);
  if (!buffer)
    return nullptr;
  if (write)
    mark(buffer->initialised.get(), offset, size);
  else if (!allMarked(buffer->initialised.get(), offset, size))
    findings.add(ReportKind::UninitialisedGlobal);
  checkRaces(*buffer, offset, size, write, firstStamp + 1 + uint32_t(block), findings);
  return buffer->bytes.get() + offset;
}

std::string GlobalMemory::describe(uint64_t address) const {
  char text[160];
  auto above = buffers.upper_bound(address);
  if (above == buffers.begin()) {
    std::snprintf(text, sizeof text, "address 0x%" PRIx64 " is below every buffer", address);
    return text;
  }
  auto below = std::prev(above);
  std::snprintf(text, sizeof text,
                "address 0x%" PRIx64 " is byte %" PRIu64 " of the buffer at 0x%" PRIx64
                " of %" PRIu64 " bytes",
                address, address - below->first, below->first, below->second.size);
  return text;
}

void SharedMemory::reset(uint32_t size) {
  bytes.assign(size, 0xAA);
  shadows.assign(size, Shadow());
  epoch = 1;
}

uint8_t *SharedMemory::access(uint64_t offset, uint32_t size, bool write, uint32_t warp,
                              Findings &findings) {
  if (size > bytes.size() || offset > bytes.size() - size)
    return nullptr;
  for (uint32_t byte = 0; byte < size; ++byte) {
    Shadow &shadow = shadows[offset + byte];
    if (shadow.inFlight)
      findings.add(ReportKind::CopyStillInFlight);
    bool writtenNow = shadow.writeEpoch == epoch && shadow.writer != warp;
    if (write) {
      if (writtenNow)
        findings.add(ReportKind::SharedWriteAfterWrite);
      if (shadow.readEpoch == epoch && shadow.reader != warp)
        findings.add(ReportKind::SharedWriteAfterRead);
      shadow.writeEpoch = epoch;
      shadow.writer = uint16_t(warp);
      continue;
    }
    if (shadow.writeEpoch == 0)
      findings.add(ReportKind::UninitialisedShared);
    else if (writtenNow)
      findings.add(ReportKind::SharedReadAfterWrite);
    bool others = shadow.readEpoch == epoch && shadow.reader != warp;
    shadow.readEpoch = epoch;
    shadow.reader = others ? severalWarps : uint16_t(warp);
  }
  return bytes.data() + offset;
}

void SharedMemory::setInFlight(uint64_t offset, uint32_t size, bool inFlight) {
  for (uint32_t byte = 0; byte < size; ++byte)
    shadows[offset + byte].inFlight = inFlight;
}

} // namespace llmc::ptx
