// SPDX-License-Identifier: Apache-2.0
// Making and releasing contexts.
#include "runtime/engine/Context.h"
#include "runtime/engine/Error.h"
#include <cstdarg>
#include <cstdio>
#include <sched.h>

using namespace llmc;

namespace {

constexpr uint32_t kMaxThreads = 1024;
constexpr uint32_t kDefaultSpinMicroseconds = 100;

uint32_t processors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set))
    return 1;
  const int count = CPU_COUNT(&set);
  return count > 0 ? static_cast<uint32_t>(count) : 1;
}

llmc_status checkHooks(const llmc_context_options &options, llmc_error *error) {
  const llmc_allocator *allocator = options.allocator;
  if (allocator &&
      (allocator->struct_size < sizeof *allocator || !allocator->allocate || !allocator->release))
    return fail(error, LLMC_INVALID_ARGUMENT,
                "context: allocator: error: found struct_size %u or a missing function, expected "
                "struct_size %zu, allocate and release",
                allocator->struct_size, sizeof *allocator);
  const llmc_pool *pool = options.pool;
  if (pool && (pool->struct_size < sizeof *pool || !pool->workers || !pool->submit))
    return fail(error, LLMC_INVALID_ARGUMENT,
                "context: pool: error: found struct_size %u or a missing function, expected "
                "struct_size %zu, workers and submit",
                pool->struct_size, sizeof *pool);
  const llmc_log *log = options.log;
  if (log && (log->struct_size < sizeof *log || !log->write))
    return fail(error, LLMC_INVALID_ARGUMENT,
                "context: log: error: found struct_size %u or no function, expected struct_size "
                "%zu and write",
                log->struct_size, sizeof *log);
  if (options.threads > kMaxThreads)
    return fail(error, LLMC_INVALID_ARGUMENT,
                "context: error: found %u threads, expected at most %u", options.threads,
                kMaxThreads);
  return LLMC_OK;
}

} // namespace

uint32_t llmc_context::helpers() const {
  const uint32_t count = hasHostPool ? hostPool.workers(hostPool.user) : ownPool.size();
  return count < kMaxThreads ? count : kMaxThreads;
}

void llmc_context::release() {
  if (references.fetch_sub(1, std::memory_order_acq_rel) != 1)
    return;
  const Allocator keep = allocator;
  keep.destroy(this);
}

void llmc_context::note(llmc_log_level level, const char *format, ...) const {
  if (!log.write)
    return;
  char message[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  log.write(log.user, level, message);
}

extern "C" llmc_status llmc_context_create(const llmc_context_options *given,
                                           llmc_context **context, llmc_error *error) {
  if (!context)
    return fail(error, LLMC_INVALID_ARGUMENT, "context: error: nowhere to put the context");
  *context = nullptr;
  const llmc_context_options defaults = {sizeof defaults, 0, 0, 0, nullptr, nullptr, nullptr};
  const llmc_context_options &options = given ? *given : defaults;
  if (options.struct_size < sizeof options)
    return fail(error, LLMC_INVALID_ARGUMENT,
                "context: error: found struct_size %u, expected at least %zu", options.struct_size,
                sizeof options);
  if (llmc_status status = checkHooks(options, error))
    return status;
  const Allocator allocator(options.allocator);
  llmc_context *made = allocator.create<llmc_context>(allocator);
  if (!made)
    return fail(error, LLMC_OUT_OF_MEMORY, "context: error: no memory for %zu bytes",
                sizeof(llmc_context));
  if (options.log)
    made->log = *options.log;
  if (options.pool) {
    made->hostPool = *options.pool;
    made->hasHostPool = true;
  } else {
    const uint32_t threads = options.threads ? options.threads : processors();
    const uint32_t spin =
        options.spin_microseconds ? options.spin_microseconds : kDefaultSpinMicroseconds;
    if (llmc_status status = made->ownPool.start(made->allocator, threads - 1, spin, error)) {
      made->release();
      return status;
    }
  }
  *context = made;
  return LLMC_OK;
}

extern "C" void llmc_context_destroy(llmc_context *context) {
  if (context)
    context->release();
}
