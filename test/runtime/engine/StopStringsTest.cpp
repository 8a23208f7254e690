// SPDX-License-Identifier: Apache-2.0
// Stop strings are found however the text is cut, and nothing is shown that may belong to one.
#include "llmc/sample.h"
#include "test/runtime/engine/Support.h"

namespace llmc::test {
namespace {

class Stops {
public:
  explicit Stops(const std::vector<std::string> &strings) {
    std::vector<const char *> pointers;
    for (const std::string &string : strings)
      pointers.push_back(string.c_str());
    EXPECT_EQ(llmc_stop_create(bench.context, pointers.data(),
                               static_cast<uint32_t>(pointers.size()), &stop, &bench.error),
              LLMC_OK)
        << bench.error.message;
  }
  ~Stops() { llmc_stop_destroy(stop); }

  llmc_stop_result feed(const std::string &text) {
    llmc_stop_result result = {};
    result.struct_size = sizeof result;
    EXPECT_EQ(llmc_stop_feed(stop, text.data(), text.size(), &result, nullptr), LLMC_OK);
    return result;
  }

  Bench bench;
  llmc_stop *stop = nullptr;
};

TEST(StopStrings, TextBeforeTheStringIsSafe) {
  Stops stops({"\nUser:", "END"});
  EXPECT_EQ(stops.feed("hello\nUs").safe, 5u);
  EXPECT_EQ(stops.feed("ually E").safe, 14u); // the E may begin END
  const llmc_stop_result found = stops.feed("NDless");
  EXPECT_EQ(found.found, 1);
  EXPECT_EQ(found.safe, 14u);
  EXPECT_EQ(stops.feed("more").safe, 14u); // nothing changes any more
  llmc_stop_reset(stops.stop);
  EXPECT_EQ(stops.feed("EN").safe, 0u);
  EXPECT_EQ(stops.feed("N").safe, 3u);
}

// All texts of two letters against the plain search, cut into pieces of each size.
TEST(StopStrings, AgreesWithPlainSearchHoweverTheTextIsCut) {
  const std::vector<std::string> strings = {"aab", "abaaba", "bb"};
  for (uint32_t bits = 0; bits < 1u << 11; ++bits) {
    std::string text;
    for (int i = 0; i < 11; ++i)
      text += bits >> i & 1 ? 'b' : 'a';
    // The first end of a string; of those that end there the longest.
    size_t end = text.npos, begin = text.npos;
    for (size_t e = 1; e <= text.size() && end == text.npos; ++e)
      for (const std::string &string : strings)
        if (e >= string.size() && !text.compare(e - string.size(), string.size(), string)) {
          end = e;
          begin = std::min(begin, e - string.size());
        }
    for (const size_t piece : {1u, 3u, 11u}) {
      Stops stops(strings);
      llmc_stop_result result = {};
      for (size_t at = 0; at < text.size(); at += piece)
        result = stops.feed(text.substr(at, piece));
      EXPECT_EQ(result.found >= 0, end != text.npos) << text;
      if (end != text.npos)
        EXPECT_EQ(result.safe, begin) << text << " by " << piece;
    }
  }
}

TEST(StopStrings, LongRunsAreLinear) {
  Stops stops({std::string(50000, 'a') + "b"});
  const std::string text(1 << 20, 'a');
  EXPECT_EQ(stops.feed(text).safe, text.size() - 50000);
  EXPECT_EQ(stops.feed("b").found, 0);
}

TEST(StopStrings, WrongOnesAreRefused) {
  Bench bench;
  llmc_stop *stop = nullptr;
  const char *empty[] = {"x", ""};
  EXPECT_EQ(llmc_stop_create(bench.context, empty, 2, &stop, &bench.error), LLMC_INVALID_ARGUMENT);
  EXPECT_NE(strstr(bench.error.message, "string 1: error: found an empty one"), nullptr);
  const std::string large(70000, 'x');
  const char *long1[] = {large.c_str()};
  EXPECT_EQ(llmc_stop_create(bench.context, long1, 1, &stop, &bench.error), LLMC_INVALID_ARGUMENT);
  EXPECT_NE(strstr(bench.error.message, "expected 1 to 65536 bytes"), nullptr);
  EXPECT_EQ(stop, nullptr);
}

TEST(StopStrings, NoStringsHoldNothingBack) {
  Stops stops({});
  EXPECT_EQ(stops.feed("text").safe, 4u);
}

} // namespace
} // namespace llmc::test
