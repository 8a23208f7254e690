// SPDX-License-Identifier: Apache-2.0
#include "tools/llmc/AnswerText.h"
#include "tools/llmc/Format.h"

namespace llmc::tool {

Status AnswerText::start(const LoadedModel &loaded, const std::vector<std::string> &stops,
                         bool isShown) {
  CallError error;
  llmc_decoder *madeDecoder = nullptr;
  if (llmc_decoder_create(loaded.model.get(), LLMC_DECODE_SKIP_SPECIAL, &madeDecoder, error.raw()))
    return errorAt(loaded.path, "", error.take().message);
  decoder.reset(madeDecoder);
  std::vector<const char *> strings;
  for (const std::string &string : stops)
    strings.push_back(string.c_str());
  llmc_stop *madeStop = nullptr;
  if (llmc_stop_create(loaded.context.get(), strings.data(), static_cast<uint32_t>(strings.size()),
                       &madeStop, error.raw()))
    return errorAt("--stop", "", error.take().message);
  stop.reset(madeStop);
  shown = isShown;
  return {};
}

void AnswerText::reset() {
  const char *rest = nullptr;
  size_t bytes = 0;
  llmc_decoder_finish(decoder.get(), &rest, &bytes);
  llmc_stop_reset(stop.get());
  stopped = false;
  all.clear();
  printed = 0;
}

Status AnswerText::add(int32_t token) {
  CallError error;
  const char *bytes = nullptr;
  size_t count = 0;
  if (llmc_decoder_add(decoder.get(), token, &bytes, &count, error.raw()))
    return error.take();
  return take(bytes, count);
}

Status AnswerText::finish() {
  const char *bytes = nullptr;
  size_t count = 0;
  llmc_decoder_finish(decoder.get(), &bytes, &count);
  if (!stopped)
    if (Status status = take(bytes, count); !status)
      return status;
  return show(all.size());
}

Status AnswerText::take(const char *bytes, size_t count) {
  if (stopped)
    return {};
  all.append(bytes, count);
  CallError error;
  llmc_stop_result result = {};
  result.struct_size = sizeof result;
  if (llmc_stop_feed(stop.get(), bytes, count, &result, error.raw()))
    return error.take();
  stopped = result.found >= 0;
  if (stopped)
    all.resize(result.safe);
  return show(result.safe);
}

Status AnswerText::show(size_t end) {
  // Never half a character: a stop string may begin with the first bytes of one.
  while (end < all.size() && end > printed && (static_cast<unsigned char>(all[end]) & 0xc0) == 0x80)
    --end;
  if (!shown || end <= printed)
    return {};
  print(std::string_view(all).substr(printed, end - printed));
  printed = end;
  return finishOutput();
}

} // namespace llmc::tool
