// SPDX-License-Identifier: Apache-2.0
// What `llmc bench` can do instead of its rows. Each prints its tables and adds its part to the
// JSON. Options that were not given are made to fit the model.
#pragma once

#include "tools/llmc/bench/Report.h"

namespace llmc::tool {

Setting settingOf(const LoadedModel &loaded, const Judge &judge);

// --busy-neighbour
Status benchNeighbour(BenchOptions &options, Setting &setting, Json &json);
// --start: launches this program anew with --first-token.
Status benchStart(BenchOptions &options, Setting &setting, Json &json);
// --first-token: what a program does until it has the first token of a short prompt, and then a
// line about it for benchStart.
Status runFirstToken(const BenchOptions &options);

} // namespace llmc::tool
