#include "phaze/search/chip_work.h"

#include <utility>

#include "phaze/base/bytes.h"
#include "phaze/cost/sunstone_table.h"
#include "phaze/placement/stage_costs.h"
#include "phaze/search/score.h"

namespace phaze::search {
namespace {

using placement::kNever;

enum class Kind : std::uint8_t { kBounds, kRaise };

ModelState state_of(const ChipSearch& search) {
  return {.least_seconds = search.least_seconds(),
          .level = search.level(),
          .infeasible = search.infeasible(),
          .evaluation = search.evaluation(),
          .proven = search.proven(),
          .effort = search.effort(),
          .saved = search.save()};
}

void put(ByteWriter& writer, const ModelState& state) {
  writer.put(state.least_seconds);
  writer.put(state.level);
  writer.put(state.infeasible);
  put(writer, state.evaluation);
  writer.put(state.proven);
  writer.put(state.effort);
  writer.put_text(state.saved);
}

ModelState get_state(ByteReader& reader) {
  ModelState state;
  state.least_seconds = reader.get<double>();
  state.level = reader.get<Level>();
  state.infeasible = reader.get<std::uint8_t>() != 0;
  state.evaluation = get_evaluation(reader);
  state.proven = reader.get<std::uint8_t>() != 0;
  state.effort = reader.get<std::uint32_t>();
  state.saved = reader.get_text();
  return state;
}

}  // namespace

std::string encode(const BoundTask& task) {
  ByteWriter writer;
  writer.put(Kind::kBounds);
  writer.put(task.model);
  writer.put(task.begin);
  writer.put(task.end);
  return writer.bytes();
}

std::vector<double> decode_bounds(const std::string& answer) {
  ByteReader reader(answer);
  std::vector<double> bounds(answer.size() / sizeof(double));
  for (double& bound : bounds) bound = reader.get<double>();
  check(reader.whole(), "an answer to a question for bounds is cut off");
  return bounds;
}

std::string encode(const RaiseTask& task) {
  ByteWriter writer;
  writer.put(Kind::kRaise);
  writer.put(task.chip);
  writer.put(task.level);
  writer.put(task.least_useful);
  writer.put(task.effort);
  writer.put(task.models.size());
  for (std::size_t i = 0; i < task.models.size(); ++i) {
    writer.put(task.models[i]);
    writer.put_text(task.states[i]->saved);
  }
  return writer.bytes();
}

std::vector<ModelState> decode_states(const std::string& answer) {
  ByteReader reader(answer);
  std::vector<ModelState> states(reader.get<std::size_t>());
  for (ModelState& state : states) state = get_state(reader);
  check(reader.whole(), "an answer about a chip is cut off");
  return states;
}

ChipWorker::ChipWorker(const Problem& problem)
    : problem_(&problem),
      sunstone_(sunstone_table(problem)),
      profiles_(profiles_of(problem, problem.states_per_layer, sunstone_.get())) {}

ChipWorker::~ChipWorker() = default;

hardware::Cluster ChipWorker::cluster(std::size_t chip) const { return cluster_of(*problem_, problem_->chips[chip]); }

ChipSearch ChipWorker::search(const hardware::Cluster& devices, std::size_t model, std::string_view saved) {
  if (saved.empty()) return {profiles_[model], devices, memo_};
  auto restored = ChipSearch::restore(profiles_[model], devices, memo_, saved);
  check(restored.has_value(), "the state of a chip is damaged");
  return std::move(*restored);
}

std::string ChipWorker::operator()(const std::string& task) {
  ByteReader reader(task);
  return reader.get<Kind>() == Kind::kBounds ? bounds(task) : raise(task);
}

std::string ChipWorker::bounds(const std::string& task) {
  ByteReader reader(task);
  reader.get<Kind>();
  const ModelProfile& profile = profiles_[reader.get<std::size_t>()];
  const auto begin = reader.get<std::size_t>();
  const auto end = reader.get<std::size_t>();
  ByteWriter writer;
  for (std::size_t chip = begin; chip < end; ++chip) {
    const hardware::Cluster devices = cluster(chip);
    writer.put(ChipSearch(profile, devices, memo_).least_seconds());
  }
  return writer.bytes();
}

std::string ChipWorker::raise(const std::string& task) {
  ByteReader reader(task);
  reader.get<Kind>();
  const auto chip = reader.get<std::size_t>();
  const auto level = reader.get<Level>();
  const auto least_useful = reader.get<double>();
  const auto effort = reader.get<std::uint32_t>();
  const auto count = reader.get<std::size_t>();
  const hardware::Cluster devices = cluster(chip);
  std::vector<std::size_t> models;
  std::vector<ChipSearch> searches;
  std::vector<double> seconds;
  models.reserve(count);
  searches.reserve(count);
  seconds.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    models.push_back(reader.get<std::size_t>());
    searches.push_back(search(devices, models.back(), reader.get_text()));
    seconds.push_back(searches.back().least_seconds());
  }
  check(reader.whole(), "a task is cut off");
  const Score score(*problem_, models);
  const double cost = cost_of(problem_->chips[chip], *problem_);
  for (std::size_t i = 0; i < count; ++i) {
    searches[i].deepen(effort);
    searches[i].refine(level, score.enough(i, seconds, cost, least_useful));
    seconds[i] = searches[i].least_seconds();
    // One model without a plan settles the chip.
    if (searches[i].infeasible()) break;
  }
  ByteWriter writer;
  writer.put(count);
  for (const ChipSearch& search : searches) put(writer, state_of(search));
  return writer.bytes();
}

ModelState ChipWorker::evaluate(std::size_t chip, std::size_t model, const ModelState& state) {
  const hardware::Cluster devices = cluster(chip);
  ChipSearch whole = search(devices, model, state.saved);
  if (!whole.evaluation()) whole.refine(Level::kSchedules, kNever);
  return state_of(whole);
}

ChipSearch::Planned ChipWorker::plans(std::size_t chip, std::size_t model, const ModelState& state, std::size_t keep) {
  const hardware::Cluster devices = cluster(chip);
  ChipSearch whole = search(devices, model, state.saved);
  if (!whole.evaluation()) whole.refine(Level::kSchedules, kNever);
  return whole.plans(keep);
}

std::string ChipWorker::reason(std::size_t chip, std::size_t model) {
  const hardware::Cluster devices = cluster(chip);
  const ModelProfile& profile = profiles_[model];
  placement::Request request = layer_times::empty_request(profile.workload(), devices);
  for (std::size_t c = 0; c < profile.size(); ++c) {
    if (profile.has_plan(c, devices)) return "";
    request.tables.push_back(profile.pricer(c).untimed());
  }
  if (profile.study()) return "no plan of the 2024 problem fits the memory";
  return placement::explain(request).reason;
}

std::optional<ModelState> ChipWorker::restore(std::size_t chip, std::size_t model, std::string_view saved) {
  const hardware::Cluster devices = cluster(chip);
  const auto search = ChipSearch::restore(profiles_[model], devices, memo_, saved);
  if (!search) return std::nullopt;
  return state_of(*search);
}

}  // namespace phaze::search
