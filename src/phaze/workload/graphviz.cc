#include "phaze/workload/graphviz.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

namespace phaze::workload {
namespace {

// Inside a double-quoted Graphviz string only the quote and the backslash are special; line breaks become \n.
std::string escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out;
}

// Okabe and Ito's palette, distinguishable by people with colour-vision deficiencies.
std::string_view colour(const Work& work) {
  if (is_nop(work)) return "#f2f2f2";
  if (std::holds_alternative<Gemm>(work)) return "#56b4e9";
  if (std::holds_alternative<Attention>(work)) return "#009e73";
  if (std::holds_alternative<Collective>(work)) return "#e69f00";
  return "#f0e442";
}

}  // namespace

std::string readable_bytes(Bytes bytes) {
  constexpr std::array kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto value = static_cast<double>(bytes.value());
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  return fmt::format("{:.3g} {}", value, kUnits[unit]);
}

std::string to_dot(const OpGraph& graph, std::string_view title) {
  std::string out = fmt::format("digraph \"{}\" {{\n", escape(title));
  out += "  rankdir=TB;\n  node [shape=box, style=\"filled,rounded\", fontname=\"sans-serif\", fontsize=10];\n";
  out += "  edge [fontname=\"sans-serif\", fontsize=8];\n";
  const auto write = std::back_inserter(out);
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const OpId id(i);
    std::string what = describe(graph.op(id).work);
    for (const VectorWork& fused : graph.fused(id)) what += " + " + describe(Work(fused));
    fmt::format_to(write, "  op{} [label=\"{}\\n{}\", fillcolor=\"{}\"];\n", i, escape(graph.name(id)), escape(what),
                   colour(graph.op(id).work));
  }
  for (std::size_t i = 0; i < graph.tensor_count(); ++i) {
    const TensorId id(i);
    const Tensor& tensor = graph.tensor(id);
    if (tensor.role == TensorRole::kParameter || tensor.role == TensorRole::kConstant) continue;
    std::string from = fmt::format("op{}", tensor.producer.index());
    if (!tensor.producer.valid()) {
      if (graph.consumers(id).empty()) continue;
      from = fmt::format("in{}", i);
      fmt::format_to(write, "  {} [label=\"{}\", shape=ellipse, style=dashed];\n", from,
                     tensor.role == TensorRole::kSaved ? "saved" : "input");
    }
    for (const OpId reader : graph.consumers(id))
      fmt::format_to(write, "  {} -> op{} [label=\"{}\"];\n", from, reader.index(), readable_bytes(tensor.bytes()));
    if (tensor.output && tensor.producer.valid())
      fmt::format_to(write, "  out{} [label=\"output\", shape=ellipse, style=dashed];\n  {} -> out{} [label=\"{}\"];\n",
                     i, from, i, readable_bytes(tensor.bytes()));
  }
  return out + "}\n";
}

std::string to_dot(const LayerGraph& graph) {
  std::string out = fmt::format("digraph \"{}\" {{\n", escape(graph.model));
  out += "  rankdir=TB;\n  node [shape=box, style=rounded, fontname=\"sans-serif\", fontsize=10];\n";
  out += "  edge [fontname=\"sans-serif\", fontsize=8];\n";
  const auto write = std::back_inserter(out);
  // The first node of the run that each node belongs to.
  std::vector<std::size_t> run(graph.nodes.size());
  for (std::size_t i = 1; i < run.size(); ++i) run[i] = graph.nodes[i] == graph.nodes[i - 1] ? run[i - 1] : i;
  for (std::size_t i = 0; i < run.size(); ++i) {
    if (run[i] != i) continue;
    const auto length = std::ranges::count(run, i);
    const Layer& layer = graph.layers[graph.nodes[i].layer.index()];
    fmt::format_to(write, "  node{} [label=\"{}{}\"];\n", i, escape(layer.name),
                   length > 1 ? fmt::format(" x {}", length) : "");
  }
  std::set<std::pair<std::size_t, std::size_t>> drawn;
  for (const LayerEdge& edge : graph.edges) {
    const std::size_t from = run[edge.from.index()];
    const std::size_t to = run[edge.to.index()];
    if (from == to || !drawn.emplace(from, to).second) continue;
    fmt::format_to(write, "  node{} -> node{} [label=\"{}\"];\n", from, to, readable_bytes(edge.bytes));
  }
  return out + "}\n";
}

}  // namespace phaze::workload
