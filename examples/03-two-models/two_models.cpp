// SPDX-License-Identifier: Apache-2.0
//
// Two models linked into one program, four threads: two generate with alpha, two with beta, all at
// once. Each thread has a session of its own; models are shared. No model file is opened: code and
// weights are part of the program.
#include "llmc/llmc.hpp"

#include <cstdio>
#include <string>
#include <thread>
#include <vector>

// What `llmc compile -o x.o --name alpha` defines.
extern "C" const llmc_artifact *alpha_llmc_query(uint32_t abi_version);
extern "C" const llmc_artifact *beta_llmc_query(uint32_t abi_version);

namespace {

constexpr uint32_t kNewTokens = 8;

struct Job {
  const char *name;
  const llmc::Model *model;
  std::vector<int32_t> prompt;
  llmc::Result<std::vector<int32_t>> tokens = std::vector<int32_t>(); // of the thread, then of main
};

llmc::Result<std::vector<int32_t>> generate(const llmc::Model &model,
                                            const std::vector<int32_t> &prompt) {
  llmc_session_options options{};
  options.struct_size = sizeof options;
  options.max_tokens = uint32_t(prompt.size()) + kNewTokens;
  auto session = llmc::createSession(model, &options);
  if (!session)
    return session.error();
  auto sequence = llmc::createSequence(*session); // after the session, so it goes before it
  if (!sequence)
    return sequence.error();
  auto result = llmc::prefill(*session, *sequence, prompt.data(), uint32_t(prompt.size()));
  std::vector<int32_t> tokens;
  while (result) {
    tokens.push_back(llmc_argmax(result->logits, result->vocabulary));
    if (tokens.size() == kNewTokens)
      return tokens;
    llmc_rows rows{};
    rows.struct_size = sizeof rows;
    rows.n_tokens = 1;
    rows.sequence = sequence->get();
    rows.tokens = &tokens.back();
    result = llmc::step(*session, &rows, 1);
  }
  return result.error();
}

int fail(const llmc::Error &error) {
  fprintf(stderr, "two_models: %s\n", error.message());
  return 1;
}

std::string list(const std::vector<int32_t> &numbers) {
  std::string text;
  for (int32_t number : numbers)
    text += (text.empty() ? "" : ",") + std::to_string(number);
  return text;
}

} // namespace

int main() {
  llmc_context_options options{};
  options.struct_size = sizeof options;
  options.threads = 2; // of a step; steps of different sessions share the context's threads
  auto context = llmc::createContext(&options);
  if (!context)
    return fail(context.error());
  llmc_model_options names[2] = {{sizeof names[0], 0, "alpha", nullptr},
                                 {sizeof names[1], 0, "beta", nullptr}};
  auto alpha = llmc::linkedModel(*context, alpha_llmc_query, &names[0]);
  if (!alpha)
    return fail(alpha.error());
  auto beta = llmc::linkedModel(*context, beta_llmc_query, &names[1]);
  if (!beta)
    return fail(beta.error());

  std::vector<Job> jobs;
  for (const std::vector<int32_t> &prompt : {std::vector<int32_t>{5}, {3, 1, 4, 1, 5, 9, 2, 6}}) {
    jobs.push_back({"alpha", &*alpha, prompt});
    jobs.push_back({"beta", &*beta, prompt});
  }
  std::vector<std::thread> threads;
  for (Job &job : jobs)
    threads.emplace_back([&job] { job.tokens = generate(*job.model, job.prompt); });
  for (std::thread &thread : threads)
    thread.join();
  for (Job &job : jobs) {
    if (!job.tokens)
      return fail(job.tokens.error());
    printf("%s after %s: %s\n", job.name, list(job.prompt).c_str(), list(*job.tokens).c_str());
  }
  return 0;
}
