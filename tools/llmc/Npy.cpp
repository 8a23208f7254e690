// SPDX-License-Identifier: Apache-2.0
// The header: magic, version, length as 16 bits, a Python dictionary padded with spaces so that the
// values start at a multiple of 64.
#include "tools/llmc/Npy.h"

namespace llmc::tool {
namespace {

constexpr size_t kPreambleBytes = 10;
constexpr size_t kAlignment = 64;

std::string npyHeader(uint64_t rows, uint64_t columns) {
  std::string dictionary = "{'descr': '<f4', 'fortran_order': False, 'shape': (" +
                           std::to_string(rows) + ", " + std::to_string(columns) + "), }";
  while ((kPreambleBytes + dictionary.size() + 1) % kAlignment)
    dictionary += ' ';
  dictionary += '\n';
  std::string header = "\x93NUMPY";
  header += '\1';
  header += '\0';
  header += static_cast<char>(dictionary.size() & 255);
  header += static_cast<char>(dictionary.size() >> 8);
  return header + dictionary;
}

} // namespace

Status NpyWriter::open() {
  if (Status status = file.open(); !status)
    return status;
  const std::string header = npyHeader(rows, columns);
  return file.write(header.data(), header.size());
}

Status NpyWriter::writeRows(const float *data, uint64_t count) {
  return file.write(data, static_cast<size_t>(count * columns) * sizeof(float));
}

Status writeNpy(const std::string &path, const float *data, uint64_t rows, uint64_t columns) {
  NpyWriter writer(path, rows, columns);
  if (Status status = writer.open(); !status)
    return status;
  if (Status status = writer.writeRows(data, rows); !status)
    return status;
  return writer.commit();
}

} // namespace llmc::tool
