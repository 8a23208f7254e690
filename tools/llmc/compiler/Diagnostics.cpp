// SPDX-License-Identifier: Apache-2.0
//
// MLIR's diagnostics as one line of error and its notes.
#include "tools/llmc/compiler/Diagnostics.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/IR/Location.h"

using namespace mlir;
using namespace llmc;

std::string DiagnosticCollector::placeOf(Location location) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  location->walk([&](Location inner) {
    if (auto name = dyn_cast<NameLoc>(inner))
      stream << (text.empty() ? "" : " ") << name.getName().getValue();
    else if (auto file = dyn_cast<FileLineColLoc>(inner))
      stream << (text.empty() ? "" : " ") << file.getFilename().getValue() << ':' << file.getLine() << ':' << file.getColumn();
    else
      return WalkResult::advance();
    return WalkResult::interrupt();
  });
  return text;
}

LogicalResult DiagnosticCollector::collect(Diagnostic &diagnostic) {
  if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
    return success(); // remarks have their own engine
  std::string place = escaped(placeOf(diagnostic.getLocation())), text = escaped(diagnostic.str(), 2000);
  if (!first) {
    first = errorAt(place.empty() ? "module" : place, "", text);
    for (const Diagnostic &note : diagnostic.getNotes())
      first->notes.push_back(noteAt(escaped(placeOf(note.getLocation())), "", escaped(note.str(), 2000)));
  } else {
    first->notes.push_back(noteAt(place, "", text));
  }
  return success();
}
