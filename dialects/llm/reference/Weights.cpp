// SPDX-License-Identifier: Apache-2.0
//
// Reads weights by symbol, and says where an op is.
#include "dialects/llm/reference/Weights.h"
#include "dialects/llm/WeightFormat.h"
#include "dialects/llm/reference/Math.h"

using namespace mlir;

namespace llmc::reference {
namespace {

struct Place {
  std::string file;
  std::string inside;
};

/// The file and the place inside it: the name given to the op first, else line and column.
Place placeOf(Location location) {
  if (auto name = dyn_cast<NameLoc>(location))
    return {placeOf(name.getChildLoc()).file, name.getName().str()};
  if (auto file = dyn_cast<FileLineColLoc>(location))
    return {file.getFilename().str(),
            std::to_string(file.getLine()) + ":" + std::to_string(file.getColumn())};
  if (auto fused = dyn_cast<FusedLoc>(location))
    for (Location part : fused.getLocations())
      if (Place place = placeOf(part); !place.inside.empty())
        return place;
  return {};
}

std::string shapeText(ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

std::string_view textOf(Attribute string) {
  StringRef text = cast<StringAttr>(string).getValue();
  return {text.data(), text.size()};
}

} // namespace

Error opError(Operation *op, const std::string &text) {
  Place place = placeOf(op->getLoc());
  return errorAt(place.file, escaped(place.inside),
                 "'" + op->getName().getStringRef().str() + "' op " + text);
}

Result<Tensor> Weights::read(llm::WeightOp weight) {
  int64_t rows = weight.getType().getRows(), columns = weight.getType().getColumns(), filled = 0;
  ArrayAttr sources = *weight.getSources();
  bool vector = weight.getType().getShape().size() == 1;
  // First whether all sources fit, so that nothing is allocated for a weight that no file can fill.
  for (Attribute attribute : sources) {
    const model::TensorInfo *info = source.find(textOf(attribute));
    if (!info)
      return opError(weight, "names the source '" + escaped(textOf(attribute)) +
                                 "', expected a tensor of the weights given");
    int64_t length =
        vector ? info->columns() : info->rows(); // a vector stacks its sources end to end
    bool fits = vector ? info->rows() == 1 : info->columns() == columns;
    filled += length;
    if (!fits || filled > (vector ? columns : rows))
      return std::move(opError(weight, "expects its sources stacked to make " +
                                           shapeText(weight.getType().getShape()) + ", found '" +
                                           escaped(info->name) + "' of " + shapeText(info->shape)))
          .withNote("note: the tensor comes from " + info->place);
  }
  if (filled != (vector ? columns : rows))
    return opError(weight, "expects its sources stacked to make " +
                               shapeText(weight.getType().getShape()) + ", found " +
                               std::to_string(filled) + (vector ? " elements" : " rows"));
  Tensor tensor(rows, columns);
  float *out = tensor.values.data();
  model::Format format = llm::formatOf(weight.getType().getElementType());
  for (Attribute attribute : sources) {
    const model::TensorInfo *info = source.find(textOf(attribute));
    if (Status status =
            model::readRowsAs(source, textOf(attribute), format, 0, info->rows(), out);
        !status)
      return status.takeError();
    out += info->rows() * info->columns();
  }
  return tensor;
}

Result<const Tensor *> Weights::get(Operation *user, FlatSymbolRefAttr symbol) {
  auto found = loaded.find(symbol.getValue());
  if (found != loaded.end())
    return &found->second;
  llm::WeightOp weight = llm::lookupWeight(user, symbol);
  if (!weight || !weight.getSources())
    return opError(user,
                   "names @" + symbol.getValue().str() + ", expected an llm.weight with sources");
  Result<Tensor> tensor = read(weight);
  if (!tensor)
    return tensor.takeError();
  return &(loaded[symbol.getValue()] = std::move(*tensor));
}

Result<Tensor> Weights::rows(Operation *user, FlatSymbolRefAttr symbol,
                             const std::vector<int32_t> &numbers) {
  llm::WeightOp weight = llm::lookupWeight(user, symbol);
  if (!weight)
    return opError(user, "names @" + symbol.getValue().str() +
                             ", expected an llm.weight of that name in the module");
  for (int32_t number : numbers)
    if (number < 0 || number >= weight.getType().getRows())
      return opError(user, "reads row " + std::to_string(number) + " of @" +
                               symbol.getValue().str() + ", expected 0 to " +
                               std::to_string(weight.getType().getRows() - 1));
  if (!weight.getComputed()) {
    Result<const Tensor *> table = get(user, symbol);
    return table ? Result<Tensor>(gatherRows(**table, numbers)) : Result<Tensor>(table.takeError());
  }
  llm::RopeTableAttr rope = *weight.getComputed();
  ArrayRef<float> frequencies = rope.getFrequencies().asArrayRef();
  Tensor tensor(int64_t(numbers.size()), weight.getType().getColumns());
  for (int64_t i = 0; i < tensor.lines; ++i)
    ropeTableRow(frequencies.data(), int64_t(frequencies.size()),
                 rope.getMagnitude().getValue().convertToFloat(), numbers[size_t(i)],
                 tensor.line(i));
  return tensor;
}

} // namespace llmc::reference
