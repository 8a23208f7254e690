// SPDX-License-Identifier: Apache-2.0
// Any bytes as a GGUF file. The first byte says how many zeros follow the rest: tensors need room,
// and a fuzzer should not have to write it.
#include "Checks.h"
#include "MemoryFile.h"
#include "frontends/gguf/OpenFile.h"

using namespace llmc;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  size_t extra = data[0] % 4 == 0 ? 0 : size_t(1) << (15 + data[0] % 8);
  fuzz::MemoryFile file(data + 1, size - 1, extra);
  Result<gguf::OpenedFile> opened = gguf::openFile(file.path());
  if (!opened) {
    fuzz::checkError(opened.error());
    return 0;
  }
  fuzz::checkWeights(opened->config, *opened->weights);
  if (!opened->tokenizer)
    fuzz::checkError(opened->tokenizer.error());
  return 0;
}
