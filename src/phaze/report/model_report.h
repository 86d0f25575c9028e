// A model's layers and graphs, as JSON for programs and as text for people.
#pragma once

#include <string>
#include <vector>

#include "phaze/workload/layer_graph.h"
#include "phaze/workload/transformer/build.h"
#include "phaze/workload/zoo/zoo.h"

namespace phaze::report {

struct ModelView {
  const workload::LayerGraph& graph;
  const workload::WorkloadOptions& options;
  workload::Recompute recompute = workload::Recompute::kNone;
};

// The keys of `phaze model show --json`.
std::string model_json(const ModelView& view);
std::string model_text(const ModelView& view);

// {"dot": ...}: Graphviz text as a JSON document.
std::string dot_json(const std::string& dot);

struct ZooRow {
  workload::ZooEntry entry;
  std::int64_t parameters = 0;
};
std::string zoo_json(const std::vector<ZooRow>& rows);
std::string zoo_text(const std::vector<ZooRow>& rows);

}  // namespace phaze::report
