#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "phaze/base/nearest.h"
#include "phaze/cli/commands.h"
#include "phaze/cli/flags.h"
#include "phaze/cli/model_options.h"
#include "phaze/cli/output_file.h"
#include "phaze/cli/session.h"
#include "phaze/cli/svg.h"
#include "phaze/report/model_report.h"
#include "phaze/workload/graphviz.h"
#include "phaze/workload/load.h"
#include "phaze/workload/zoo/zoo.h"

namespace phaze::cli {
namespace {

Result<workload::LayerGraph> load(const ModelOptions& options, Session& session) {
  auto graph = workload::load_model(options.model, options.workload, session.progress);
  if (!graph) return graph;
  for (const std::string& warning : graph->warnings) session.log.warning(warning);
  return graph;
}

void list(Session& session) {
  std::vector<report::ZooRow> rows;
  for (const std::string& name : workload::zoo_names()) {
    auto entry = workload::zoo_entry(name);
    if (!entry) return session.fail(entry.error());
    const auto graph = workload::build(entry->config, {.sequence = entry->config.image_size > 0 ? 0 : 1});
    if (!graph) return session.fail(graph.error());
    rows.push_back({std::move(*entry), graph->parameters});
  }
  session.answer(session.json ? report::zoo_json(rows) : report::zoo_text(rows));
}

void show(const ModelOptions& options, Session& session) {
  const auto graph = load(options, session);
  if (!graph) return session.fail(graph.error());
  const report::ModelView view{*graph, options.workload, options.recompute};
  session.answer(session.json ? report::model_json(view) : report::model_text(view));
}

struct GraphOptions {
  ModelOptions model;
  std::string layer, pass = "forward", output;
};

void draw(const GraphOptions& options, Session& session) {
  const std::string extension =
      options.output.substr(std::min(options.output.size(), options.output.find_last_of('.')));
  if (!options.output.empty() && options.output != "-" && extension != ".dot" && extension != ".svg")
    return session.fail({"the file must end in .dot or .svg, not '" + options.output + "'", "-o"});
  if (options.layer.empty() && options.pass != "forward")
    return session.fail({"the passes of all layers together are not drawn", "--pass", "name one with --layer"});
  if (options.pass == "recomputed" && options.model.recompute == workload::Recompute::kNone)
    return session.fail({"nothing runs again without recompute", "--pass", "add --recompute selective or full"});
  const auto graph = load(options.model, session);
  if (!graph) return session.fail(graph.error());
  std::string dot;
  if (options.layer.empty()) {
    dot = workload::to_dot(*graph);
  } else {
    const auto layer = std::ranges::find(graph->layers, options.layer, &workload::Layer::name);
    if (layer == graph->layers.end()) {
      std::vector<std::string> names;
      for (const auto& known : graph->layers) names.push_back(known.name);
      return session.fail(
          {"'" + graph->model + "' has no layer '" + options.layer + "'", "--layer", suggest(options.layer, names)});
    }
    const workload::OpGraph drawn = options.pass == "forward" ? layer->forward
                                    : options.pass == "backward"
                                        ? layer->backward
                                        : workload::recomputed(layer->forward, options.model.recompute);
    dot = workload::to_dot(drawn, graph->model + " " + layer->name + " " + options.pass);
  }
  if (options.output.empty() || options.output == "-")
    return session.answer(session.json ? report::dot_json(dot) : dot);
  const auto text = extension == ".dot" ? Result<std::string>(std::move(dot)) : svg_of(dot);
  if (!text) return session.fail(within(options.output, text.error()));
  if (const Status written = write_file(options.output, *text); !written) return session.fail(written.error());
  session.log.info("wrote " + options.output);
}

}  // namespace

void ModelOptions::add_to(CLI::App& command, bool required) {
  command
      .add_option("MODEL", model, "A zoo name (see 'phaze model list'), a Hugging Face config.json, or an .onnx file")
      ->required(required);
  const auto count = [&](const std::string& name, std::int64_t& target, const std::string& help) {
    command.add_option(name, target, help)->check(positive_whole_number())->type_name("N");
  };
  count("--seq", workload.sequence, "Tokens per sample (default: the model's own)");
  count("--microbatch", workload.microbatch, "Samples per microbatch (default: 1)");
  count("--tensor-parallel", workload.parallel.width,
        "Tensor-parallel width: ranks that share each layer (default: 1)");
  command.add_flag("--sequence-parallel", workload.parallel.sequence,
                   "Share norms, dropout and residuals out by tokens over those ranks");
  using phaze::workload::AttentionKind;
  add_choice<AttentionKind>(command, "--attention", workload.attention,
                            {{"eager", AttentionKind::kEager}, {"flash", AttentionKind::kFlash}},
                            "eager: scores are written out; flash: fused and tiled (default: eager)");
  using phaze::workload::Recompute;
  add_choice<Recompute>(
      command, "--recompute", recompute,
      {{"none", Recompute::kNone}, {"selective", Recompute::kSelective}, {"full", Recompute::kFull}},
      "What runs again before the backward pass: nothing, the attention core, or the layer (default: none)");
  command.add_flag("--fuse", workload.fuse, "Fuse element-wise operators into the operator that feeds them");
}

void add_model_command(CLI::App& app, Session& session) {
  CLI::App& model = *app.add_subcommand("model", "Models and their training graphs: list, show, graph");
  model.require_subcommand(1);
  model.footer(
      "Examples:\n"
      "  phaze model list\n"
      "  phaze model show llama3-70b --tensor-parallel 8 --sequence-parallel\n"
      "  phaze model show path/to/config.json --seq 4096 --json\n"
      "  phaze model graph gpt2-xl --layer block --pass backward -o block.svg");

  CLI::App& list_command = *model.add_subcommand("list", "The models that are built in, with their sources");
  list_command.callback([&session] { list(session); });

  const auto shown = std::make_shared<ModelOptions>();
  CLI::App& show_command = *model.add_subcommand("show", "Parameters, operations and kept activations of each layer");
  shown->add_to(show_command);
  show_command.footer(
      "Numbers are per layer and tensor-parallel rank, for one microbatch. Collective bytes are the sizes of the "
      "tensors\n"
      "that are reduced or gathered.");
  show_command.callback([shown, &session] { show(*shown, session); });

  const auto drawn = std::make_shared<GraphOptions>();
  CLI::App& graph_command =
      *model.add_subcommand("graph", "A layer's operator graph, or the model's layers, as Graphviz");
  drawn->model.add_to(graph_command);
  graph_command
      .add_option("--layer", drawn->layer,
                  "Which layer, by its name in 'phaze model show' (default: the graph of all layers)")
      ->type_name("NAME");
  graph_command
      .add_option("--pass", drawn->pass, "Which pass; recomputed: what --recompute runs again (default: forward)")
      ->check(one_of({"forward", "backward", "recomputed"}))
      ->type_name("forward|backward|recomputed");
  graph_command
      .add_option("-o,--output", drawn->output, "FILE.dot or FILE.svg (default: Graphviz text on standard output)")
      ->type_name("FILE");
  graph_command.callback([drawn, &session] { draw(*drawn, session); });
}

}  // namespace phaze::cli
