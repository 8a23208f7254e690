// SPDX-License-Identifier: Apache-2.0
// What the corpora of malformed files share: seeded choices, and what every refusal must say.
#pragma once

#include "test/frontends/Support.h"

#include <gtest/gtest.h>
#include <random>

namespace llmc::test {

constexpr int seedsOfAClass = 12;

struct Expected {
  std::string file;  // in the folder
  std::string place; // somewhere between the file and "error:"
};

class Random {
public:
  explicit Random(unsigned seed) : engine(seed) {}
  size_t below(size_t count) { return engine() % count; }
  template <typename T> T &pick(std::vector<T> &items) { return items[below(items.size())]; }

private:
  std::mt19937_64 engine;
};

inline bool isPrintable(const std::string &text) {
  for (char c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F)
      return false;
  return true;
}

// One line `FILE: PLACE: error: found ..., expected ...` without control bytes.
inline void expectGoodMessage(const Error &error, const TemporaryFolder &folder,
                              const Expected &expected) {
  const std::string &message = error.message;
  std::string file = folder.file(expected.file) + ": ";
  ASSERT_EQ(message.substr(0, file.size()), file) << error.str();
  size_t kind = message.find("error: found ");
  ASSERT_NE(kind, std::string::npos) << error.str();
  std::string place = message.substr(file.size(), kind - file.size());
  EXPECT_EQ(place.substr(0, expected.place.size()), expected.place) << error.str();
  EXPECT_NE(message.find("expected ", kind), std::string::npos) << error.str();
  EXPECT_TRUE(isPrintable(message)) << error.str();
  for (const std::string &note : error.notes) {
    EXPECT_NE(note.find("note: "), std::string::npos) << note;
    EXPECT_TRUE(isPrintable(note)) << note;
  }
}

} // namespace llmc::test
