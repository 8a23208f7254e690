// SPDX-License-Identifier: Apache-2.0
// Prompt lookup against a search through the whole text, and taking tokens back.
#include "runtime/engine/NgramDrafter.h"
#include "test/runtime/engine/Support.h"

namespace llmc::test {
namespace {

using Tokens = std::vector<int32_t>;
constexpr uint32_t kMost = 7;

class Drafting {
public:
  explicit Drafting(uint32_t capacity)
      : hooks(memory.hooks()), allocator(&hooks), text(capacity + kMost) {
    EXPECT_TRUE(drafter.allocate(allocator, capacity));
  }
  void append(int32_t token) {
    text[drafter.length()] = token;
    drafter.append(text.data(), drafter.length());
  }
  Tokens draft(uint32_t most = kMost) const {
    Tokens drafts(most);
    drafts.resize(drafter.draft(text.data(), most, drafts.data()));
    return drafts;
  }

  TestAllocator memory;
  llmc_allocator hooks;
  Allocator allocator;
  Tokens text;
  NgramDrafter drafter;
};

// What followed the latest earlier occurrence of the longest ending; with more than the text has,
// the draft itself goes on.
Tokens searched(const Tokens &text, uint32_t most) {
  for (size_t length = NgramDrafter::kLongest; length >= NgramDrafter::kShortest; --length)
    for (size_t end = text.size(); end-- > length;)
      if (text.size() > length && std::equal(text.end() - static_cast<long>(length), text.end(),
                                             text.begin() + static_cast<long>(end - length))) {
        Tokens whole = text;
        for (size_t i = 0; i < most; ++i)
          whole.push_back(whole[end + i]);
        return {whole.end() - static_cast<long>(most), whole.end()};
      }
  return {};
}

TEST(NgramDrafter, DraftsWhatASearchFinds) {
  for (const uint32_t alphabet : {2u, 5u, 30u}) {
    Drafting drafting(600);
    Tokens text;
    int wrong = 0, drafted = 0;
    uint32_t state = alphabet;
    for (int i = 0; i < 600; ++i) {
      state = state * 1664525u + 1013904223u;
      text.push_back(static_cast<int32_t>((state >> 16) % alphabet));
      drafting.append(text.back());
      const Tokens expected = searched(text, kMost);
      drafted += !expected.empty();
      wrong += drafting.draft() != expected;
    }
    EXPECT_GT(drafted, 100) << alphabet;
    // Two endings of one hash push each other out now and then.
    EXPECT_LE(wrong, alphabet < 10 ? 60 : 150) << alphabet;
    if (alphabet == 2)
      EXPECT_EQ(wrong, 0);
  }
}

TEST(NgramDrafter, RunsGoOnForEver) {
  Drafting drafting(100);
  for (const int32_t token : {9, 4, 4, 4})
    drafting.append(token);
  EXPECT_EQ(drafting.draft(), Tokens(kMost, 4));
  EXPECT_EQ(drafting.draft(2), Tokens(2, 4));
}

TEST(NgramDrafter, NothingIsDraftedFromNothing) {
  Drafting drafting(100);
  EXPECT_TRUE(drafting.draft().empty());
  for (int32_t token = 0; token < 50; ++token) {
    drafting.append(token);
    EXPECT_TRUE(drafting.draft().empty()) << token;
  }
}

// After taking tokens back the drafter is as if they had never come.
TEST(NgramDrafter, TakingBackLeavesNoTrace) {
  const Tokens first = someTokens(120, 3), other = someTokens(200, 4);
  Drafting plain(400), cut(400);
  for (const int32_t token : first) {
    plain.append(token % 3);
    cut.append(token % 3);
  }
  for (const int32_t token : other)
    cut.append(token % 3);
  while (cut.drafter.length() > first.size())
    cut.drafter.removeLast(cut.text.data());
  for (const int32_t token : other) {
    EXPECT_EQ(cut.draft(), plain.draft());
    cut.append((token + 1) % 3);
    plain.append((token + 1) % 3);
  }
}

TEST(NgramDrafter, AMillionTokensCostNoMoreEach) {
  Drafting drafting(1 << 20);
  const int before = drafting.memory.calls;
  for (uint32_t i = 0; i < 1 << 20; ++i) {
    drafting.append(static_cast<int32_t>(i * i % 1021));
    drafting.draft();
  }
  EXPECT_EQ(drafting.memory.calls, before);
}

} // namespace
} // namespace llmc::test
