// SPDX-License-Identifier: Apache-2.0
#include "frontends/gguf/Container.h"

#include "GGUFFile.h"

#include <gtest/gtest.h>

using namespace llmc;
using namespace llmc::test;
using gguf::Container;

namespace {

Result<Container> opened(const TemporaryFolder &folder, const GGUFFile &file) {
  folder.write("m.gguf", file.bytes());
  return Container::open(folder.file("m.gguf"));
}

std::string messageOf(const GGUFFile &file) {
  TemporaryFolder folder;
  Result<Container> container = opened(folder, file);
  if (container)
    return "no error";
  return container.error().message.substr(folder.file("m.gguf: ").size());
}

TEST(Container, ReadsValuesOfEveryType) {
  GGUFFile file;
  file.keys = {
      {"a", U8, littleEndian(200, 1)},
      {"b", I8, littleEndian(uint64_t(-3), 1)},
      {"c", U16, littleEndian(60000, 2)},
      {"d", I16, littleEndian(uint64_t(-300), 2)},
      {"e", U32, littleEndian(4000000000, 4)},
      {"f", I32, littleEndian(uint64_t(-70000), 4)},
      {"g", U64, littleEndian(uint64_t(1) << 62, 8)},
      {"h", I64, littleEndian(uint64_t(-1) << 40, 8)},
      {"too large", U64, littleEndian(UINT64_MAX, 8)},
      f32Key("i", 1e-5f),
      {"j", F64Value, littleEndian(0x3FF8000000000000, 8)},
      boolKey("k", true),
      stringKey("l", "two\nlines"),
      stringsKey("m", {"", "x", "yz"}),
      listKey("n", I32, 2, littleEndian(uint64_t(-7), 4) + littleEndian(9, 4)),
      listKey("o", ArrayValue, 1, littleEndian(U8, 4) + littleEndian(2, 8) + littleEndian(5, 2))};
  TemporaryFolder folder;
  Result<Container> container = opened(folder, file);
  ASSERT_TRUE(container) << container.error().str();
  auto value = [&](const char *key) { return container->find(key)->value; };
  auto integer = [&](const char *key) { return container->integer(value(key)); };
  EXPECT_EQ(integer("a"), 200);
  EXPECT_EQ(integer("b"), -3);
  EXPECT_EQ(integer("c"), 60000);
  EXPECT_EQ(integer("d"), -300);
  EXPECT_EQ(integer("e"), 4000000000);
  EXPECT_EQ(integer("f"), -70000);
  EXPECT_EQ(integer("g"), int64_t(1) << 62);
  EXPECT_EQ(integer("h"), -(int64_t(1) << 40));
  EXPECT_EQ(integer("too large"), std::nullopt);
  EXPECT_EQ(integer("i"), std::nullopt);
  EXPECT_EQ(container->number(value("i")), 1e-5); // the decimal that was meant
  EXPECT_EQ(container->number(value("j")), 1.5);
  EXPECT_EQ(container->number(value("a")), 200.0);
  EXPECT_TRUE(container->boolean(value("k")));
  EXPECT_EQ(container->text(value("l")), "two\nlines");
  EXPECT_EQ(container->texts(value("m")), (std::vector<std::string_view>{"", "x", "yz"}));
  EXPECT_EQ(container->integer(value("n"), 0), -7);
  EXPECT_EQ(container->integer(value("n"), 1), 9);
  EXPECT_EQ(container->describe(value("l")), "\"two\\x0Alines\"");
  EXPECT_EQ(container->describe(value("i")), "1e-05");
  EXPECT_EQ(container->describe(value("n")), "a list of 2 i32");
  EXPECT_EQ(container->describe(value("too large")), "18446744073709551615");
  EXPECT_EQ(container->find("nothing"), nullptr);
}

TEST(Container, ReadsVersion2AndAnotherAlignment) {
  GGUFFile file;
  file.version = 2;
  file.alignment = 128;
  file.keys = {u32Key("general.alignment", 128)};
  file.tensors = {{"a", {3, 2}, F32Tensor, std::string(24, 'a')},
                  {"b", {5}, F16Tensor, std::string(10, 'b')}};
  TemporaryFolder folder;
  Result<Container> container = opened(folder, file);
  ASSERT_TRUE(container) << container.error().str();
  const gguf::StoredTensor *b = container->findTensor("b");
  EXPECT_EQ(container->findTensor("a")->shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(b->begin % 128, 0u);
  EXPECT_EQ(b->bytes, 10u);
  EXPECT_EQ(file.bytes().substr(b->begin, b->bytes), std::string(10, 'b'));
}

TEST(Container, KnowsBlocksOfTypesThatItDoesNotRead) {
  GGUFFile file;
  file.tensors = {{"k", {256}, 12, std::string(144, '\0')}};
  TemporaryFolder folder;
  Result<Container> container = opened(folder, file);
  ASSERT_TRUE(container) << container.error().str();
  EXPECT_STREQ(container->findTensor("k")->type->name, "Q4_K");
  EXPECT_FALSE(container->findTensor("k")->type->element);
}

TEST(Container, SaysWhatIsWrong) {
  GGUFFile file;
  file.version = 1;
  EXPECT_EQ(messageOf(file), "version: error: found 1, expected 2 or 3; convert the model again");
  file.version = 0x03000000;
  EXPECT_EQ(messageOf(file), "version: error: found a big-endian file, expected little-endian; "
                             "convert the model without --bigendian");
  file.version = 3;
  file.keyCount = uint64_t(1) << 63;
  EXPECT_EQ(messageOf(file), "key count: error: found 9223372036854775808, expected at most 0 in "
                             "a file of 32 bytes");
  file.keyCount.reset();
  file.keys = {stringKey("s", "abc")};
  file.keys[0].bytes.replace(0, 8, littleEndian(uint64_t(1) << 62, 8));
  EXPECT_EQ(messageOf(file), "key 's': error: found the end of the file (64 bytes) at byte 45, "
                             "expected 4611686018427387904 bytes of a value");
  file.keys = {u32Key("k", 1), u32Key("k", 2)};
  EXPECT_EQ(messageOf(file), "key 'k': error: found the key twice, expected each key once");
  file.keys = {};
  file.tensors = {{"t", {31}, Q8_0Tensor, std::string(34, '\0')}};
  EXPECT_EQ(messageOf(file),
            "tensor 't': error: found rows of 31 values of type Q8_0, expected a multiple of 32");
  // The product would wrap around to 0.
  file.tensors = {{"t", {uint64_t(1) << 32, uint64_t(1) << 32}, F32Tensor, ""}};
  EXPECT_EQ(messageOf(file), "tensor 't': error: found dimension 2 of 4294967296, expected 1 to "
                             "65536 (a tensor has at most 281474976710656 values)");
  file.tensors = {{"t", {32}, F32Tensor, std::string(128, '\0'), 16}};
  EXPECT_EQ(messageOf(file), "tensor 't': error: found offset 16, expected a multiple of 32 "
                             "(general.alignment)");
  file.tensors[0].offset = 32;
  EXPECT_EQ(messageOf(file),
            "tensor 't': error: found 128 bytes at offset 32, expected all of them within the 128 "
            "bytes of data; the file may be cut off");
}

} // namespace
