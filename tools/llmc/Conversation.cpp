// SPDX-License-Identifier: Apache-2.0
// Each turn renders the whole conversation anew, since a template may write earlier turns in
// another way than when they were the last; what the sequence holds already of its tokens stays, so
// that only the rest is run.
#include "tools/llmc/Conversation.h"
#include "llmc/text.h"
#include "tools/llmc/AnswerText.h"
#include "tools/llmc/Clock.h"
#include "tools/llmc/Format.h"
#include "tools/llmc/ModelText.h"
#include "tools/llmc/RunTimes.h"
#include "tools/llmc/Sampling.h"
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace llmc::tool {
namespace {

constexpr uint32_t kPrefillTokens = 256;

// For the signal handler alone.
std::atomic<llmc_session *> answering{nullptr};
std::atomic<bool> interrupted{false};

void onInterrupt(int) {
  interrupted = true;
  if (llmc_session *session = answering.load())
    llmc_session_cancel(session);
}

// Takes Ctrl-C while it lives. Reading is interrupted as well, without SA_RESTART.
class InterruptHandler {
public:
  InterruptHandler() {
    struct sigaction action = {};
    action.sa_handler = onInterrupt;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, &before);
  }
  ~InterruptHandler() { sigaction(SIGINT, &before, nullptr); }

private:
  struct sigaction before = {};
};

class Answering {
public:
  explicit Answering(llmc_session *session) {
    interrupted = false;
    answering = session;
  }
  ~Answering() { answering = nullptr; }
};

struct Line {
  std::string text;
  bool ended = false; // the input is over
};

Line readLine() {
  Line line;
  char *text = nullptr;
  size_t capacity = 0;
  fputs("> ", stderr);
  for (;;) {
    errno = 0;
    const ssize_t length = getline(&text, &capacity, stdin);
    if (length >= 0) {
      line.text.assign(text, static_cast<size_t>(length));
      break;
    }
    if (errno != EINTR) {
      line.ended = true;
      break;
    }
    clearerr(stdin);
    fputs("\n(Ctrl-D ends the program)\n> ", stderr);
  }
  free(text);
  while (!line.text.empty() && (line.text.back() == '\n' || line.text.back() == '\r'))
    line.text.pop_back();
  return line;
}

class Conversation {
public:
  Conversation(const RunOptions &options, const LoadedModel &loaded)
      : options(options), loaded(loaded) {}

  Status start();
  // A message and its answer. What is wrong with the message is told, and the conversation is as if
  // it had not come; other failures are returned.
  Status turn(const std::string &message);
  const RunTimes &times() const { return total; }

private:
  // Tokens of the conversation; empty, and told, where they cannot be run.
  std::vector<int32_t> render();
  Status answer();
  // Gives the writer the tokens that it lacks; how many.
  Result<size_t> give(const std::vector<int32_t> &tokens);
  Status take(const llmc_generated &generated);
  uint32_t room() const;
  void tellLimit(uint32_t room) const;

  const RunOptions &options;
  const LoadedModel &loaded;
  SessionOwner session;
  Writer writer;
  AnswerText text;
  std::vector<ChatMessage> messages;
  RunTimes total;
};

Status Conversation::start() {
  llmc_session_options sizes = {};
  sizes.max_tokens = loaded.info.max_positions;
  sizes.max_rows = std::min(loaded.info.max_positions,
                            options.prefillChunk ? options.prefillChunk : kPrefillTokens);
  SamplingOptions sampling = options.sampling;
  sampling.draftTokens = std::min(sampling.draftTokens, sizes.max_rows - 1);
  sizes.max_outputs = outputsFor(sampling);
  Result<SessionOwner> made = makeSession(loaded, sizes);
  if (!made)
    return made.takeError();
  session = std::move(*made);
  Result<Writer> madeWriter = makeWriter(session.get(), sampling, options.ignoreEos);
  if (!madeWriter)
    return madeWriter.takeError();
  writer = std::move(*madeWriter);
  if (options.system)
    messages.push_back({"system", *options.system});
  // A model that cannot converse says so before the first message.
  messages.push_back({"user", "?"});
  Result<std::string> probe = renderChat(loaded, messages);
  messages.pop_back();
  if (!probe)
    return probe.takeError();
  return text.start(loaded, options.stop, true);
}

Status Conversation::turn(const std::string &message) {
  if (Status status = checkUtf8("message", message);
      !status || message.find('\0') != message.npos) {
    fprintf(stderr, "%s\n",
            status ? "message: error: found a NUL, expected none" : status.error().str().c_str());
    return {};
  }
  messages.push_back({"user", message});
  const std::vector<int32_t> tokens = render();
  if (tokens.empty()) {
    messages.pop_back();
    return {};
  }
  Result<size_t> given = give(tokens);
  if (!given)
    return given.takeError();
  total.promptTokens += *given;
  text.reset();
  if (Status status = answer(); !status)
    return status;
  if (Status status = text.finish(); !status)
    return status;
  print("\n");
  messages.push_back({"assistant", text.text()});
  return finishOutput();
}

std::vector<int32_t> Conversation::render() {
  const auto tell = [](const Error &error) {
    fprintf(stderr, "%s\n", error.str().c_str());
    return std::vector<int32_t>();
  };
  Result<std::string> rendered = renderChat(loaded, messages);
  if (!rendered)
    return tell(rendered.error());
  Result<std::vector<int32_t>> tokens =
      encodeText(loaded, "message", *rendered, LLMC_ENCODE_PARSE_SPECIAL);
  if (!tokens)
    return tell(tokens.error());
  if (tokens->size() >= loaded.info.max_positions)
    return tell(errorAt("message", "",
                        formatted("found a conversation of %zu tokens, expected fewer than %u, the "
                                  "model's positions; begin a new one",
                                  tokens->size(), loaded.info.max_positions)));
  return std::move(*tokens);
}

Result<size_t> Conversation::give(const std::vector<int32_t> &tokens) {
  const std::vector<int32_t> held = writer.tokens();
  const auto differs = std::mismatch(held.begin(), held.end(), tokens.begin(), tokens.end());
  const auto common = static_cast<uint32_t>(differs.first - held.begin());
  if (Status status = writer.truncate(common); !status)
    return status.takeError();
  if (Status status = writer.append({differs.second, tokens.end()}); !status)
    return status.takeError();
  return tokens.size() - common;
}

uint32_t Conversation::room() const {
  uint32_t n = 0;
  llmc_generator_tokens(writer.generator.get(), &n);
  return loaded.info.max_positions - std::min(n, loaded.info.max_positions);
}

void Conversation::tellLimit(uint32_t room) const {
  if (room)
    fprintf(stderr, "\n(cut after --max-new-tokens %u)", *options.maxNewTokens);
  else
    fprintf(stderr, "\n(cut: the model has %u positions, and all are in use)",
            loaded.info.max_positions);
}

Status Conversation::answer() {
  const Answering guard(session.get());
  const size_t most = options.maxNewTokens.value_or(UINT32_MAX);
  const size_t before = total.newTokens;
  bool ended = false;
  while (!ended && !text.isStopped() && !interrupted) {
    const size_t left = std::min<size_t>(most - (total.newTokens - before), room());
    if (!left) {
      tellLimit(room());
      break;
    }
    bool cancelled = false;
    const double begin = secondsNow();
    Result<llmc_generated> generated = writer.next(static_cast<uint32_t>(left), &cancelled);
    if (cancelled)
      continue; // by Ctrl-C now, or by one that came after the answer before
    if (!generated)
      return generated.takeError();
    const bool isFirst = total.newTokens == before;
    (isFirst ? total.promptSeconds : total.newSeconds) += secondsNow() - begin;
    total.firstTokens += isFirst;
    if (Status status = take(*generated); !status)
      return status;
    ended = generated->stopped;
  }
  return {};
}

Status Conversation::take(const llmc_generated &generated) {
  total.newTokens += generated.n_tokens;
  total.drafted += generated.n_drafted;
  total.accepted += generated.n_accepted;
  for (uint32_t i = 0; i < generated.n_tokens; ++i)
    if (Status status = text.add(generated.tokens[i]); !status)
      return status;
  return {};
}

} // namespace

Status converse(const RunOptions &options, const LoadedModel &loaded) {
  Conversation conversation(options, loaded);
  if (Status status = conversation.start(); !status)
    return status;
  const InterruptHandler handler;
  for (;;) {
    const Line line = readLine();
    if (line.ended)
      break;
    if (line.text.empty())
      continue;
    if (Status status = conversation.turn(line.text); !status)
      return status;
  }
  fputs("\n", stderr);
  printTimes(conversation.times());
  return finishOutput();
}

} // namespace llmc::tool
