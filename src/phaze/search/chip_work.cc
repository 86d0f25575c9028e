#include "phaze/search/chip_work.h"

#include <algorithm>
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
          .standing = search.standing(),
          .saved = search.save()};
}

void put(ByteWriter& writer, const ModelState& state) {
  writer.put(state.least_seconds);
  writer.put(state.level);
  writer.put(state.infeasible);
  put(writer, state.evaluation);
  writer.put(state.standing.least);
  writer.put(state.standing.most);
  writer.put(state.standing.proven);
  writer.put(state.standing.effort);
  writer.put(state.standing.failed);
  writer.put_text(state.saved);
}

ModelState get_state(ByteReader& reader) {
  ModelState state;
  state.least_seconds = reader.get<double>();
  state.level = reader.get<Level>();
  state.infeasible = reader.get<std::uint8_t>() != 0;
  state.evaluation = get_evaluation(reader);
  state.standing.least = reader.get<double>();
  state.standing.most = reader.get<double>();
  state.standing.proven = reader.get<std::uint8_t>() != 0;
  state.standing.effort = reader.get<std::uint32_t>();
  state.standing.failed = reader.get<double>();
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
    writer.put(task.least_seconds[i]);
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

// Each as far as it takes beside the bounds of the others.
void ChipWorker::raise_in_turn(const RaiseTask& task, std::vector<ChipSearch>& searches) const {
  const Score score(*problem_, task.models);
  const double cost = cost_of(problem_->chips[task.chip], *problem_);
  std::vector<double> seconds;
  seconds.reserve(searches.size());
  for (const ChipSearch& search : searches) seconds.push_back(search.least_seconds());
  for (std::size_t i = 0; i < searches.size(); ++i) {
    searches[i].refine(task.level, score.enough(i, seconds, cost, task.least_useful));
    seconds[i] = searches[i].least_seconds();
    // One model without a plan settles the chip.
    if (searches[i].infeasible()) break;
  }
}

// Wide gaps first: they are the easiest to narrow. Each model is asked once, for its part of what is missing when its
// turn comes; where the others have fallen too short of theirs, as far as it goes, for the next step.
void ChipWorker::raise_with_effort(const RaiseTask& task, std::vector<ChipSearch>& searches) const {
  const Score score(*problem_, task.models);
  const double cost = cost_of(problem_->chips[task.chip], *problem_);
  const auto standing = [&](std::size_t i) {
    Standing known = searches[i].standing();
    known.least = std::min(known.most, std::max(known.least, task.least_seconds[i]));
    return known;
  };
  std::vector<Standing> standings;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < searches.size(); ++i) {
    standings.push_back(standing(i));
    order.push_back(i);
  }
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return standings[i].least / standings[i].most; });
  for (const std::size_t i : order) {
    const auto goals = joint_goals(score, standings, cost, task.least_useful, task.effort);
    const double goal = goals ? (*goals)[i] : reach(standings[i], task.effort, searches.size() == 1);
    if (goal > standings[i].least) {
      searches[i].deepen(task.effort);
      searches[i].refine(task.level, goal);
      standings[i] = standing(i);
    }
    // Its turn is over.
    standings[i].effort = task.effort + 1;
  }
}

std::string ChipWorker::raise(const std::string& message) {
  ByteReader reader(message);
  reader.get<Kind>();
  RaiseTask task;
  task.chip = reader.get<std::size_t>();
  task.level = reader.get<Level>();
  task.least_useful = reader.get<double>();
  task.effort = reader.get<std::uint32_t>();
  const auto count = reader.get<std::size_t>();
  const hardware::Cluster devices = cluster(task.chip);
  std::vector<ChipSearch> searches;
  searches.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    task.models.push_back(reader.get<std::size_t>());
    task.least_seconds.push_back(reader.get<double>());
    searches.push_back(search(devices, task.models.back(), reader.get_text()));
  }
  check(reader.whole(), "a task is cut off");
  if (task.effort == 0)
    raise_in_turn(task, searches);
  else
    raise_with_effort(task, searches);
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
