// SPDX-License-Identifier: Apache-2.0
// What errors say: place, what was found, what was expected.
#include "Support.h"
#include <gtest/gtest.h>

using namespace llmc::templates;

struct Refusal {
  const char *source;
  const char *message;
};

TEST(Messages, NamePlaceFoundAndExpected) {
  const Refusal refusals[] = {
      {"a\n{% if x", "2:1: error: found a tag without an end, expected \"%}\""},
      {"{{ x", "1:1: error: found a tag without an end, expected \"}}\""},
      {"x {# y", "1:3: error: found a comment without an end, expected \"#}\""},
      {"{% raw %}", "1:1: error: found a raw block without an end, expected \"{% endraw %}\""},
      {"{{ 'x }}", "1:4: error: found a string without an end, expected the quote that it begins "
                   "with"},
      {"{{ (x }}", "1:7: error: found '}', expected ')'"},
      {"{{ x) }}", "1:5: error: found ')', expected an open bracket before it"},
      {"{{ ü § }}", "1:6: error: found '§', expected a name, a value or an operator"},
      {"{{ 99999999999999999999 }}",
       "1:4: error: found the number '99999999999999999999', expected "
       "one that fits 64 bits"},
      {"{{ x y }}", "1:6: error: found 'y', expected '}}'"},
      {"{{ x + }}", "1:8: error: found '}}', expected an expression"},
      {"{% for x of y %}", "1:10: error: found 'of', expected 'in'"},
      {"{% if x %}\n\n", "1:4: error: found 'if' without an end, expected {% endif %} before the "
                         "template ends"},
      {"{% include 'x' %}",
       "1:4: error: found 'include', expected one of for, if, set, macro, call, "
       "filter, with, generation, break, continue, raw, or the end of an open "
       "one"},
      {"{{ x.y }}", "1:5: error: found undefined 'x', expected a value that has 'y'"},
      {"{{ x[0] }}", "1:5: error: found undefined 'x', expected a value with elements"},
      {"{{ x() }}", "1:5: error: found undefined 'x', expected a function or a macro"},
      {"{{ 1 + x }}", "1:6: error: found undefined 'x' as an operand of '+', expected a value"},
      {"{{ 1 + 'a' }}",
       "1:6: error: found an integer '+' a string, expected operands that fit each "
       "other"},
      {"{{ 1 / 0 }}", "1:6: error: found a division by zero, expected another divisor"},
      {"{{ 9223372036854775807 + 1 }}", "1:24: error: found an integer beyond 64 bits, expected a "
                                        "smaller one"},
      {"{{ 'a' | foo }}", "1:10: error: found the filter 'foo', expected one that is known"},
      {"{{ 'a' is foo }}", "1:8: error: found the test 'foo', expected one that is known"},
      {"{{ 'a' | replace('b') }}", "1:10: error: found too few arguments for 'replace', expected "
                                   "'old,new,count'"},
      {"{{ 'a' | upper(1) }}", "1:10: error: found 1 arguments for 'upper', expected at most 0"},
      {"{{ [].append(1) }}", "1:13: error: found a call of 'append', which would change a value; "
                             "expected a new value, or an attribute of a namespace()"},
      {"{% for a, b in [1] %}{% endfor %}", "1:8: error: found an integer, expected a list, a "
                                            "mapping or a string to go through"},
      {"{% for a, b in [[1]] %}{% endfor %}",
       "1:8: error: found 1 values, expected 2, one for each "
       "name"},
      {"{% set x.y = 1 %}", "1:8: error: found 'x', which is an undefined value, expected a "
                            "namespace to set an attribute of"},
      {"{% break %}", "1:4: error: found 'break' or 'continue', expected them inside a loop only"},
      {"a\n  {{ raise_exception('no ' ~ 1) }}", "2:21: error: the template refuses this "
                                                "conversation: no 1"},
      {"{% macro m(a) %}{% endmacro %}{{ m(1, 2) }}", "1:35: error: found an argument too many for "
                                                      "'m' ('2'), expected those that it names"},
  };
  for (const Refusal &refusal : refusals) {
    const Rendering got = renderText(refusal.source);
    EXPECT_EQ(got.status, LLMC_INVALID_ARGUMENT) << refusal.source;
    EXPECT_EQ(got.message, std::string("chat template:") + refusal.message) << refusal.source;
  }
}

TEST(Messages, StayOneShortLine) {
  const std::string name(10000, 'n');
  for (const std::string &source : {"{{ " + name + ".x }}", "{{ x | " + name + " }}",
                                    "{{ raise_exception('a\\nb\\x07" + name + "') }}",
                                    "{{ 1 " + name + " }}", "{% set " + name + ".x = 1 %}"}) {
    const Rendering got = renderText(source);
    EXPECT_EQ(got.status, LLMC_INVALID_ARGUMENT);
    EXPECT_EQ(got.message.find('\n'), std::string::npos);
    EXPECT_EQ(got.message.find('\a'), std::string::npos);
    EXPECT_LT(got.message.size(), size_t(LLMC_ERROR_BYTES));
  }
}

TEST(Messages, TextThatIsNoUtf8PassesThrough) {
  EXPECT_EQ(renderText("a\xff{{ 'b\xfe' }}\xc3").text, "a\xff"
                                                       "b\xfe\xc3");
  EXPECT_EQ(renderText("{{ 'b\xfe\xff' | length }}{{ 'b\xfe\xff'[1:] }}").text, "3\xfe\xff");
}
