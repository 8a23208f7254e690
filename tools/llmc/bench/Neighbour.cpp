// SPDX-License-Identifier: Apache-2.0
// The child tells by one number over a pipe whether all went well, and dies with its parent: the
// kernel sees to it, so not even SIGKILL leaves it behind.
#include "tools/llmc/bench/Neighbour.h"
#include "tools/llmc/Format.h"
#include <cerrno>
#include <csignal>
#include <cstring>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace llmc::tool {
namespace {

constexpr rlim_t kMostSeconds = 3600; // of processor time, should all else fail

// 0, or what errno says. Only calls that a process forked from threads may make.
int prepareChild(pid_t parent, int processor, int nice) {
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
    return ESRCH;
  for (const int number : {SIGINT, SIGTERM, SIGHUP})
    signal(number, SIG_DFL);
  const struct rlimit limit = {kMostSeconds, kMostSeconds};
  setrlimit(RLIMIT_CPU, &limit);
  setsid(); // a session of its own, which the scheduler treats as another login's
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(processor, &one);
  if (sched_setaffinity(0, sizeof one, &one) || setpriority(PRIO_PROCESS, 0, nice))
    return errno;
  return 0;
}

[[noreturn]] void runChild(pid_t parent, int processor, int nice, int pipe) {
  const int failure = prepareChild(parent, processor, nice);
  if (write(pipe, &failure, sizeof failure) != sizeof failure || failure)
    _exit(1);
  close(pipe);
  for (;;)
    asm volatile("");
}

} // namespace

Result<std::unique_ptr<Neighbour>> Neighbour::start(int processor, int nice) {
  int ends[2];
  if (pipe(ends))
    return errorAt("--busy-neighbour", "",
                   std::string("found no pipe for another process: ") + strerror(errno));
  const pid_t parent = getpid(), child = fork();
  if (!child) {
    close(ends[0]);
    runChild(parent, processor, nice, ends[1]);
  }
  const int forkFailure = child < 0 ? errno : 0;
  close(ends[1]);
  int failure = forkFailure;
  std::unique_ptr<Neighbour> neighbour;
  if (child > 0) {
    neighbour.reset(new Neighbour(child));
    if (read(ends[0], &failure, sizeof failure) != sizeof failure)
      failure = ECHILD;
  }
  close(ends[0]);
  if (failure)
    return errorAt(failure == EACCES || failure == EPERM ? "--nice" : "--busy-neighbour", "",
                   formatted("found no way to start a process of nice %d on processor %d (%s), "
                             "expected one; less than 0 needs a privilege",
                             nice, processor, strerror(failure)));
  return neighbour;
}

Neighbour::~Neighbour() {
  kill(child, SIGKILL);
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR)
    ;
}

std::vector<int> allowedProcessors() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  std::vector<int> processors;
  if (!sched_getaffinity(0, sizeof allowed, &allowed))
    for (int i = 0; i < CPU_SETSIZE; ++i)
      if (CPU_ISSET(i, &allowed))
        processors.push_back(i);
  return processors;
}

} // namespace llmc::tool
