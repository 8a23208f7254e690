// SPDX-License-Identifier: Apache-2.0
// llmc/text.h: checks what a caller gave, and hands over.
#include "llmc/llmc.h"
#include "llmc/text.h"
#include "runtime/engine/Error.h"
#include "runtime/engine/Model.h"
#include "runtime/text/Decoder.h"
#include "runtime/text/Tokenizer.h"

using namespace llmc;
using text::kNone;
using text::Tables;

// Its output buffer lies behind it, in the same block of memory.
struct llmc_decoder {
  llmc_decoder(llmc_model &model, uint32_t flags)
      : model(model), decoder(model.tokenizer->tables(), flags) {
    model.retain();
  }
  ~llmc_decoder() { model.release(); }
  char *text() { return reinterpret_cast<char *>(this + 1); }
  static size_t room(const llmc_model &model) {
    return text::Decoder::mostBytes(model.tokenizer->tables());
  }

  llmc_model &model;
  text::Decoder decoder;
};

namespace {

int32_t idOrNone(uint32_t token) { return token == kNone ? -1 : static_cast<int32_t>(token); }

// What every call begins with.
llmc_status checkModel(const llmc_model *model, const char *call, llmc_error *error) {
  if (!model)
    return fail(error, LLMC_INVALID_ARGUMENT, "%s: error: found no model, expected one", call);
  if (!model->tokenizer)
    return fail(error, LLMC_NO_TOKENIZER,
                "%s: error: found no tokenizer in this model, expected one; compile it from a "
                "source that has one, or give token ids",
                call);
  return LLMC_OK;
}

llmc_status missing(const char *call, llmc_error *error) {
  return fail(error, LLMC_INVALID_ARGUMENT,
              "%s: error: found a NULL or unknown flags among the arguments, expected memory and "
              "flags of this version",
              call);
}

llmc_status tooSmall(const char *call, uint64_t needed, uint64_t capacity, llmc_error *error) {
  return fail(error, LLMC_TOO_SMALL, "%s: error: found room for %llu, expected room for %llu", call,
              static_cast<unsigned long long>(capacity), static_cast<unsigned long long>(needed));
}

llmc_status checkToken(const llmc_model &model, int32_t token, const char *call,
                       llmc_error *error) {
  const uint32_t vocabulary = model.artifact->limits.vocabulary;
  const uint32_t tokens = model.tokenizer->tables().header->n_tokens;
  const uint32_t end = tokens > vocabulary ? tokens : vocabulary;
  if (token >= 0 && static_cast<uint32_t>(token) < end)
    return LLMC_OK;
  return fail(error, LLMC_INVALID_ARGUMENT, "%s: error: found token id %d, expected 0 to %u", call,
              token, end - 1);
}

} // namespace

extern "C" llmc_status llmc_model_get_tokenizer_info(const llmc_model *model,
                                                     llmc_tokenizer_info *info,
                                                     llmc_error *error) {
  if (llmc_status status = checkModel(model, "tokenizer info", error))
    return status;
  if (!info || info->struct_size < sizeof *info)
    return fail(error, LLMC_INVALID_ARGUMENT,
                "tokenizer info: error: found no info or a struct_size below %zu, expected it",
                sizeof *info);
  const Tables &tables = model->tokenizer->tables();
  const llmc_tokenizer_header &h = *tables.header;
  *info = {info->struct_size,
           h.n_tokens,
           idOrNone(h.bos),
           idOrNone(h.eos),
           idOrNone(h.unk),
           idOrNone(h.pad),
           static_cast<uint32_t>(tables.prefix.size),
           static_cast<uint32_t>(tables.suffix.size),
           tables.ofBytes() ? "byte-level" : "characters",
           static_cast<uint32_t>(tables.templates.size),
           0};
  return LLMC_OK;
}

extern "C" llmc_status llmc_encode(const llmc_model *model, const char *text, size_t bytes,
                                   uint32_t flags, int32_t *tokens, size_t capacity,
                                   size_t *n_tokens, llmc_error *error) {
  if (llmc_status status = checkModel(model, "encode", error))
    return status;
  if ((!text && bytes) || (!tokens && capacity) || !n_tokens ||
      flags & ~(LLMC_ENCODE_ADD_SPECIAL | LLMC_ENCODE_PARSE_SPECIAL))
    return missing("encode", error);
  uint64_t needed = 0;
  if (llmc_status status =
          model->tokenizer->encode({text, bytes}, flags, tokens, capacity, needed, error))
    return status;
  *n_tokens = needed;
  return needed > capacity ? tooSmall("encode", needed, capacity, error) : LLMC_OK;
}

extern "C" llmc_status llmc_decode(const llmc_model *model, const int32_t *tokens, size_t n_tokens,
                                   uint32_t flags, char *text, size_t capacity, size_t *bytes,
                                   llmc_error *error) {
  if (llmc_status status = checkModel(model, "decode", error))
    return status;
  if ((!tokens && n_tokens) || (!text && capacity) || !bytes || flags & ~LLMC_DECODE_SKIP_SPECIAL)
    return missing("decode", error);
  for (size_t i = 0; i < n_tokens; ++i)
    if (llmc_status status = checkToken(*model, tokens[i], "decode", error))
      return status;
  *bytes = model->tokenizer->decode({tokens, n_tokens}, flags, text, capacity);
  return *bytes > capacity ? tooSmall("decode", *bytes, capacity, error) : LLMC_OK;
}

extern "C" llmc_status llmc_token_bytes(const llmc_model *model, int32_t token, const char **bytes,
                                        size_t *count, llmc_error *error) {
  if (llmc_status status = checkModel(model, "token bytes", error))
    return status;
  if (!bytes || !count)
    return missing("token bytes", error);
  if (llmc_status status = checkToken(*model, token, "token bytes", error))
    return status;
  const Tables &tables = model->tokenizer->tables();
  const bool known = static_cast<uint32_t>(token) < tables.header->n_tokens;
  const text::Text text = known ? tables.decoded(static_cast<uint32_t>(token)) : text::Text{"", 0};
  *bytes = text.data;
  *count = text.size;
  return LLMC_OK;
}

extern "C" int llmc_token_is_special(const llmc_model *model, int32_t token) {
  if (!model || !model->tokenizer || token < 0)
    return 0;
  const Tables &tables = model->tokenizer->tables();
  return static_cast<uint32_t>(token) < tables.header->n_tokens &&
         tables.tokenFlags[static_cast<uint32_t>(token)] & LLMC_TOKEN_SPECIAL;
}

extern "C" llmc_status llmc_decoder_create(llmc_model *model, uint32_t flags,
                                           llmc_decoder **decoder, llmc_error *error) {
  if (llmc_status status = checkModel(model, "decoder", error))
    return status;
  if (!decoder || flags & ~LLMC_DECODE_SKIP_SPECIAL)
    return missing("decoder", error);
  const size_t bytes = sizeof(llmc_decoder) + llmc_decoder::room(*model);
  void *memory = model->context.allocator.allocate(bytes);
  if (!memory)
    return fail(error, LLMC_OUT_OF_MEMORY, "decoder: error: no memory for %zu bytes", bytes);
  *decoder = new (memory) llmc_decoder(*model, flags);
  return LLMC_OK;
}

extern "C" void llmc_decoder_destroy(llmc_decoder *decoder) {
  if (!decoder)
    return;
  llmc_model &model = decoder->model;
  const size_t bytes = sizeof(llmc_decoder) + llmc_decoder::room(model);
  model.retain(); // the allocator is the model's context's
  decoder->~llmc_decoder();
  model.context.allocator.release(decoder, bytes);
  model.release();
}

extern "C" llmc_status llmc_decoder_add(llmc_decoder *decoder, int32_t token, const char **text,
                                        size_t *bytes, llmc_error *error) {
  if (!decoder || !text || !bytes)
    return missing("decoder", error);
  if (llmc_status status = checkToken(decoder->model, token, "decoder", error))
    return status;
  text::Output out(decoder->text(), llmc_decoder::room(decoder->model));
  if (decoder->decoder.isToken(token))
    decoder->decoder.add(static_cast<uint32_t>(token), out);
  *text = decoder->text();
  *bytes = out.size();
  return LLMC_OK;
}

extern "C" void llmc_decoder_finish(llmc_decoder *decoder, const char **text, size_t *bytes) {
  if (!decoder || !text || !bytes)
    return;
  text::Output out(decoder->text(), llmc_decoder::room(decoder->model));
  decoder->decoder.finish(out);
  *text = decoder->text();
  *bytes = out.size();
}

extern "C" llmc_status llmc_chat_template(const llmc_model *model, const char *name,
                                          const char **text, size_t *bytes, llmc_error *error) {
  if (llmc_status status = checkModel(model, "chat template", error))
    return status;
  if (!text || !bytes)
    return missing("chat template", error);
  const Tables &tables = model->tokenizer->tables();
  const char *wanted = name ? name : "default";
  for (const llmc_tokenizer_template &item : tables.templates)
    if (equal(tables.string(item.name), {wanted, strlen(wanted)})) {
      const text::Text found = tables.string(item.text);
      *text = found.data;
      *bytes = found.size;
      return LLMC_OK;
    }
  return fail(error, LLMC_NOT_FOUND,
              "chat template: error: found none named \"%s\" among %zu, expected one of the model's",
              Escaped(wanted).text(), tables.templates.size);
}
