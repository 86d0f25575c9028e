#include "phaze/cli/run_record.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>

#include "phaze/base/bytes.h"
#include "phaze/cli/run_schedules.h"
#include "phaze/hardware/chip_file.h"
#include "phaze/hardware/cluster.h"
#include "phaze/hardware/design_space.h"
#include "phaze/hardware/parameter.h"
#include "phaze/report/chip_report.h"
#include "phaze/report/insight_report.h"
#include "phaze/run_db/content_hash.h"
#include "phaze/workload/zoo/zoo.h"

namespace phaze::cli {
namespace {

// Where the results go, how fast they come, and what they are compared with: a comparison may go on with a search.
constexpr std::array kOnlyHow = {"help", "out", "resume", "threads", "time-limit", "budget", "seed"};

std::map<std::string, std::string> settings_of(const CLI::App& command) {
  std::map<std::string, std::string> settings;
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() == 0 || option->get_lnames().empty()) continue;
    const std::string& name = option->get_lnames().front();
    if (std::ranges::find(kOnlyHow, name) != kOnlyHow.end()) continue;
    std::string value;
    for (const std::string& part : option->results()) value += (value.empty() ? "" : ",") + part;
    settings["--" + name] = value;
  }
  return settings;
}

// By what it stands for, files that it names included. A file of its own counts by its bytes, too: answers quote it. As
// everywhere, a preset comes before a file of the same name.
Result<run_db::Input> input(const std::string& kind, const std::string& name, const std::vector<std::string>& presets,
                            std::string meaning) {
  std::error_code ignored;
  if (std::ranges::find(presets, name) == presets.end() && std::filesystem::is_regular_file(name, ignored)) {
    const auto bytes = run_db::file_hash(name);
    if (!bytes) return bytes.error();
    meaning += *bytes;
  }
  return run_db::Input{.kind = kind, .name = name, .hash = run_db::content_hash(meaning)};
}

std::string meaning_of(const layer_times::Workload& workload) {
  ByteWriter writer;
  for (const workload::LayerGraph& graph : workload.graphs)
    for (const workload::LayerNode& node : graph.nodes) {
      const workload::Layer& layer = graph.layers[node.layer.index()];
      writer.put(layer.forward.structure_hash());
      writer.put(layer.backward.structure_hash());
      writer.put(layer.parameters);
    }
  return writer.bytes();
}

std::string meaning_of(const hardware::Network& network) {
  ByteWriter writer;
  for (const hardware::NetworkLevel& level : network.levels) {
    writer.put(level.size);
    writer.put(level.bandwidth);
    writer.put(level.efficiency);
    writer.put(level.latency);
    writer.put(level.torus.size());
    for (const std::int64_t side : level.torus) writer.put(side);
    writer.put(level.ports);
  }
  return writer.bytes();
}

// Chips of one space differ in parameters alone. Their ports, which follow from the network that they usually sit in,
// are part of a physical area.
std::string meaning_of(const std::vector<hardware::Chip>& chips, hardware::AreaModel area_model) {
  ByteWriter writer;
  writer.put(area_model);
  writer.put_text(hardware::chip_file_text(chips.front()));
  if (const auto network = hardware::own_network(chips.front())) writer.put_text(meaning_of(*network));
  for (const hardware::Chip& chip : chips)
    for (const hardware::Parameter& parameter : hardware::parameters()) writer.put(parameter.get(chip));
  return writer.bytes();
}

Result<run_db::Description> describe_run(const CLI::App& command, const std::vector<std::string>& arguments,
                                         const SearchRequest& request, const search::Problem& problem) {
  run_db::Description description{
      .phaze_version = PHAZE_VERSION, .arguments = arguments, .settings = settings_of(command)};
  std::vector<Result<run_db::Input>> inputs;
  for (std::size_t i = 0; i < request.models.size(); ++i)
    inputs.push_back(input("model", request.models[i], workload::zoo_names(), meaning_of(problem.workloads[i])));
  inputs.push_back(
      input("space", request.space, hardware::space_presets(), meaning_of(problem.chips, problem.area_model)));
  const std::string& network = request.network.empty() ? problem.chips.front().network : request.network;
  inputs.push_back(input("network", network, hardware::network_presets(), meaning_of(problem.network)));
  if (!problem.baseline.empty()) {
    auto chip = hardware::load_chip(request.baseline);
    if (!chip) return chip.error();
    inputs.push_back(input("baseline", request.baseline, hardware::chip_presets(), hardware::chip_file_text(*chip)));
  }
  for (auto& made : inputs) {
    if (!made) return made.error();
    description.inputs.push_back(std::move(*made));
  }
  return description;
}

}  // namespace

void RunFile::add_to(CLI::App& command) {
  CLI::Option* out =
      command.add_option("--out", path, "Keep everything in this run database (SQLite)")->type_name("RUN.db");
  command.add_flag("--resume", resume, "Go on with the run in --out where it was stopped or killed")->needs(out);
}

Result<search::Ledger> RunFile::open(const CLI::App& command, const std::vector<std::string>& arguments,
                                     const SearchRequest& request, const search::Problem& problem) const {
  const auto description = describe_run(command, arguments, request, problem);
  if (!description) return description.error();
  return search::Ledger::open(path, resume, *description, problem);
}

std::vector<run_db::Artefact> documents(const report::SearchAnswer& answer, const search::Problem& problem) {
  std::vector<run_db::Artefact> made;
  made.push_back({.search = 0, .name = "answer", .json = report::search_json(answer)});
  const auto add = [&](std::int64_t search, const report::FoundChip& found) {
    if (found.chips.empty()) return;
    made.push_back({.search = search, .name = "chip", .json = report::chip_json(found.chips.front())});
    for (std::size_t i = 0; i < found.plans.size(); ++i)
      made.push_back({search, "plan", found.models[i], report::plan_json(found.plans[i], 1)});
  };
  add(0, answer.common);
  for (std::size_t i = 0; i < answer.each.size(); ++i) add(static_cast<std::int64_t>(i) + 1, answer.each[i]);
  if (answer.insight) made.push_back({.search = 0, .name = "insight", .json = report::insight_json(*answer.insight)});
  std::ranges::move(schedule_documents(answer, problem), std::back_inserter(made));
  return made;
}

}  // namespace phaze::cli
