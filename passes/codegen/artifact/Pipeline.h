// SPDX-License-Identifier: Apache-2.0
// Pieces of work on several threads whose results leave in order. A piece is taken, made (any
// number at once), and goes through steps; in each step pieces follow one another as on one thread.
// A thread waits only where nothing is left that it could do.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

namespace llmc::artifact {

// Runs `work` on the calling thread and on up to count - 1 more, until all have returned. Where the
// system gives fewer threads there are fewer.
void onThreads(unsigned count, const std::function<void()> &work);

// Processors that this process may use.
unsigned usableProcessors();

template <typename Piece> class Pipeline {
public:
  using Step = std::function<void(Piece &)>;

  // `take` plans the next piece, one call at a time, and says whether there is one. A step sees what
  // it did to the pieces before.
  Pipeline(std::function<bool(Piece &)> take, Step make, std::vector<Step> steps)
      : take(std::move(take)), make(std::move(make)), steps(std::move(steps)),
        next(this->steps.size()) {}

  // Until no piece is left. Memory is that of `pieces` of them.
  void run(unsigned threads, unsigned pieces) {
    slots = std::vector<Slot>(pieces);
    onThreads(threads, [this] { work(); });
  }

private:
  enum class State { Free, Waiting, Running };
  struct Slot {
    Piece piece;
    State state = State::Free;
    uint64_t index = 0; // of the piece, from 0 on
    size_t step = 0;    // that it waits for or runs; the first is `make`'s end
  };

  void work() {
    std::unique_lock<std::mutex> lock(mutex);
    while (true) {
      if (Slot *slot = waiting()) {
        run(lock, *slot, steps[slot->step]);
        ++next[slot->step];
        advance(*slot, slot->step + 1);
      } else if (Slot *slot = begun()) {
        run(lock, *slot, make);
        advance(*slot, 0);
      } else if (ended && isEmpty()) {
        return;
      } else {
        changed.wait(lock);
      }
    }
  }

  void run(std::unique_lock<std::mutex> &lock, Slot &slot, const Step &step) {
    slot.state = State::Running;
    lock.unlock();
    step(slot.piece);
    lock.lock();
  }

  void advance(Slot &slot, size_t step) {
    slot.step = step;
    slot.state = step < steps.size() ? State::Waiting : State::Free;
    changed.notify_all();
  }

  // A piece whose turn it is, the farthest first: it gives memory back soonest.
  Slot *waiting() {
    Slot *farthest = nullptr;
    for (Slot &slot : slots)
      if (slot.state == State::Waiting && slot.index == next[slot.step] &&
          (!farthest || slot.step > farthest->step))
        farthest = &slot;
    return farthest;
  }

  // A new piece in a free slot.
  Slot *begun() {
    for (Slot &slot : slots)
      if (!ended && slot.state == State::Free) {
        ended = !take(slot.piece);
        slot.index = begunPieces;
        begunPieces += !ended;
        return ended ? nullptr : &slot;
      }
    return nullptr;
  }

  bool isEmpty() const {
    for (const Slot &slot : slots)
      if (slot.state != State::Free)
        return false;
    return true;
  }

  std::function<bool(Piece &)> take;
  Step make;
  std::vector<Step> steps;

  std::mutex mutex; // of all below, but not of a running slot's piece
  std::condition_variable changed;
  std::vector<Slot> slots;
  std::vector<uint64_t> next; // of each step: the piece whose turn it is
  uint64_t begunPieces = 0;
  bool ended = false;
};

} // namespace llmc::artifact
