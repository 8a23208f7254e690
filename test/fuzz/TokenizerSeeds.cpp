// SPDX-License-Identifier: Apache-2.0
// Writes what the tokenizers' fuzzers start from, into FOLDER/TARGET/.
#include "test/frontends/text/TinyTokenizer.h"
#include "test/fuzz/TinyTokenizers.h"

#include <filesystem>
#include <fstream>

using namespace llmc;

namespace {

std::string root;

void write(const std::string &target, const std::string &name, const std::string &bytes) {
  std::filesystem::create_directories(root + "/" + target);
  std::ofstream(root + "/" + target + "/" + name, std::ios::binary) << bytes;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  root = argv[1];
  const std::string config = R"({"bos_token": "<s>", "chat_template": "{{ messages }}"})";
  test::Json metaspace = test::tinyCharacters();
  metaspace["normalizer"] = nullptr;
  metaspace["pre_tokenizer"] = {{"type", "Metaspace"},
                                {"replacement", "\xe2\x96\x81"},
                                {"prepend_scheme", "first"},
                                {"split", true}};
  metaspace["decoder"] = metaspace["pre_tokenizer"];
  write("tokenizer-json", "characters", test::tinyCharacters().dump() + '\0' + config);
  write("tokenizer-json", "bytes", test::tinyBytes().dump());
  write("tokenizer-json", "metaspace", metaspace.dump());
  for (bool bytes : {true, false})
    write("tokenizer-tables", bytes ? "bytes" : "characters",
          std::string(1, '\2') + fuzz::tinyTables(bytes));
  write("tokenizer-tables", "changes", std::string("\0\x20\0\xff\xff\xff\xff\x40\0\1\0\0\0", 13));
  write("encode", "ascii", "ab abab <s> <l> I'm 1234\r\n\t  x");
  write("encode", "scripts",
        "\u00e9e\u0301 \u4f60\u597d \u0928\u092e\u0938\u094d\u0924\u0947 \u2581");
  write("encode", "emoji", "\U0001f468\u200d\U0001f469 \U0001f1e9\U0001f1ea \ufb01 \u2460");
  write("encode", "broken", "\xf0\x9f\x98 \xc0\xaf \xed\xa0\x80 \xff");
}
