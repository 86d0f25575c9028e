#include "phaze/search/chip_search.h"

#include <algorithm>
#include <utility>

#include "phaze/placement/stage_costs.h"
#include "phaze/search/refutation.h"

namespace phaze::search {
namespace {

using placement::kNever;

// What a placement depends on, of all that differs between the chips of a search.
Digest digest_of(std::size_t configuration, const placement::LayerTable& table, const placement::Devices& devices) {
  Digest digest;
  digest.add(std::uint64_t{configuration});
  digest.add(devices.memory);
  digest.add(devices.step_seconds_per_parameter);
  for (const placement::LayerCost& kind : table.kinds) {
    digest.add(kind.forward.seconds);
    digest.add(kind.backward.seconds);
    for (const placement::PassTime& again : kind.recompute) digest.add(again.seconds);
  }
  return digest;
}

}  // namespace

ChipSearch::ChipSearch(const ModelProfile& profile, const hardware::Cluster& cluster, cost::Memo& memo)
    : profile_(&profile),
      cluster_(&cluster),
      memo_(&memo),
      rooflines_(profile.roofline_bounds(cluster)),
      least_best_(kNever),
      failed_(kNever),
      floor_(kNever),
      least_seconds_(rooflines_->least()) {}

// Without those that fit no memory: their bounds would rise forever, a fifth at a time.
void ChipSearch::fill_queue() {
  begun_ = true;
  queue_.clear();
  queue_.reserve(profile_->size());
  for (std::size_t c = 0; c < profile_->size(); ++c)
    if (profile_->has_plan(c, *cluster_))
      queue_.push_back({rooflines_->closed_form(c), static_cast<std::uint32_t>(c), Level::kRoofline});
  std::ranges::make_heap(queue_, later);
}

// Among equals the deeper one first, so that work ends early, then the order of the workload, so that runs repeat.
bool ChipSearch::later(const Entry& a, const Entry& b) {
  if (a.seconds != b.seconds) return a.seconds > b.seconds;
  if (a.level != b.level) return a.level < b.level;
  return a.configuration > b.configuration;
}

cost::OperatorCosts ChipSearch::costs() const { return cost::OperatorCosts(profile_->cost_options(*cluster_), memo_); }

bool ChipSearch::proven() const {
  constexpr double kTolerance = 1e-9;
  return evaluation_ && least_seconds_ >= evaluation_->seconds * (1 - kTolerance);
}

Standing ChipSearch::standing() const {
  double most = kNever;
  if (evaluation_) most = evaluation_->seconds;
  return {.least = least_seconds_, .most = most, .proven = proven(), .effort = effort_, .failed = failed_};
}

void ChipSearch::deepen(std::uint32_t effort) {
  if (!evaluation_ || effort < effort_ || proven()) return;
  if (effort > effort_) failed_ = kNever;
  queue_.insert(queue_.end(), unproven_.begin(), unproven_.end());
  std::erase_if(queue_, [&](const Entry& entry) { return entry.seconds >= evaluation_->seconds; });
  std::ranges::make_heap(queue_, later);
  unproven_.clear();
  best_.reset();
  least_best_ = floor_ = kNever;
  effort_ = effort;
  again_ = true;
}

void ChipSearch::begin_again() {
  queue_.clear();
  unproven_.clear();
  best_.reset();
  least_best_ = floor_ = kNever;
  begun_ = false;
}

void ChipSearch::refine(Level level, double enough) {
  if (infeasible_ || (evaluation_ && !again_)) return;
  // What left the queue under a lower limit may matter under this one.
  if (enough > floor_) begin_again();
  if (!begun_) fill_queue();
  while (true) {
    double best = kNever;
    if (best_) best = best_->seconds;
    if (again_) best = std::min(best, evaluation_->seconds);
    double next = kNever;
    if (!queue_.empty()) next = queue_.front().seconds;
    const double least = std::min({least_best_, next, floor_});
    least_seconds_ = again_ ? std::max(least_seconds_, std::min(least, evaluation_->seconds)) : least;
    if (again_) evaluation_->least_seconds = least_seconds_;
    if ((best <= next && best <= floor_) || (again_ && queue_.empty())) return end(enough);
    if (least_seconds_ >= enough) return;
    if (queue_.empty()) {
      // A schedule that is not proven keeps the bound below the limit, while the plan found is above it. Only the whole
      // answer settles that, and for it what takes longer than the limit counts, too.
      enough = kNever;
      begin_again();
      fill_queue();
      continue;
    }
    if (queue_.front().level >= level && level != Level::kSchedules) {
      level_ = std::max(level_, level);
      return;
    }
    std::ranges::pop_heap(queue_, later);
    const Entry first = queue_.back();
    queue_.pop_back();
    // What is done again is few configurations, none of which may be lost for later.
    double limit = enough;
    if (again_) limit = kNever;
    if (again_ && first.level == Level::kBounds && refute(first, enough)) continue;
    if (!raise(first, best, limit) && limit < best) floor_ = std::min(floor_, limit);
  }
}

void ChipSearch::end(double enough) {
  level_ = Level::kSchedules;
  if (!again_) infeasible_ = !best_;
  if (best_ && (!evaluation_ || best_->seconds < evaluation_->seconds)) evaluation_ = best_;
  if (evaluation_) evaluation_->least_seconds = least_seconds_ = std::min(least_seconds_, evaluation_->seconds);
  if (again_ && !proven() && least_seconds_ < enough) failed_ = std::min({failed_, enough, evaluation_->seconds});
  again_ = false;
  queue_ = {};
}

// The best placement of layers with these times, if it takes less than `below`.
Placed ChipSearch::place(std::size_t configuration, placement::LayerTable times, double below) const {
  placement::Request request = layer_times::empty_request(profile_->workload(), *cluster_);
  // Of placements that take the same time, which one is found may depend on the limit.
  Digest key = digest_of(configuration, times, request.devices);
  key.add(below);
  return profile_->placements().below(key, below, [&](double limit) {
    request.tables.push_back(std::move(times));
    return solve(request, limit);
  });
}

// One that no placement of layers with these times or longer ones falls below, if it takes less than `below`. Most do
// not, and often the closed form says so for less.
Placed ChipSearch::place_least(std::size_t configuration, placement::LayerTable least_times, double below) const {
  placement::Request request = layer_times::empty_request(profile_->workload(), *cluster_);
  request.training.least_times = true;
  const Digest key = digest_of(configuration, least_times, request.devices);
  Placed placed = profile_->placements().below(key, below, [&](double limit) {
    if (profile_->least_seconds(configuration, least_times, limit) == kNever) return Placed{};
    request.tables.push_back(std::move(least_times));
    return solve(request, limit);
  });
  placed.seconds *= kStillABound;
  return placed;
}

Placed ChipSearch::solve(const placement::Request& request, double below) const {
  if (profile_->study()) {
    const auto plan = layer_times::best_study_plan(request, below);
    if (!plan) return {};
    return {.seconds = plan->seconds(),
            .strategy = {.pipeline = static_cast<std::int64_t>(plan->plan.stages.size()),
                         .data_parallel = plan->plan.data_parallel},
            .peak_memory = plan->peak_memory()};
  }
  NoProgress silent;
  const placement::Solution solution = placement::solve(request, {.keep = 1, .below = below}, silent);
  if (solution.plans.empty()) return {};
  const placement::Ranked& best = solution.plans.front();
  return {.seconds = best.evaluation.time_per_batch,
          .strategy = best.plan.strategy,
          .peak_memory = best.evaluation.peak_memory()};
}

// False where the configuration takes at least the lower of the two limits, or has no plan.
//
// Where memory is short, a placement may take far longer than its bound, and far longer to find. A configuration is
// therefore placed only as far as a horizon a little behind the next one in the queue; one that reaches it goes back
// with that as its bound.
bool ChipSearch::raise(const Entry& entry, double best, double enough) {
  constexpr double kFurther = 1.2;
  const double limit = std::min(best, enough);
  const double next = queue_.empty() ? entry.seconds : std::max(entry.seconds, queue_.front().seconds);
  const double horizon = std::min(limit, next * kFurther);
  const std::size_t c = entry.configuration;
  const Rates rates = profile_->rates(cluster_->chip);
  if (entry.level == Level::kRoofline) {
    const double seconds = rooflines_->placed(
        c, horizon, [&](double below) { return place_least(c, profile_->least_table(c, rates, nullptr), below); });
    return put_back(entry, Level::kPlaced, seconds, horizon, limit);
  }
  const cost::OperatorCosts operator_costs = costs();
  if (entry.level == Level::kPlaced) {
    const double seconds = place_least(c, profile_->least_table(c, rates, &operator_costs), horizon).seconds;
    return put_back(entry, Level::kOperators, seconds, horizon, limit);
  }
  layer_times::TableOptions options = profile_->table_options(effort_);
  options.communication = false;
  if (entry.level == Level::kBounds) return settle(c, profile_->pricer(c).price(operator_costs, options), best, limit);
  options.states_per_layer = 1;
  options.engine = schedule::Engine::kExact;  // simple bounds need no solver
  layer_times::LayerPricer::Tables tables = profile_->pricer(c).price(operator_costs, options);
  if (tables.lower_bounds.nodes.empty()) return settle(c, std::move(tables), best, limit);
  return put_back(entry, Level::kBounds, place_least(c, std::move(tables.lower_bounds), limit).seconds, limit, limit);
}

// Tries to show that the configuration takes `enough` seconds by bounds on its layers alone. False where it may be
// faster than is known, so that its plan is of interest.
bool ChipSearch::refute(const Entry& entry, double enough) {
  constexpr int kAttempts = 3;
  layer_times::TableOptions options = profile_->table_options(0);
  if (enough == kNever || options.engine != schedule::Engine::kExact) return false;
  options.communication = false;
  const std::size_t c = entry.configuration;
  const cost::OperatorCosts operator_costs = costs();
  const layer_times::LayerPricer& pricer = profile_->pricer(c);
  // All chips have been priced with no effort, so that this is known. Goals are set from there, and bounds that less
  // effort has found since are found again on the way.
  layer_times::LayerPricer::Tables known = pricer.price(operator_costs, options);
  if (known.lower_bounds.nodes.empty()) return false;
  options.states_per_layer = profile_->table_options(effort_).states_per_layer;
  Refutation refutation(std::move(known), entry.seconds, evaluation_->seconds, enough,
                        [&](const placement::LayerTable& least) { return place_least(c, least, enough).seconds; });
  for (int attempt = 0; attempt < kAttempts && refutation.least() < enough; ++attempt) {
    const std::optional<placement::LayerTable> goals = refutation.goals();
    if (!goals && attempt == 0) return false;
    if (!goals) break;
    refutation.learn(pricer.bound(operator_costs, options, refutation.known(), *goals));
    // With the shorter schedules that came up it may be good enough: worth the search for the shortest.
    if (refutation.least() < enough && place(c, refutation.known().times, enough).seconds < enough) return false;
  }
  const double least = std::min(refutation.least(), enough);
  least_best_ = std::min(least_best_, least);
  unproven_.push_back({least, entry.configuration, Level::kBounds});
  return true;
}

// With its bound at a higher level; or at its own, where it reached the horizon.
bool ChipSearch::put_back(Entry entry, Level level, double seconds, double horizon, double limit) {
  if (seconds >= limit && horizon >= limit) return false;
  if (seconds < horizon) entry.level = level;
  entry.seconds = std::max(entry.seconds, std::min(seconds, horizon));
  queue_.push_back(entry);
  std::ranges::push_heap(queue_, later);
  return true;
}

bool ChipSearch::settle(std::size_t configuration, layer_times::LayerPricer::Tables tables, double best, double limit) {
  const bool proven = tables.lower_bounds.nodes.empty();
  if (!proven) {
    // The bound of a schedule that is not proven is what counts; the plan is then wanted even if it is slow.
    const double least = place_least(configuration, std::move(tables.lower_bounds), limit).seconds;
    if (least == kNever) return false;
    least_best_ = std::min(least_best_, least);
    unproven_.push_back({least, static_cast<std::uint32_t>(configuration), Level::kBounds});
  }
  const Placed placed = place(configuration, std::move(tables.times), proven ? limit : best);
  if (placed.seconds == kNever) return !proven;
  best_ = {.seconds = placed.seconds,
           .configuration = configuration,
           .strategy = placed.strategy,
           .peak_memory = placed.peak_memory,
           .effort = effort_};
  least_best_ = std::min(least_best_, placed.seconds);
  return true;
}

ChipSearch::Planned ChipSearch::plans(std::size_t keep) const {
  check(evaluation_.has_value(), "plans of a chip that was not evaluated");
  const layer_times::TableOptions options = profile_->table_options(evaluation_->effort);
  Planned planned{.request = layer_times::empty_request(profile_->workload(), *cluster_),
                  .states_per_layer = options.states_per_layer};
  planned.request.tables.push_back(profile_->pricer(evaluation_->configuration).price(costs(), options).times);
  if (profile_->study()) {
    planned.study = layer_times::best_study_plan(planned.request);
    return planned;
  }
  NoProgress silent;
  planned.solution = placement::solve(planned.request, {.keep = keep}, silent);
  return planned;
}

}  // namespace phaze::search
