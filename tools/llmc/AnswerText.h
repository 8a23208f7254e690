// SPDX-License-Identifier: Apache-2.0
// The text of new tokens, shown as it comes: whole characters only, and nothing that may turn out
// to belong to a stop string.
#pragma once

#include "llmc/sample.h"
#include "llmc/text.h"
#include "tools/llmc/LoadedModel.h"
#include <vector>

namespace llmc::tool {

class AnswerText {
public:
  // With `shown` text goes to stdout at once.
  Status start(const LoadedModel &loaded, const std::vector<std::string> &stops, bool shown);
  // A new text begins.
  void reset();
  Status add(int32_t token);
  // What is held back belongs to the text after all, unless a stop string was found.
  Status finish();

  // A stop string was found; the text ends before it.
  bool isStopped() const { return stopped; }
  // Up to the stop string, once finished.
  const std::string &text() const { return all; }

private:
  Status take(const char *bytes, size_t count);
  Status show(size_t end);

  std::unique_ptr<llmc_decoder, Destroyer<llmc_decoder_destroy>> decoder;
  std::unique_ptr<llmc_stop, Destroyer<llmc_stop_destroy>> stop;
  bool shown = false;
  bool stopped = false;
  std::string all;
  size_t printed = 0; // bytes of it
};

} // namespace llmc::tool
