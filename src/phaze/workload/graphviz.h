// A graph as Graphviz text: operators as boxes coloured by kind, edges labelled with the bytes that flow.
#pragma once

#include <string>
#include <string_view>

#include "phaze/workload/layer_graph.h"
#include "phaze/workload/op_graph.h"

namespace phaze::workload {

std::string to_dot(const OpGraph& graph, std::string_view title);

// The layers of a model; runs of equal layers are one box.
std::string to_dot(const LayerGraph& graph);

// "2 MiB", "1.5 GiB": three significant digits.
std::string readable_bytes(Bytes bytes);

}  // namespace phaze::workload
