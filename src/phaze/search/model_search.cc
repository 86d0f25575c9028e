#include "phaze/search/model_search.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "phaze/base/units.h"
#include "phaze/layer_times/layer_times.h"

namespace phaze::search {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

double real(std::int64_t value) { return static_cast<double>(value); }

// Sums of the same numbers in another order differ in their last digits; a bound must stay one.
constexpr double kRounding = 1 - 1e-12;

}  // namespace

const char* to_string(Level level) {
  switch (level) {
    case Level::kRoofline: return "roofline";
    case Level::kOperators: return "operator costs";
    case Level::kPlaced: return "placement of operator costs";
    case Level::kSchedules: return "layer schedules";
  }
  return "";
}

ModelProfile::ModelProfile(const layer_times::Workload& workload, std::int64_t devices,
                           const hardware::Network& network, bool kernels, std::uint64_t states_per_layer)
    : workload_(&workload), states_per_layer_(states_per_layer) {
  const double bytes = layer_times::accumulation_bytes(workload.training.states);
  for (const workload::LayerGraph& graph : workload.graphs) {
    placement::LayerTable untimed = layer_times::untimed_table(graph);
    PlacementBound bound(untimed, workload.training, devices, network);
    Configuration configuration{.untimed = std::move(untimed), .bound = std::move(bound)};
    for (const workload::Layer& layer : graph.layers)
      configuration.layers.push_back({.forward = {layer.forward, network, kernels},
                                      .backward = {layer.backward, network, kernels},
                                      .accumulated_bytes = real(layer.parameters + layer.tied_parameters) * bytes});
    configurations_.push_back(std::move(configuration));
  }
}

layer_times::TableOptions ModelProfile::table_options() const {
  return {.accumulation_bytes = layer_times::accumulation_bytes(workload_->training.states),
          .states_per_layer = states_per_layer_};
}

double ModelProfile::least_seconds(std::size_t c, const Rates& rates, const cost::OperatorCosts* costs,
                                   double below) const {
  const Configuration& configuration = configurations_[c];
  thread_local std::vector<double> scratch;
  thread_local std::vector<PlacementBound::Times> times;
  times.clear();
  for (const Layer& layer : configuration.layers)
    times.push_back({layer.forward.least_seconds(rates, costs, scratch),
                     layer.backward.least_seconds(rates, costs, scratch) + layer.accumulated_bytes / rates.bytes});
  return configuration.bound.least_seconds(times, below) * kRounding;
}

placement::LayerTable ModelProfile::least_table(std::size_t c, const Rates& rates,
                                                const cost::OperatorCosts* costs) const {
  const Configuration& configuration = configurations_[c];
  placement::LayerTable table = configuration.untimed;
  std::vector<double> scratch;
  for (std::size_t i = 0; i < configuration.layers.size(); ++i) {
    const Layer& layer = configuration.layers[i];
    placement::LayerCost& cost = table.kinds[i];
    cost.forward.seconds = layer.forward.least_seconds(rates, costs, scratch) * kRounding;
    cost.backward.seconds =
        (layer.backward.least_seconds(rates, costs, scratch) + layer.accumulated_bytes / rates.bytes) * kRounding;
    // Recompute of the attention core counts as free here, that of a whole layer only where the layer can be
    // recomputed.
    if (cost.saved[2] < cost.saved[0]) cost.recompute[2] = cost.forward;
  }
  return table;
}

ChipSearch::ChipSearch(const ModelProfile& profile, const hardware::Cluster& cluster, cost::Memo& memo, Blank)
    : profile_(&profile),
      cluster_(&cluster),
      memo_(&memo),
      rates_(rates_of(cluster.chip)),
      least_best_(kNever),
      floor_(kNever) {}

ChipSearch::ChipSearch(const ModelProfile& profile, const hardware::Cluster& cluster, cost::Memo& memo)
    : ChipSearch(profile, cluster, memo, Blank{}) {
  for (std::size_t c = 0; c < profile.size(); ++c)
    queue_.push_back(
        {profile.least_seconds(c, rates_, nullptr, kNever), static_cast<std::uint32_t>(c), Level::kRoofline});
  std::ranges::make_heap(queue_, later);
  least_seconds_ = queue_.front().seconds;
}

// Among equals the deeper one first, so that work ends early, then the order of the workload, so that runs repeat.
bool ChipSearch::later(const Entry& a, const Entry& b) {
  if (a.seconds != b.seconds) return a.seconds > b.seconds;
  if (a.level != b.level) return a.level < b.level;
  return a.configuration > b.configuration;
}

cost::OperatorCosts ChipSearch::costs() const {
  return cost::OperatorCosts(
      {.chip = cluster_->chip, .network = cluster_->network, .fused_softmax = profile_->workload().options.fuse},
      memo_);
}

double ChipSearch::place(placement::LayerTable table, double below, Evaluation* found) const {
  placement::Request request = layer_times::empty_request(profile_->workload(), *cluster_);
  request.tables.push_back(std::move(table));
  NoProgress silent;
  const placement::Solution solution = placement::solve(request, {.keep = 1, .below = below}, silent);
  if (solution.plans.empty()) return kNever;
  const placement::Ranked& best = solution.plans.front();
  if (found != nullptr) {
    found->strategy = best.plan.strategy;
    found->peak_memory = best.evaluation.peak_memory();
  }
  return best.evaluation.time_per_batch;
}

void ChipSearch::refine(Level level, double enough) {
  if (evaluation_ || infeasible_) return;
  // What left the queue under a lower limit may matter under this one.
  if (enough > floor_) *this = ChipSearch(*profile_, *cluster_, *memo_);
  while (true) {
    double best = kNever;
    if (best_) best = best_->seconds;
    double next = kNever;
    if (!queue_.empty()) next = queue_.front().seconds;
    least_seconds_ = std::min({least_best_, next, floor_});
    if (best <= next && best <= floor_) return end();
    if (queue_.empty() || least_seconds_ >= enough) return;
    if (queue_.front().level >= level && level != Level::kSchedules) {
      level_ = std::max(level_, level);
      return;
    }
    std::ranges::pop_heap(queue_, later);
    const Entry first = queue_.back();
    queue_.pop_back();
    if (!raise(first, best, enough) && enough < best) floor_ = std::min(floor_, enough);
  }
}

void ChipSearch::end() {
  level_ = Level::kSchedules;
  evaluation_ = best_;
  infeasible_ = !best_;
  if (evaluation_) evaluation_->least_seconds = least_seconds_;
  queue_ = {};
}

// False where the configuration takes at least the lower of the two limits, or has no plan.
bool ChipSearch::raise(Entry entry, double best, double enough) {
  const double limit = std::min(best, enough);
  const std::size_t c = entry.configuration;
  const cost::OperatorCosts operator_costs = costs();
  if (entry.level != Level::kPlaced) {
    const bool priced = entry.level == Level::kOperators;
    const double seconds = priced ? place(profile_->least_table(c, rates_, &operator_costs), limit) * kRounding
                                  : profile_->least_seconds(c, rates_, &operator_costs, limit);
    if (seconds >= limit) return false;
    entry.level = priced ? Level::kPlaced : Level::kOperators;
    entry.seconds = std::max(entry.seconds, seconds);
    queue_.push_back(entry);
    std::ranges::push_heap(queue_, later);
    return true;
  }
  layer_times::TableOptions options = profile_->table_options();
  options.communication = false;
  bool proven = true;
  const workload::LayerGraph& graph = profile_->workload().graphs[c];
  placement::LayerTable table = layer_times::layer_table(graph, operator_costs, options, &proven);
  if (!proven) {
    // The bound of a schedule that is not proven is what counts; the plan is then wanted even if it is slow.
    options.lower_bounds = true;
    const double least = place(layer_times::layer_table(graph, operator_costs, options), limit);
    if (least == kNever) return false;
    least_best_ = std::min(least_best_, least * kRounding);
  }
  Evaluation found{.configuration = c};
  const double seconds = place(std::move(table), proven ? limit : best, &found);
  if (seconds == kNever) return !proven;
  found.seconds = seconds;
  best_ = found;
  least_best_ = std::min(least_best_, seconds);
  return true;
}

ChipSearch::Planned ChipSearch::plans(std::size_t keep) const {
  check(evaluation_.has_value(), "plans of a chip that was not evaluated");
  Planned planned{.request = layer_times::empty_request(profile_->workload(), *cluster_)};
  planned.request.tables.push_back(layer_times::layer_table(profile_->workload().graphs[evaluation_->configuration],
                                                            costs(), profile_->table_options()));
  NoProgress silent;
  planned.solution = placement::solve(planned.request, {.keep = keep}, silent);
  return planned;
}

void put(ByteWriter& writer, const std::optional<Evaluation>& evaluation) {
  writer.put(evaluation.has_value());
  if (!evaluation) return;
  writer.put(evaluation->seconds);
  writer.put(evaluation->least_seconds);
  writer.put(evaluation->configuration);
  writer.put(evaluation->strategy.table);
  writer.put(evaluation->strategy.pipeline);
  writer.put(evaluation->strategy.data_parallel);
  writer.put(evaluation->strategy.interleave);
  writer.put(evaluation->strategy.zero);
  writer.put(evaluation->strategy.order);
  writer.put(evaluation->peak_memory);
}

std::optional<Evaluation> get_evaluation(ByteReader& reader) {
  if (reader.get<std::uint8_t>() == 0) return std::nullopt;
  Evaluation evaluation;
  evaluation.seconds = reader.get<double>();
  evaluation.least_seconds = reader.get<double>();
  evaluation.configuration = reader.get<std::size_t>();
  evaluation.strategy.table = reader.get<std::size_t>();
  evaluation.strategy.pipeline = reader.get<std::int64_t>();
  evaluation.strategy.data_parallel = reader.get<std::int64_t>();
  evaluation.strategy.interleave = reader.get<std::int64_t>();
  evaluation.strategy.zero = reader.get<int>();
  evaluation.strategy.order = reader.get<placement::Order>();
  evaluation.peak_memory = reader.get<double>();
  return evaluation;
}

// Every member that changes after construction belongs here: the tests end searches after a detour over bytes.
std::string ChipSearch::save() const {
  ByteWriter writer;
  writer.put(queue_.size());
  for (const Entry& entry : queue_) {
    writer.put(entry.seconds);
    writer.put(entry.configuration);
    writer.put(entry.level);
  }
  put(writer, best_);
  writer.put(least_best_);
  writer.put(floor_);
  writer.put(level_);
  writer.put(least_seconds_);
  writer.put(infeasible_);
  put(writer, evaluation_);
  return writer.bytes();
}

std::optional<ChipSearch> ChipSearch::restore(const ModelProfile& profile, const hardware::Cluster& cluster,
                                              cost::Memo& memo, std::string_view saved) {
  ChipSearch search(profile, cluster, memo, Blank{});
  ByteReader reader(saved);
  const auto size = reader.get<std::size_t>();
  if (size > profile.size()) return std::nullopt;
  for (std::size_t i = 0; i < size; ++i) {
    Entry entry;
    entry.seconds = reader.get<double>();
    entry.configuration = reader.get<std::uint32_t>();
    entry.level = reader.get<Level>();
    if (entry.configuration >= profile.size() || entry.level > Level::kSchedules) return std::nullopt;
    search.queue_.push_back(entry);
  }
  search.best_ = get_evaluation(reader);
  search.least_best_ = reader.get<double>();
  search.floor_ = reader.get<double>();
  search.level_ = reader.get<Level>();
  search.least_seconds_ = reader.get<double>();
  search.infeasible_ = reader.get<std::uint8_t>() != 0;
  search.evaluation_ = get_evaluation(reader);
  if (!reader.whole() || search.level_ > Level::kSchedules) return std::nullopt;
  for (const auto& evaluation : {search.best_, search.evaluation_})
    if (evaluation && evaluation->configuration >= profile.size()) return std::nullopt;
  return search;
}

}  // namespace phaze::search
