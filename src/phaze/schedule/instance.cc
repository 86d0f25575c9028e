#include "phaze/schedule/instance.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "phaze/base/amount.h"
#include "phaze/base/check.h"

namespace phaze::schedule {
namespace {

std::string called(const Instance& instance, OpId op) { return "operator '" + std::string(instance.name(op)) + "'"; }

std::string number(double value) {
  std::array<char, 32> digits{};
  return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr};
}

std::string range_of(std::string_view what) { return std::string(what) + " are " + std::string(kAmounts); }

Status validate_modes(const Instance& instance, OpId op) {
  const auto place = [&](std::size_t mode) { return called(instance, op) + ", mode " + std::to_string(mode); };
  if (instance.mode_count(op) == 0) return Error{"has no modes", called(instance, op), "give it at least one mode"};
  for (std::size_t mode = 0; mode < instance.mode_count(op); ++mode) {
    const double duration = instance.duration(op, mode);
    if (!is_amount(duration))
      return Error{"duration " + number(duration) + " is not a time", place(mode), range_of("durations")};
    for (std::size_t k = 0; k < instance.resources.size(); ++k) {
      const double demand = instance.demand(op, mode)[k];
      const Resource& resource = instance.resources[k];
      if (!is_amount(demand))
        return Error{"demand " + number(demand) + " of '" + resource.name + "' is not an amount", place(mode),
                     range_of("demands")};
      if (demand > resource.capacity * (1 + kCapacityTolerance))
        return Error{"demand " + number(demand) + " of '" + resource.name + "' is above its capacity " +
                         number(resource.capacity),
                     place(mode), "raise the capacity or drop the mode"};
    }
  }
  return Done{};
}

// "a -> b -> a", found by walking backwards among operators that never became free.
std::string describe_cycle(const Instance& instance, const std::vector<std::uint32_t>& blocked_by) {
  std::size_t op = 0;
  while (blocked_by[op] == 0) ++op;
  std::vector<std::size_t> step(instance.size(), instance.size());
  for (const Edge& edge : instance.edges)
    if (blocked_by[edge.from.index()] > 0 && blocked_by[edge.to.index()] > 0)
      step[edge.to.index()] = std::min(step[edge.to.index()], edge.from.index());
  // Every blocked operator has a blocked predecessor, so this many steps end on a cycle.
  for (std::size_t i = 0; i < instance.size(); ++i) op = step[op];
  std::vector<std::size_t> cycle = {op};
  for (std::size_t next = step[op]; next != op; next = step[next]) cycle.push_back(next);
  // Starting anywhere says the same; start where the least index is, so that the message does not depend on the walk.
  std::ranges::reverse(cycle);
  std::ranges::rotate(cycle, std::ranges::min_element(cycle));
  std::string text;
  for (const std::size_t member : cycle) text += "'" + std::string(instance.name(OpId(member))) + "' -> ";
  return text + "'" + std::string(instance.name(OpId(cycle.front()))) + "'";
}

Status validate_order(const Instance& instance) {
  std::vector<std::uint32_t> blocked_by(instance.size(), 0);
  std::vector<std::vector<std::size_t>> after(instance.size());
  for (const Edge& edge : instance.edges) {
    if (edge.from.index() >= instance.size() || edge.to.index() >= instance.size())
      return Error{"an edge names an operator that does not exist"};
    ++blocked_by[edge.to.index()];
    after[edge.from.index()].push_back(edge.to.index());
  }
  std::vector<std::size_t> free;
  for (std::size_t i = 0; i < instance.size(); ++i)
    if (blocked_by[i] == 0) free.push_back(i);
  for (std::size_t done = 0; done < free.size(); ++done)
    for (const std::size_t next : after[free[done]])
      if (--blocked_by[next] == 0) free.push_back(next);
  if (free.size() == instance.size()) return Done{};
  return Error{"the order has a cycle: " + describe_cycle(instance, blocked_by), "", "remove one of its edges"};
}

}  // namespace

OpId Instance::add_op(std::string_view name) {
  names.emplace_back(name);
  mode_offsets.push_back(mode_offsets.back());
  return OpId(names.size() - 1);
}

void Instance::add_mode(double duration, std::span<const double> demand) {
  check(size() > 0 && demand.size() == resources.size(), "a mode has a demand for every resource");
  durations.push_back(duration);
  demands.insert(demands.end(), demand.begin(), demand.end());
  ++mode_offsets.back();
}

void Instance::clear() {
  names.clear();
  mode_offsets.assign(1, 0);
  durations.clear();
  demands.clear();
  edges.clear();
}

Status validate(const Instance& instance) {
  for (const Resource& resource : instance.resources)
    if (!is_amount(resource.capacity))
      return Error{"capacity " + number(resource.capacity) + " is not an amount", "resource '" + resource.name + "'",
                   range_of("capacities")};
  for (std::size_t i = 0; i < instance.size(); ++i)
    if (auto status = validate_modes(instance, OpId(i)); !status) return status;
  return validate_order(instance);
}

}  // namespace phaze::schedule
