// SPDX-License-Identifier: Apache-2.0
// The options of `llmc eval`.
#include "tools/llmc/CommandLineParts.h"

namespace llmc::tool {

Body declareEval(CLI::App &app) {
  auto options = std::make_shared<EvalOptions>();
  auto ids = std::make_shared<std::string>();
  declareModel(app, options->model);
  CLI::Option *text =
      app.add_option("--text", options->file, "UTF-8 text to predict; - is standard input")
          ->type_name("F");
  CLI::Option *idsFile =
      app.add_option("--ids", *ids, "a file of token ids instead, as in 1,2,3")->type_name("F");
  app.add_option("--against", options->against,
                 "compare logits with a model.so; with a model that is\nnot compiled, made float32 "
                 "for it; or F.npy, f32 [tokens, vocabulary]")
      ->type_name("X");
  declareCount(app, "--window", options->window,
               "tokens of a text: longer ones are cut [the model's positions]", 2, kMostTokens);
  declareCount(app, "--tokens", options->tokens, "only the first so many [all]", 1, kMostTokens);
  declareThreads(app, options->model);
  app.footer("Prints the mean negative log likelihood of a token (nats) and its exponential, the "
             "perplexity;\nwith --against also mean, 99th percentile and largest of the "
             "divergence KL(X || model) of a\ntoken (nats), and how often both have the same "
             "likeliest token. Time goes to stderr.\n"
             "  llmc eval model.so --text book.txt --against model.gguf --tokens 2000");
  app.callback([=] {
    if (text->count() + idsFile->count() != 1)
      throw CLI::ValidationError("found " + std::string(text->count() ? "both" : "neither") +
                                 " of --text and --ids, expected one of them");
    options->isIds = idsFile->count() > 0;
    if (options->isIds)
      options->file = *ids;
  });
  return [options, ids] { return evalModel(*options); };
}

} // namespace llmc::tool
