// SPDX-License-Identifier: Apache-2.0
// Templates that loop without end, grow without bound or nest without bottom end with an error, and
// so does a rendering whenever the allocator gives nothing.
#include "Support.h"
#include <gtest/gtest.h>

using namespace llmc::templates;

static std::string repeated(const std::string &text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i)
    result += text;
  return result;
}

static void expectRefused(const std::string &source, const char *reason,
                          const Limits &limits = Limits()) {
  const Rendering got = renderText(source, "{\"xs\": [1, 2, 3], \"s\": \"text\"}", limits);
  EXPECT_EQ(got.status, LLMC_INVALID_ARGUMENT) << source.substr(0, 200);
  EXPECT_NE(got.message.find(reason), std::string::npos) << source.substr(0, 200) << "\n"
                                                         << got.message;
}

TEST(Limits, LoopsWithoutEnd) {
  const char *reason = "the template does not end: found more than 10000000 steps";
  const std::string loop = "{% for x in range(100000) %}";
  expectRefused(repeated(loop, 5) + repeated("{% endfor %}", 5), reason);
  expectRefused(loop + loop + "{{ '' }}{% endfor %}{% endfor %}", reason);
  expectRefused("{% macro m(n) %}{% for i in range(9) %}{{ m(n + 1) if n < 30 }}{% endfor %}"
                "{% endmacro %}{{ m(0) }}",
                reason);
  expectRefused(loop + "{% if xs | sort(reverse=true) == range(1000) | list %}{% endif %}"
                       "{% endfor %}",
                reason);
  // Each of these does much work for one operation.
  expectRefused("{% set a = 'a' * 10000000 %}{% set b = 'a' * 5000000 + 'b' %}" + loop +
                    "{% if a.rfind(b) %}{% endif %}{% endfor %}",
                reason);
  expectRefused("{% set a = 'a' * 30000000 %}" + loop +
                    "{% if a == a ~ '' %}{% endif %}{% endfor %}",
                "error: the te");
  expectRefused(
      "{% set a = 'é' * 10000000 %}" + loop + "{% if a[5000000] %}{% endif %}{% endfor %}", reason);
}

TEST(Limits, ThousandsOfNamesAreNotFree) {
  std::string names;
  for (int i = 0; i < 30000; ++i)
    names += "{% set n" + std::to_string(i) + " = 1 %}";
  expectRefused(names, "does not end");
}

TEST(Limits, DoublingValues) {
  // Sixty doublings by sharing cost nothing; looking at all of them would.
  const std::string shared = "{% set ns = namespace(x=[1]) %}{% for i in range(60) %}"
                             "{% set ns.x = [ns.x, ns.x] %}{% endfor %}";
  EXPECT_EQ(renderText(shared + "{{ ns.x | length }}").text, "2");
  for (const char *look : {"{{ ns.x }}", "{{ ns.x | tojson }}", "{{ ns.x == [ns.x[0], ns.x[0]] }}"})
    expectRefused(shared + look, "chat template:1:");
}

TEST(Limits, TextsThatGrow) {
  expectRefused("{{ 'abcd' * 1000000000 }}", "the text grows too long: found more than 64 MiB");
  expectRefused("{% set ns = namespace(x='abcd') %}{% for i in range(100) %}"
                "{% set ns.x = ns.x + ns.x %}{% endfor %}",
                "the text grows too long");
  expectRefused("{% for i in range(100000) %}{{ '" + std::string(10000, 'x') + "' }}{% endfor %}",
                "the text grows too long");
  expectRefused("{{ s | indent(2000000000) }}", "the text grows too long");
  expectRefused("{{ s | center(9000000000000000000) }}", "the te");
  expectRefused("{{ s.ljust(9000000000000000000) }}", "the te");
  expectRefused("{{ 'a,' | replace('', 'b' * 60000000) }}", "the text grows too long");
}

TEST(Limits, ListsThatGrow) {
  expectRefused("{% set a = [0] * 9000000000000000000 %}", "memory");
  expectRefused("{% set ns = namespace(x=[1]) %}{% for i in range(100) %}"
                "{% set ns.x = ns.x + ns.x %}{% endfor %}",
                "expected less"); // memory or steps, whichever comes first
  expectRefused("{{ [1] | batch(9000000000000000000, 1) }}", "memory");
  expectRefused("{{ range(100001) }}", "found a range of 100001 numbers, expected at most 100000");
  expectRefused("{{ range(0, 9223372036854775807, 1) }}",
                "found a range of 9223372036854775807 numbers");
  expectRefused("{{ range(-9223372036854775807 - 1, 9223372036854775807) }}", "found a range of");
  EXPECT_EQ(renderText("{{ range(0, 9223372036854775807, 9000000000000000000) }}").text,
            "[0, 9000000000000000000]");
}

TEST(Limits, Nesting) {
  const char *reason = "found more than 200 levels of nested";
  const char *const nests[][2] = {{"(", ")"},       {"[", "]"},           {"{1:", "}"},
                                  {"-", ""},        {"not ", ""},         {"xs[", "]"},
                                  {"f(", ")"},      {"x if y else ", ""}, {"x|f(", ")"},
                                  {"x is f(", ")"}, {"x[1:", "]"}};
  for (const auto &nest : nests)
    expectRefused("{{ " + repeated(nest[0], 50000) + "1" + repeated(nest[1], 50000) + " }}",
                  reason);
  expectRefused("{{ 0" + repeated(" + 1", 100000) + " }}", reason);
  expectRefused("{{ s" + repeated(".upper()", 100000) + " }}", reason);
  expectRefused("{{ s" + repeated(" | upper", 100000) + " }}", reason);
  expectRefused(repeated("{% if xs %}", 50000), reason);
  expectRefused(repeated("{% for x in xs %}", 50000), reason);
  expectRefused(repeated("{% macro m() %}", 50000), reason);
  expectRefused("{% set " + repeated("(", 50000) + "x" + repeated(")", 50000) + " = 1 %}", reason);
  expectRefused("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", reason);
  expectRefused("{% for x in [xs] recursive %}{{ loop([x]) }}{% endfor %}", reason);
  expectRefused("{% set ns = namespace(x=[]) %}{% for i in range(5000) %}{% set ns.x = [ns.x] %}"
                "{% endfor %}{{ ns.x }}",
                reason);
  expectRefused("{% set ns = namespace() %}{% set ns.x = ns %}{{ ns }}", reason);
  // Flat however long they are.
  EXPECT_EQ(renderText("{{ 'a'" + repeated(" ~ 'a'", 10000) + " }}").text.size(), 10001u);
  EXPECT_EQ(renderText("{% if no %}" + repeated("{% elif no %}", 10000) + "{% endif %}").status,
            LLMC_OK);
}

TEST(Limits, LongTemplates) {
  expectRefused(std::string((1 << 20) + 1, 'x'), "found 1048577 bytes, expected at most 1048576");
  EXPECT_EQ(renderText(std::string(1 << 20, 'x')).text.size(), size_t(1) << 20);
  EXPECT_EQ(renderText(repeated("{{ 1 }}", 100000)).text.size(), 100000u);
  expectRefused(repeated("{{", 400000), "chat template:1:");
  expectRefused(repeated("{% raw %}", 100000), "found a raw block without an end");
}

TEST(Limits, AreTheCallersToLower) {
  Limits limits;
  limits.steps = 1000;
  expectRefused("{% for i in range(1000) %}{% endfor %}", "found more than 1000 steps", limits);
  limits = Limits();
  limits.memoryBytes = 1 << 20;
  expectRefused("{% set x = 'a' * 2000000 %}", "found more than 1 MiB", limits);
  limits = Limits();
  limits.outputBytes = 1 << 20;
  expectRefused("{% set x = 'a' * 2000000 %}", "found more than 1 MiB", limits);
  limits = Limits();
  limits.depth = 20;
  expectRefused("{{ ((((((((((1)))))))))) }}", "found more than 20 levels", limits);
}

// A long conversation is far from any limit: its cost grows with its length alone.
TEST(Limits, LongConversationsPass) {
  std::string messages = "{\"messages\": [";
  for (int i = 0; i < 20000; ++i)
    messages += std::string(i ? "," : "") + "{\"role\": \"" + (i % 2 ? "assistant" : "user") +
                "\", \"content\": \"" + std::string(200, 'x') + " </think> y\"}";
  const Rendering got = renderText(
      "{% for m in messages %}<|im_start|>{{ m.role + '\\n' }}{% set c = m.content %}"
      "{% if '</think>' in c %}{% set c = c.split('</think>')[-1].strip() %}{% endif %}{{ c }}"
      "<|im_end|>\n{% endfor %}",
      messages + "]}");
  EXPECT_EQ(got.status, LLMC_OK) << got.message;
  EXPECT_GT(got.text.size(), 20000u * 20);
}

namespace {
// Gives memory a number of times, then none.
struct Miser {
  long left = 0;
  long taken = 0, returned = 0;

  static void *allocate(void *user, size_t bytes, size_t alignment) {
    Miser &miser = *static_cast<Miser *>(user);
    if (miser.left-- <= 0)
      return nullptr;
    ++miser.taken;
    return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  }
  static void release(void *user, void *memory, size_t, size_t) {
    ++static_cast<Miser *>(user)->returned;
    free(memory);
  }
};
} // namespace

TEST(Limits, OutOfMemoryIsAStatusWheneverItComes) {
  const std::string source =
      "{% set ns = namespace(x='') %}{% macro m(a, b=2) %}{{ a }}{{ b }}{% endmacro %}"
      "{% for i in range(100) %}{% set ns.x = ns.x ~ i ~ m(i, b={'k': [i, i]}) %}"
      "{{ [i, 'a'] | map('string') | join(',') }}{% endfor %}"
      "{{ ns.x | replace('1', '22') | length }}";
  const std::string wanted = renderText(source).text;
  EXPECT_GT(wanted.size(), 300u);
  bool failed = false;
  for (long given = 0;; ++given) {
    Miser miser;
    miser.left = given;
    llmc_allocator hooks{sizeof hooks, 0, &miser, Miser::allocate, Miser::release};
    const llmc::Allocator allocator(&hooks);
    const Rendering got = renderWith(allocator, source);
    EXPECT_EQ(miser.taken, miser.returned);
    if (got.status == LLMC_OK) {
      EXPECT_EQ(got.text, wanted);
      break;
    }
    failed = true;
    ASSERT_EQ(got.status, LLMC_OUT_OF_MEMORY);
    ASSERT_NE(got.message.find("the allocator gave no memory"), std::string::npos);
  }
  EXPECT_TRUE(failed);
}
