#include "phaze/report/schedule_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <vector>

#include "phaze/report/json_text.h"
#include "phaze/report/table.h"

namespace phaze::report {
namespace {

using schedule::Instance;
using schedule::OpId;
using schedule::Placement;
using schedule::Proof;

// More tracks than this no viewer shows; such a resource becomes a counter.
constexpr double kMostTracks = 4096;
constexpr std::size_t kChartWidth = 60;

std::vector<std::size_t> by_start(const ScheduleView& view) {
  std::vector<std::size_t> order(view.instance.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto& ops = view.solution.schedule.ops;
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return ops[a].start != ops[b].start ? ops[a].start < ops[b].start : ops[a].finish < ops[b].finish;
  });
  return order;
}

// Cores are counted, shares of a bandwidth are measured.
std::string amount(double demand) {
  return demand == std::floor(demand) ? fmt::format("{:.15g}", demand) : fmt::format("{:.3g}", demand);
}

std::string demand_text(const Instance& instance, OpId op, std::size_t mode) {
  std::string text;
  for (std::size_t k = 0; k < instance.resources.size(); ++k)
    if (const double demand = instance.demand(op, mode)[k]; demand > 0)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", instance.resources[k].name, amount(demand));
  return text.empty() ? "-" : text;
}

std::string bar(const Placement& placement, double makespan) {
  if (makespan <= 0) return {};
  const auto column = [&](double time) {
    return std::min(kChartWidth, static_cast<std::size_t>(std::lround(time / makespan * kChartWidth)));
  };
  const std::size_t from = std::min(column(placement.start), kChartWidth - 1);
  const std::size_t to = std::max(from + 1, column(placement.finish));
  if (placement.finish <= placement.start) return std::string(from, ' ') + "|";
  return std::string(from, ' ') + std::string(to - from, '#');
}

// Resources of which every demand is a whole number are cores: each unit has a track of its own.
bool counted_in_units(const Instance& instance, std::size_t k) {
  const double capacity = instance.resources[k].capacity;
  if (capacity < 1 || capacity > kMostTracks || capacity != std::floor(capacity)) return false;
  for (std::size_t i = 0; i < instance.size(); ++i)
    for (std::size_t m = 0; m < instance.mode_count(OpId(i)); ++m)
      if (const double demand = instance.demand(OpId(i), m)[k]; demand != std::floor(demand)) return false;
  return true;
}

class Trace {
 public:
  explicit Trace(const ScheduleView& view) : view_(view), order_(by_start(view)) {
    events_.push_back({{"name", "process_name"}, {"ph", "M"}, {"pid", 1}, {"args", {{"name", view.title}}}});
    for (std::size_t k = 0; k < view.instance.resources.size(); ++k)
      counted_in_units(view.instance, k) ? add_tracks(k) : add_counter(k);
    add_unbound();
  }

  std::string text() const {
    return text_of({{"displayTimeUnit", "ns"},
                    {"otherData", {{"makespan_s", view_.solution.schedule.makespan}}},
                    {"traceEvents", events_}});
  }

 private:
  static double microseconds(double seconds) { return seconds * 1e6; }
  const Placement& placement(std::size_t op) const { return view_.solution.schedule.ops[op]; }

  void name_track(const std::string& name) {
    events_.push_back(
        {{"name", "thread_name"}, {"ph", "M"}, {"pid", 1}, {"tid", ++tracks_}, {"args", {{"name", name}}}});
    events_.push_back({{"name", "thread_sort_index"},
                       {"ph", "M"},
                       {"pid", 1},
                       {"tid", tracks_},
                       {"args", {{"sort_index", tracks_}}}});
  }

  void add_slice(std::size_t op, int track) {
    const Placement& placed = placement(op);
    events_.push_back({{"name", std::string(view_.instance.name(OpId(op)))},
                       {"ph", "X"},
                       {"pid", 1},
                       {"tid", track},
                       {"ts", microseconds(placed.start)},
                       {"dur", microseconds(placed.finish - placed.start)},
                       {"args",
                        {{"id", view_.ids[op]},
                         {"mode", placed.mode},
                         {"demand", demand_text(view_.instance, OpId(op), placed.mode)}}}});
  }

  // Operators in the order of their starts take the lowest units that are free; capacities hold, so there are enough.
  void add_tracks(std::size_t k) {
    const Instance& instance = view_.instance;
    const auto units = static_cast<std::size_t>(instance.resources[k].capacity);
    const int first = tracks_ + 1;
    for (std::size_t unit = 0; unit < units; ++unit) name_track(fmt::format("{} {}", instance.resources[k].name, unit));
    const double slack = 1e-12 * view_.solution.schedule.makespan;
    std::vector<double> free_at(units, 0);
    for (const std::size_t op : order_) {
      auto needed = static_cast<std::size_t>(instance.demand(OpId(op), placement(op).mode)[k]);
      if (placement(op).finish <= placement(op).start) continue;
      for (std::size_t unit = 0; unit < units && needed > 0; ++unit) {
        if (free_at[unit] > placement(op).start + slack) continue;
        free_at[unit] = placement(op).finish;
        add_slice(op, first + static_cast<int>(unit));
        --needed;
      }
    }
  }

  void add_counter(std::size_t k) {
    std::map<double, double> change;
    for (const std::size_t op : order_) {
      const double demand = view_.instance.demand(OpId(op), placement(op).mode)[k];
      change[placement(op).start] += demand;
      change[placement(op).finish] -= demand;
    }
    double held = 0;
    for (const auto& [moment, delta] : change) {
      held += delta;
      // Sums of rounded numbers leave crumbs where nothing is held.
      if (std::abs(held) < 1e-12 * view_.instance.resources[k].capacity) held = 0;
      events_.push_back({{"name", view_.instance.resources[k].name},
                         {"ph", "C"},
                         {"pid", 1},
                         {"ts", microseconds(moment)},
                         {"args", {{"held", held}}}});
    }
  }

  // Operators that hold no core would be seen nowhere.
  void add_unbound() {
    std::vector<std::size_t> unbound;
    for (const std::size_t op : order_) {
      bool on_a_track = false;
      for (std::size_t k = 0; k < view_.instance.resources.size() && !on_a_track; ++k)
        on_a_track = view_.instance.demand(OpId(op), placement(op).mode)[k] >= 1 && counted_in_units(view_.instance, k);
      if (!on_a_track && placement(op).finish > placement(op).start) unbound.push_back(op);
    }
    std::vector<double> free_at;
    const int first = tracks_ + 1;
    for (const std::size_t op : unbound) {
      std::size_t lane = 0;
      while (lane < free_at.size() && free_at[lane] > placement(op).start) ++lane;
      if (lane == free_at.size()) {
        free_at.push_back(0);
        name_track("no core");
      }
      free_at[lane] = placement(op).finish;
      add_slice(op, first + static_cast<int>(lane));
    }
  }

  const ScheduleView& view_;
  std::vector<std::size_t> order_;
  Json events_ = Json::array();
  int tracks_ = 0;
};

}  // namespace

std::string schedule_json(const ScheduleView& view) {
  const auto& solution = view.solution;
  Json ops = Json::array();
  for (std::size_t i = 0; i < view.instance.size(); ++i) {
    const Placement& placed = solution.schedule.ops[i];
    Json demand = Json::object();
    for (std::size_t k = 0; k < view.instance.resources.size(); ++k)
      if (const double amount = view.instance.demand(OpId(i), placed.mode)[k]; amount > 0)
        demand[view.instance.resources[k].name] = amount;
    ops.push_back({{"id", view.ids[i]},
                   {"name", std::string(view.instance.name(OpId(i)))},
                   {"start", placed.start},
                   {"finish", placed.finish},
                   {"mode", placed.mode},
                   {"demand", demand}});
  }
  const auto& statistics = solution.statistics;
  return text_of({{"makespan", solution.schedule.makespan},
                  {"lower_bound", solution.lower_bound},
                  {"gap", solution.gap()},
                  {"status", solution.proof == Proof::kOptimal ? "optimal" : "feasible"},
                  {"ops", ops},
                  {"statistics",
                   {{"blocks", statistics.blocks},
                    {"largest_block", statistics.largest_block},
                    {"closed_by_lists", statistics.closed_by_lists},
                    {"closed_by_phases", statistics.closed_by_phases},
                    {"closed_by_antichains", statistics.closed_by_antichains},
                    {"closed_by_search", statistics.closed_by_search},
                    {"pivots", statistics.pivots},
                    {"states", statistics.states},
                    {"milp_nodes", statistics.milp_nodes}}}});
}

std::string schedule_text(const ScheduleView& view) {
  const auto& solution = view.solution;
  const double makespan = solution.schedule.makespan;
  std::string out = fmt::format("{}: {} operators, {}", view.title, view.instance.size(), readable_seconds(makespan));
  if (solution.proof == Proof::kOptimal)
    out += ", proven optimal\n\n";
  else
    out += fmt::format(", at most {:.2f} % above the optimum (no schedule is shorter than {})\n\n",
                       100 * (makespan / std::max(solution.lower_bound, 1e-300) - 1),
                       readable_seconds(solution.lower_bound));
  if (view.instance.size() == 0) return out;
  Table table({{"operator"},
               {"start", Table::Align::kRight},
               {"time", Table::Align::kRight},
               {"holds"},
               {fmt::format("0 {:>{}}", readable_seconds(makespan), kChartWidth - 2)}});
  for (const std::size_t op : by_start(view)) {
    const Placement& placed = solution.schedule.ops[op];
    table.row({std::string(view.instance.name(OpId(op))), readable_seconds(placed.start),
               readable_seconds(placed.finish - placed.start), demand_text(view.instance, OpId(op), placed.mode),
               bar(placed, makespan)});
  }
  return out + table.to_string();
}

std::string schedule_trace(const ScheduleView& view) { return Trace(view).text(); }

}  // namespace phaze::report
