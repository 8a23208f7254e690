// SPDX-License-Identifier: Apache-2.0
// ptx-interpreter: runs one kernel of a PTX file on this machine's CPU with arguments from files,
// and prints what the checkers found and what the launch cost. Exit code 0: clean; 1: an error or a
// finding; 2: wrong usage.
#include "tools/ptx-interpreter/Machine.h"

#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>

using namespace llmc::ptx;

namespace {

constexpr const char *usageText =
    "usage: ptx-interpreter FILE.ptx --list\n"
    "       ptx-interpreter FILE.ptx --kernel NAME --grid X,Y,Z --block X,Y,Z [--arg ARG]...\n"
    "\n"
    "  --list           print the kernels with their parameters, memory and instruction forms\n"
    "  --kernel NAME    kernel to launch\n"
    "  --grid X,Y,Z     blocks (default 1,1,1; missing extents are 1)\n"
    "  --block X,Y,Z    threads a block (default 1,1,1)\n"
    "  --shared BYTES   dynamic shared memory a block (default 0)\n"
    "  --budget COUNT   warp instructions the launch may take (default 1073741824)\n"
    "  --arg ARG        next parameter of the kernel, one of\n"
    "      in:TYPE:FILE            device pointer to the file's bytes\n"
    "      out:TYPE:COUNT:FILE     device pointer to uninitialised elements, written to FILE "
    "afterwards\n"
    "      inout:TYPE:FILE:FILE    device pointer to the first file's bytes, written to the second "
    "afterwards\n"
    "      u32:VALUE u64:VALUE s32:VALUE f32:VALUE\n"
    "    TYPE is a PTX scalar type (f32, u32, f16, ...); files are raw little-endian elements\n"
    "\n"
    "example: ptx-interpreter add.ptx --kernel add --grid 4 --block 128 \\\n"
    "           --arg in:f32:a.bin --arg in:f32:b.bin --arg out:f32:500:c.bin --arg u32:500\n";

constexpr int exitClean = 0, exitError = 1, exitUsage = 2;

struct Output {
  uint64_t address;
  uint64_t bytes;
  std::string file;
};

struct Request {
  std::string file, kernel;
  bool list = false;
  LaunchShape shape;
  uint64_t budget = MachineOptions().instructionBudget;
  std::vector<std::string> arguments;
};

int usageError(const std::string &message) {
  std::fprintf(stderr, "ptx-interpreter: error: %s\n%s", message.c_str(), usageText);
  return exitUsage;
}

int failure(const std::string &message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  return exitError;
}

bool parseNumber(const std::string &text, uint64_t most, uint64_t &value) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos || text.size() > 20)
    return false;
  char *end = nullptr;
  errno = 0;
  value = std::strtoull(text.c_str(), &end, 10);
  return errno == 0 && value <= most;
}

bool parseExtents(const std::string &text, uint32_t (&extents)[3]) {
  size_t begin = 0;
  for (unsigned index = 0; index < 3; ++index) {
    size_t comma = text.find(',', begin);
    uint64_t value = 0;
    if (!parseNumber(text.substr(begin, comma == std::string::npos ? comma : comma - begin),
                     UINT32_MAX, value))
      return false;
    extents[index] = uint32_t(value);
    if (comma == std::string::npos)
      return true;
    begin = comma + 1;
  }
  return false;
}

/// Returns a message when the command line is wrong.
std::string parseCommandLine(int count, char **words, Request &request) {
  for (int index = 1; index < count; ++index) {
    std::string word = words[index];
    if (word == "--list") {
      request.list = true;
      continue;
    }
    if (word.substr(0, 2) != "--") {
      if (!request.file.empty())
        return "found a second file '" + word + "', expected one";
      request.file = word;
      continue;
    }
    if (index + 1 >= count)
      return "option '" + word + "' has no value";
    std::string value = words[++index];
    uint64_t number = 0;
    if (word == "--kernel")
      request.kernel = value;
    else if (word == "--arg")
      request.arguments.push_back(value);
    else if (word == "--grid" || word == "--block") {
      if (!parseExtents(value, word == "--grid" ? request.shape.grid : request.shape.block))
        return word + " is '" + value + "', expected X, X,Y or X,Y,Z";
    } else if (word == "--shared" || word == "--budget") {
      bool budget = word == "--budget";
      if (!parseNumber(value, budget ? UINT64_MAX : UINT32_MAX, number))
        return word + " is '" + value + "', expected a number";
      if (budget)
        request.budget = number;
      else
        request.shape.dynamicSharedBytes = uint32_t(number);
    } else
      return "unknown option '" + word + "'";
  }
  if (request.file.empty())
    return "no file given";
  if (!request.list && request.kernel.empty())
    return "neither --list nor --kernel given";
  return "";
}

bool readFile(const std::string &path, uint64_t most, std::string &bytes, std::string &error) {
  std::ifstream stream(path, std::ios::binary | std::ios::ate);
  if (!stream) {
    error = path + ": error: cannot be read";
    return false;
  }
  std::streamoff size = stream.tellg();
  if (size < 0 || uint64_t(size) > most) {
    error = path + ": error: found " + std::to_string(size) + " bytes, expected at most " +
            std::to_string(most);
    return false;
  }
  bytes.resize(size_t(size));
  stream.seekg(0);
  stream.read(bytes.data(), size);
  if (stream.gcount() != size) {
    error = path + ": error: cannot be read to its end";
    return false;
  }
  return true;
}

std::vector<std::string> splitColons(const std::string &text, size_t most) {
  std::vector<std::string> parts;
  size_t begin = 0;
  while (parts.size() + 1 < most) {
    size_t colon = text.find(':', begin);
    if (colon == std::string::npos)
      break;
    parts.push_back(text.substr(begin, colon - begin));
    begin = colon + 1;
  }
  parts.push_back(text.substr(begin));
  return parts;
}

class ArgumentReader {
public:
  ArgumentReader(Machine &machine, std::vector<Output> &outputs)
      : machine(machine), outputs(outputs) {}
  /// The parameter's value; a usage message in `usage` or an error in `error` otherwise.
  bool read(const std::string &text, uint64_t &value);
  std::string usage, error;

private:
  bool readBuffer(const std::vector<std::string> &parts, uint64_t &address);
  bool place(const std::string &bytes, uint64_t &address);

  Machine &machine;
  std::vector<Output> &outputs;
};

bool ArgumentReader::place(const std::string &bytes, uint64_t &address) {
  address = machine.memory().allocate(bytes.size());
  if (address && machine.memory().write(address, bytes.data(), bytes.size()))
    return true;
  error = "ptx-interpreter: error: no device memory for a buffer of " +
          std::to_string(bytes.size()) + " bytes";
  return false;
}

bool ArgumentReader::readBuffer(const std::vector<std::string> &parts, uint64_t &address) {
  ScalarType type = scalarTypeFromName(parts[1]);
  uint64_t size = type == ScalarType::Pred ? 0 : sizeInBytes(type);
  if (size == 0) {
    usage = "argument type is '" + parts[1] + "', expected a PTX scalar type";
    return false;
  }
  constexpr uint64_t mostBytes = uint64_t(8) << 30;
  uint64_t count = 0;
  if (parts[0] == "out") {
    if (!parseNumber(parts[2], mostBytes / size, count) || count == 0) {
      usage = "element count is '" + parts[2] + "', expected a positive number";
      return false;
    }
    address = machine.memory().allocate(count * size);
    if (!address)
      error =
          "ptx-interpreter: error: no device memory for " + std::to_string(count * size) + " bytes";
    outputs.push_back({address, count * size, parts[3]});
    return address != 0;
  }
  std::string bytes;
  if (!readFile(parts[2], mostBytes, bytes, error))
    return false;
  if (bytes.empty() || bytes.size() % size) {
    error = parts[2] + ": error: found " + std::to_string(bytes.size()) +
            " bytes, expected a multiple of " + std::to_string(size);
    return false;
  }
  if (parts[0] == "inout")
    outputs.push_back({0, bytes.size(), parts[3]});
  bool placed = place(bytes, address);
  if (parts[0] == "inout")
    outputs.back().address = address;
  return placed;
}

bool ArgumentReader::read(const std::string &text, uint64_t &value) {
  std::vector<std::string> parts = splitColons(text, 4);
  const std::string &kind = parts[0];
  if ((kind == "in" && parts.size() == 3) ||
      ((kind == "out" || kind == "inout") && parts.size() == 4))
    return readBuffer(parts, value);
  if (parts.size() == 2 && (kind == "u32" || kind == "u64") &&
      parseNumber(parts[1], kind == "u32" ? UINT32_MAX : UINT64_MAX, value))
    return true;
  char *end = nullptr;
  if (parts.size() == 2 && kind == "s32" && !parts[1].empty()) {
    long long number = std::strtoll(parts[1].c_str(), &end, 10);
    value = uint32_t(number);
    if (*end == 0 && number >= INT32_MIN && number <= INT32_MAX)
      return true;
  }
  if (parts.size() == 2 && kind == "f32" && !parts[1].empty()) {
    value = floatCell(std::strtof(parts[1].c_str(), &end));
    if (*end == 0)
      return true;
  }
  usage = "argument is '" + text +
          "', expected in:TYPE:FILE, out:TYPE:COUNT:FILE, inout:TYPE:FILE:FILE, u32:, "
          "u64:, s32: or f32:VALUE";
  return false;
}

void list(const Module &module) {
  for (const Kernel &kernel : module.kernels) {
    std::printf(
        "kernel %s: %zu instructions, %zu registers, %u bytes shared, %u bytes local a thread\n",
        kernel.name.c_str(), kernel.code.size(), kernel.registerBits.size(), kernel.dynamicOffset,
        kernel.localBytes);
    for (size_t index = 0; index < kernel.parameters.size(); ++index)
      std::printf("  parameter %zu: %u bytes\n", index, kernel.parameters[index].size);
    std::map<std::string, unsigned> forms;
    for (const Instruction &instruction : kernel.code)
      ++forms[instruction.mnemonic];
    for (const auto &entry : forms)
      std::printf("  %6u %s\n", entry.second, entry.first.c_str());
  }
}

void print(const LaunchResult &result, const std::string &file) {
  for (const Report &report : result.reports)
    std::fprintf(stderr, "%s\n", describe(report, file).c_str());
  if (result.droppedReports)
    std::fprintf(stderr, "%s: note: %" PRIu64 " more findings\n", file.c_str(),
                 result.droppedReports);
  const Counters &counters = result.counters;
  std::printf("warp instructions      %" PRIu64 "\n", counters.instructions);
  std::printf("global accesses        %" PRIu64 "\n", counters.globalAccesses);
  std::printf("global 32-byte sectors %" PRIu64 "\n", counters.globalSectors);
  std::printf("global bytes read      %" PRIu64 "\n", counters.globalBytesRead);
  std::printf("global bytes written   %" PRIu64 "\n", counters.globalBytesWritten);
  std::printf("shared accesses        %" PRIu64 "\n", counters.sharedAccesses);
  std::printf("shared wavefronts      %" PRIu64 "\n", counters.sharedWavefronts);
  std::printf("block barriers         %" PRIu64 "\n", counters.barriers);
}

bool writeOutputs(Machine &machine, const std::vector<Output> &outputs, std::string &error) {
  for (const Output &output : outputs) {
    std::string bytes(output.bytes, '\0');
    machine.memory().read(output.address, bytes.data(), output.bytes);
    std::ofstream stream(output.file, std::ios::binary);
    stream.write(bytes.data(), std::streamsize(bytes.size()));
    stream.close();
    if (!stream) {
      error = output.file + ": error: cannot be written";
      return false;
    }
  }
  return true;
}

int runKernel(Machine &machine, const LoadedModule &module, const Request &request) {
  const Kernel *kernel = module.module.find(request.kernel);
  if (!kernel)
    return failure(request.file + ": error: has no kernel '" + request.kernel +
                   "', --list prints those it has");
  std::vector<Output> outputs;
  std::vector<uint64_t> values;
  ArgumentReader reader(machine, outputs);
  for (const std::string &argument : request.arguments) {
    values.push_back(0);
    if (!reader.read(argument, values.back()))
      return reader.usage.empty() ? failure(reader.error) : usageError(reader.usage);
  }
  std::vector<uint8_t> parameters;
  std::string error;
  if (!packParameters(*kernel, values, parameters, error))
    return failure(request.file + ": error: " + error);
  LaunchResult result = machine.launch(module, *kernel, request.shape, parameters);
  if (result.refused)
    return failure(result.error);
  print(result, request.file);
  if (!result.completed)
    return exitError;
  if (!writeOutputs(machine, outputs, error))
    return failure(error);
  return result.clean() ? exitClean : exitError;
}

} // namespace

int main(int count, char **words) {
  if (count == 2 && (std::string(words[1]) == "--help" || std::string(words[1]) == "-h")) {
    std::fputs(usageText, stdout);
    return exitClean;
  }
  Request request;
  if (std::string message = parseCommandLine(count, words, request); !message.empty())
    return usageError(message);
  std::string text, error;
  if (!readFile(request.file, limits::textBytes, text, error))
    return failure(error);
  MachineOptions options;
  options.instructionBudget = request.budget;
  Machine machine(options);
  LoadedModule *module = machine.load(text, request.file, error);
  if (!module)
    return failure(error);
  if (request.list) {
    list(module->module);
    return exitClean;
  }
  return runKernel(machine, *module, request);
}
