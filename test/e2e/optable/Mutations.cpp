// SPDX-License-Identifier: Apache-2.0
//
// A table of faults as patterns, and a seeded choice among the places where they fit.
#include "test/e2e/optable/Mutations.h"
#include <algorithm>
#include <regex>
#include <sstream>

namespace llmc::test {
namespace {

struct Kind {
  const char *name, *pattern, *replacement;
};

constexpr Kind kKinds[] = {
    {"shuffle distance halved", R"((shfl\.sync\.bfly.*, )16(, 31))", "$018$02"},
    {"shuffle distance doubled", R"((shfl\.sync\.bfly.*, )4(, 31))", "$018$02"},
    {"shuffle from another lane", R"((shfl\.sync\.idx.*, )\d+(, 31))", "$0131$02"},
    {"predicate negated", R"(@(%p\d+))", "@!$01"},
    {"branch always taken", R"(@!?%p\d+ (bra .*))", "$01"},
    {"branch never taken", R"(@!?%p\d+ bra .*)", ""},
    {"bound moved by one", R"(setp\.lt\.([us]))", "setp.le.$01"},
    {"bound moved by one more", R"(setp\.gt\.([us]))", "setp.ge.$01"},
    {"equal for unequal", R"(setp\.eq\.)", "setp.ne."},
    {"sum for difference", R"(sub\.rn\.f32)", "add.rn.f32"},
    {"difference for sum", R"(add\.rn\.f32)", "sub.rn.f32"},
    {"sum for product", R"(mul\.rn\.f32)", "add.rn.f32"},
    {"addend lost", R"(fma\.rn\.f32 (\S+), (\S+), (\S+), \S+;)", "mul.rn.f32 $01, $02, $03;"},
    {"factor for addend", R"(fma\.rn\.f32 (\S+), (\S+), (\S+), (\S+);)",
     "fma.rn.f32 $01, $02, $04, $03;"},
    {"load from the next element", R"((ld\.global\S* .*\[%rd\d+)\])", "$01+4]"},
    {"load from the element before", R"((ld\.global\S* .*\[%rd\d+)\])", "$01+-4]"},
    {"store to the next element", R"((st\.global\S* .*\[%rd\d+)\])", "$01+4]"},
    {"store dropped", R"(st\.global.*)", ""},
    {"constant changed", R"((0f(?!000)[0-9A-F]{3})[0-9A-F]([0-9A-F]{4}))", "$015$02"},
    {"division upside down", R"(div\.rn\.f32 (\S+), (\S+), (\S+);)", "div.rn.f32 $01, $03, $02;"},
    {"operands of a difference swapped", R"(sub\.rn\.f32 (\S+), (\S+), (\S+);)",
     "sub.rn.f32 $01, $03, $02;"},
    {"square root lost", R"(sqrt\.rn\.f32 (\S+), (\S+);)", "mov.b32 $01, $02;"},
    {"another parameter", R"((ld\.param\S* .*_param_)1\])", "$010]"},
    {"lane for program", R"(%ctaid\.x)", "%tid.x"},
    {"program for lane", R"(%tid\.x)", "%ctaid.x"},
    {"index scaled twice", R"((shl\.b64 .*, )2;)", "$013;"},
    {"step of a loop or offset", R"((add\.s64 .*, )32;)", "$0164;"},
    {"smallest for largest", R"(max\.NaN)", "min.NaN"},
    {"choice swapped", R"(selp\.(\S+) (\S+), (\S+), (\S+), (\S+);)",
     "selp.$01 $02, $04, $03, $05;"},
    {"bytes of the row without their sign", R"(dp4a\.u32\.s32)", "dp4a.u32.u32"},
    {"bytes of the weights with a sign", R"(dp4a\.u32\.s32)", "dp4a.s32.s32"},
    {"row for weights", R"(dp4a\.u32\.s32 (\S+), (\S+), (\S+), (\S+);)",
     "dp4a.u32.s32 $01, $03, $02, $04;"},
    {"earlier products lost", R"(dp4a\.u32\.s32 (\S+), (\S+), (\S+), \S+;)",
     "dp4a.u32.s32 $01, $02, $03, 0;"},
    {"products lost", R"(dp4a\.u32\.s32 (\S+), (\S+), (\S+), (\S+);)", "mov.b32 $01, $04;"},
    {"half of a byte moved", R"((shr\.u32 .*, )4;)", "$013;"},
    {"half of a byte narrowed", R"((and\.b32 .*, )252645135;)", "$01117901063;"},
};

std::vector<std::string> linesOf(const std::string &text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  return lines;
}

/// A generator of its own: that of the library may differ from version to version.
struct Dice {
  uint64_t state;
  size_t below(size_t end) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return size_t((state >> 33) % end);
  }
};

} // namespace

std::vector<Mutation> mutationsOf(const std::string &ptx, size_t count, unsigned seed) {
  std::vector<std::string> lines = linesOf(ptx);
  std::vector<std::vector<Mutation>> byKind;
  for (const Kind &kind : kKinds) {
    std::regex pattern(kind.pattern);
    std::vector<Mutation> places;
    for (size_t i = 0; i < lines.size(); ++i) {
      std::string after = std::regex_replace(lines[i], pattern, kind.replacement,
                                             std::regex_constants::format_first_only);
      if (after != lines[i])
        places.push_back({kind.name, i + 1, lines[i], after});
    }
    if (!places.empty())
      byKind.push_back(std::move(places));
  }
  std::vector<Mutation> chosen;
  Dice dice{seed};
  while (!byKind.empty() && chosen.size() < count) {
    // One of each kind in a drawn order, then again among the places that are left.
    for (size_t rest = byKind.size(); rest > 0 && chosen.size() < count; --rest) {
      std::swap(byKind[dice.below(rest)], byKind[rest - 1]);
      std::vector<Mutation> &places = byKind[rest - 1];
      size_t place = dice.below(places.size());
      chosen.push_back(places[place]);
      places.erase(places.begin() + ptrdiff_t(place));
    }
    byKind.erase(std::remove_if(byKind.begin(), byKind.end(),
                                [](const auto &places) { return places.empty(); }),
                 byKind.end());
  }
  return chosen;
}

std::string mutated(const std::string &ptx, const Mutation &mutation) {
  std::vector<std::string> lines = linesOf(ptx);
  lines[mutation.line - 1] = mutation.after;
  std::string text;
  for (const std::string &line : lines)
    text += line + "\n";
  return text;
}

} // namespace llmc::test
