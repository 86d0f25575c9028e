#include "phaze/report/model_report.h"

#include <fmt/format.h>

#include "phaze/report/json_text.h"
#include "phaze/report/table.h"
#include "phaze/workload/graphviz.h"

namespace phaze::report {
namespace {

using workload::Layer;
using workload::LayerId;
using workload::Recompute;

std::string_view name_of(Recompute recompute) {
  return recompute == Recompute::kNone ? "none" : recompute == Recompute::kSelective ? "selective" : "full";
}

std::string_view name_of(workload::AttentionKind kind) {
  return kind == workload::AttentionKind::kEager ? "eager" : "flash";
}

Json totals_json(const workload::OpGraph& graph) {
  const auto sum = workload::totals(graph);
  return {{"ops", sum.ops},
          {"gemm_flops", sum.gemm_flops.value()},
          {"vector_elements", sum.vector_elements},
          {"collective_bytes", sum.collective_bytes.value()},
          {"read_bytes", sum.read.value()},
          {"written_bytes", sum.written.value()}};
}

Json layer_json(const ModelView& view, LayerId id) {
  const Layer& layer = view.graph.layers[id.index()];
  Json json = {{"name", layer.name},
               {"repeat", view.graph.repeat(id)},
               {"parameters", layer.parameters},
               {"tied_parameters", layer.tied_parameters},
               {"saved_activation_bytes",
                {{"none", layer.saved.none.value()},
                 {"selective", layer.saved.selective.value()},
                 {"full", layer.saved.full.value()}}},
               {"forward", totals_json(layer.forward)},
               {"backward", totals_json(layer.backward)}};
  if (view.recompute != Recompute::kNone)
    json["recomputed"] = totals_json(workload::recomputed(layer.forward, view.recompute));
  return json;
}

}  // namespace

std::string model_json(const ModelView& view) {
  const auto& graph = view.graph;
  const auto flops = workload::model_flops(graph);
  Json json = {{"name", graph.model},
               {"family", graph.family},
               {"parameters", graph.parameters},
               {"sequence", graph.sequence},
               {"microbatch", graph.microbatch},
               {"tensor_parallel", graph.parallel.width},
               {"sequence_parallel", graph.parallel.sequence},
               {"attention", name_of(view.options.attention)},
               {"fused", view.options.fuse},
               {"recompute", name_of(view.recompute)},
               {"forward_gemm_flops", flops.forward.value()},
               {"backward_gemm_flops", flops.backward.value()},
               {"layers", Json::array()},
               {"nodes", Json::array()},
               {"edges", Json::array()},
               {"warnings", graph.warnings}};
  for (std::size_t i = 0; i < graph.layers.size(); ++i) json["layers"].push_back(layer_json(view, LayerId(i)));
  for (const auto& node : graph.nodes) json["nodes"].push_back(graph.layers[node.layer.index()].name);
  for (const auto& edge : graph.edges)
    json["edges"].push_back({{"from", edge.from.index()}, {"to", edge.to.index()}, {"bytes", edge.bytes.value()}});
  return text_of(json);
}

std::string dot_json(const std::string& dot) { return text_of({{"dot", dot}}); }

std::string model_text(const ModelView& view) {
  const auto& graph = view.graph;
  const auto flops = workload::model_flops(graph);
  std::string out = fmt::format("{} ({}): {} parameters, {} layers\n", graph.model, graph.family,
                                readable_count(static_cast<double>(graph.parameters)), graph.nodes.size());
  out += fmt::format("one microbatch of {} x {} tokens, {} attention{}{}\n", graph.microbatch, graph.sequence,
                     name_of(view.options.attention),
                     graph.parallel.width > 1 ? fmt::format(", tensor-parallel width {}", graph.parallel.width) : "",
                     graph.parallel.sequence ? " with sequence parallelism" : "");
  out += fmt::format("matrix products of all ranks: {} forward, {} backward\n\n",
                     readable_flops(static_cast<double>(flops.forward.value())),
                     readable_flops(static_cast<double>(flops.backward.value())));
  Table table({{"layer"},
               {"repeat", Align::kRight},
               {"parameters", Align::kRight},
               {"forward ops", Align::kRight},
               {"forward", Align::kRight},
               {"backward ops", Align::kRight},
               {"backward", Align::kRight},
               {"kept: none", Align::kRight},
               {"selective", Align::kRight},
               {"full", Align::kRight}});
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    const Layer& layer = graph.layers[i];
    const auto forward = workload::totals(layer.forward);
    const auto backward = workload::totals(layer.backward);
    table.row({layer.name, std::to_string(graph.repeat(LayerId(i))),
               readable_count(static_cast<double>(layer.parameters)), std::to_string(forward.ops),
               readable_flops(static_cast<double>(forward.gemm_flops.value())), std::to_string(backward.ops),
               readable_flops(static_cast<double>(backward.gemm_flops.value())),
               workload::readable_bytes(layer.saved.none), workload::readable_bytes(layer.saved.selective),
               workload::readable_bytes(layer.saved.full)});
  }
  out += table.to_string() +
         "\nper layer and rank; kept: activation bytes saved for the backward pass under each recompute policy\n";
  if (view.recompute == Recompute::kNone) return out;
  out += fmt::format("{} recompute runs again before the backward pass:\n", name_of(view.recompute));
  for (const Layer& layer : graph.layers) {
    const auto again = workload::totals(workload::recomputed(layer.forward, view.recompute));
    out += fmt::format("  {}: {} operators, {}\n", layer.name, again.ops,
                       readable_flops(static_cast<double>(again.gemm_flops.value())));
  }
  return out;
}

std::string zoo_json(const std::vector<ZooRow>& rows) {
  Json json = Json::array();
  for (const ZooRow& row : rows) {
    const auto& config = row.entry.config;
    json.push_back({{"name", config.name},
                    {"family", config.family},
                    {"parameters", row.parameters},
                    {"published_parameters", row.entry.published_parameters},
                    {"layers", config.layers + config.decoder_layers},
                    {"hidden", config.hidden},
                    {"heads", config.heads},
                    {"sequence", config.default_sequence},
                    {"source", row.entry.source},
                    {"note", row.entry.note}});
  }
  return text_of(json);
}

std::string zoo_text(const std::vector<ZooRow>& rows) {
  Table table({{"name"},
               {"family"},
               {"parameters", Align::kRight},
               {"layers", Align::kRight},
               {"hidden", Align::kRight},
               {"heads", Align::kRight},
               {"sequence", Align::kRight},
               {"source"}});
  for (const ZooRow& row : rows) {
    const auto& config = row.entry.config;
    table.row({config.name, config.family, readable_count(static_cast<double>(row.parameters)),
               std::to_string(config.layers + config.decoder_layers), std::to_string(config.hidden),
               std::to_string(config.heads), std::to_string(config.default_sequence), row.entry.source});
  }
  return table.to_string();
}

}  // namespace phaze::report
