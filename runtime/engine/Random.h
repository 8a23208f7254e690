// SPDX-License-Identifier: Apache-2.0
// Random numbers without a state: a counter run through Philox4x32-10 (Salmon, Moraes, Dror, Shaw:
// "Parallel random numbers: as easy as 1, 2, 3", SC 2011). Any draw can be made again, in any order.
#pragma once

#include <array>
#include <cstdint>

namespace llmc {

using PhiloxCounter = std::array<uint32_t, 4>; // lowest word first
using PhiloxKey = std::array<uint32_t, 2>;

PhiloxCounter philox(PhiloxCounter counter, PhiloxKey key);

} // namespace llmc
