#include "phaze/schedule/decompose.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "phaze/schedule/order_by.h"

namespace phaze::schedule {
namespace {

bool dominated_by(const Block& block, std::size_t mode, std::size_t other) {
  if (block.modes[other].duration > block.modes[mode].duration) return false;
  for (std::size_t k = 0; k < block.resources; ++k)
    if (block.demand(other)[k] > block.demand(mode)[k]) return false;
  return true;
}

// A resource of which no mode demands a larger share than of another one is never the one that runs out. The network
// is, on a layer without collectives.
void drop_implied_resources(Block& block) {
  const auto implied = [&](std::size_t k) {
    for (std::size_t other = 0; other < block.resources; ++other) {
      if (other == k) continue;
      bool equal = true, more = false;
      for (std::size_t m = 0; m < block.modes.size() && !more; ++m) {
        equal = equal && block.demand(m)[k] == block.demand(m)[other];
        more = block.demand(m)[k] > block.demand(m)[other];
      }
      // Of two that are always demanded alike the first stays.
      if (!more && (!equal || other < k)) return true;
    }
    return false;
  };
  std::vector<std::size_t> kept;
  for (std::size_t k = 0; k < block.resources; ++k)
    if (!implied(k)) kept.push_back(k);
  if (kept.size() == block.resources) return;
  for (std::size_t m = 0; m < block.modes.size(); ++m)
    for (std::size_t k = 0; k < kept.size(); ++k)
      block.demands[m * kept.size() + k] = block.demands[m * block.resources + kept[k]];
  block.resources = kept.size();
  block.demands.resize(block.modes.size() * kept.size());
}

}  // namespace

// Sets before_ to the transitive closure over all operators, timeless ones too, and topological_ to an order.
void Decomposition::close_order() {
  const std::size_t n = instance_->size();
  words_ = (n + 63) / 64;
  before_.assign(n * words_, 0);
  offsets_.assign(n + 1, 0);
  predecessors_.assign(n, 0);
  for (const Edge& edge : instance_->edges) {
    ++offsets_[edge.from.index() + 1];
    ++predecessors_[edge.to.index()];
  }
  for (std::size_t i = 0; i < n; ++i) offsets_[i + 1] += offsets_[i];
  edges_.resize(instance_->edges.size());
  next_.assign(offsets_.begin(), offsets_.end() - 1);
  for (const Edge& edge : instance_->edges)
    edges_[next_[edge.from.index()]++] = static_cast<std::uint32_t>(edge.to.index());
  topological_.clear();
  for (std::size_t i = 0; i < n; ++i)
    if (predecessors_[i] == 0) topological_.push_back(static_cast<std::uint32_t>(i));
  for (std::size_t done = 0; done < topological_.size(); ++done) {
    const std::uint32_t op = topological_[done];
    for (std::uint32_t e = offsets_[op]; e < offsets_[op + 1]; ++e) {
      const std::uint32_t to = edges_[e];
      for (std::size_t w = 0; w < words_; ++w) before_[to * words_ + w] |= before_[op * words_ + w];
      before_[to * words_ + op / 64] |= std::uint64_t{1} << (op % 64);
      if (--predecessors_[to] == 0) topological_.push_back(to);
    }
  }
  check(topological_.size() == n, "an instance without cycles is scheduled");
}

void Decomposition::split(const Instance& instance) {
  instance_ = &instance;
  const std::size_t n = instance.size();
  close_order();
  fastest_mode_.resize(n);
  timeless_.assign(n, 0);
  double serial = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const OpId op(i);
    std::size_t best = 0;
    for (std::size_t m = 1; m < instance.mode_count(op); ++m)
      if (instance.duration(op, m) < instance.duration(op, best)) best = m;
    fastest_mode_[i] = static_cast<std::uint32_t>(best);
    const double duration = instance.duration(op, best);
    timeless_[i] = duration <= 0 ? 1 : 0;
    serial += duration;
  }
  seconds_per_tick_ = serial / static_cast<double>(kSerialTicks);
  sort_and_cut();
}

void Decomposition::sort_and_cut() {
  const std::size_t n = instance_->size();
  // Timeless operators leave the order; those that take time keep their place in the closure.
  if (std::ranges::find(timeless_, 1) != timeless_.end())
    for (std::size_t i = 0; i < n; ++i)
      if (timeless_[i] != 0)
        for (std::size_t j = 0; j < n; ++j) before_[j * words_ + i / 64] &= ~(std::uint64_t{1} << (i % 64));
  sorted_.clear();
  for (const std::uint32_t op : topological_) {
    if (timeless_[op] != 0) continue;
    std::uint32_t count = 0;
    for (std::size_t w = 0; w < words_; ++w)
      count += static_cast<std::uint32_t>(std::popcount(before_[op * words_ + w]));
    predecessors_[op] = count;
    sorted_.push_back(op);
  }
  std::ranges::sort(sorted_, [&](std::uint32_t a, std::uint32_t b) {
    return predecessors_[a] != predecessors_[b] ? predecessors_[a] < predecessors_[b] : a < b;
  });
  parts_.clear();
  used_ = 0;
  seconds_alone_ = 0;
  for (std::size_t begin = 0; begin < sorted_.size();) {
    std::size_t end = begin + 1;
    while (end < sorted_.size() && predecessors_[sorted_[end]] != end) ++end;
    if (end - begin == 1) {
      const std::uint32_t op = sorted_[begin];
      parts_.push_back({.op = op, .mode = fastest_mode_[op]});
      seconds_alone_ += instance_->duration(OpId(op), fastest_mode_[op]);
    } else {
      add_block(std::span<const std::uint32_t>(sorted_).subspan(begin, end - begin));
      parts_.push_back({.block = static_cast<std::int64_t>(used_ - 1)});
    }
    begin = end;
  }
}

void Decomposition::add_modes(Block& block, std::uint32_t op) {
  const std::size_t first = block.modes.size();
  const std::size_t resources = block.resources;
  const OpId id(op);
  // Shortest first, so that a mode can only be dominated by one that stands before it or takes as long.
  order_by_rising([&](std::uint32_t m) { return instance_->duration(id, m); }, instance_->mode_count(id), order_);
  for (const std::uint32_t m : order_) {
    const double ticks = std::ceil(instance_->duration(id, m) / seconds_per_tick_);
    if (ticks > static_cast<double>(kSerialTicks)) continue;
    block.modes.push_back({.duration = std::max<Ticks>(1, static_cast<Ticks>(ticks)), .original = m});
    for (std::size_t k = 0; k < resources; ++k) {
      const double capacity = instance_->resources[k].capacity;
      const double share = capacity > 0 ? instance_->demand(id, m)[k] / capacity : 0;
      block.demands.push_back(
          std::min(kCapacityUnits, static_cast<Units>(share * static_cast<double>(kCapacityUnits))));
    }
    const std::size_t added = block.modes.size() - 1;
    bool drop = false;
    for (std::size_t other = first; other < added && !drop; ++other) drop = dominated_by(block, added, other);
    if (drop) {
      block.modes.pop_back();
      block.demands.resize(block.demands.size() - resources);
      continue;
    }
    // Of equal durations the earlier one may be the worse.
    for (std::size_t other = first; other + 1 < block.modes.size();) {
      const std::size_t last = block.modes.size() - 1;
      if (!dominated_by(block, other, last)) {
        ++other;
        continue;
      }
      block.modes.erase(block.modes.begin() + static_cast<std::ptrdiff_t>(other));
      block.demands.erase(block.demands.begin() + static_cast<std::ptrdiff_t>(other * resources),
                          block.demands.begin() + static_cast<std::ptrdiff_t>((other + 1) * resources));
    }
  }
  block.mode_offsets.push_back(static_cast<std::uint32_t>(block.modes.size()));
}

void Decomposition::add_block(std::span<const std::uint32_t> ops) {
  if (used_ == blocks_.size()) blocks_.emplace_back();
  Block& block = blocks_[used_++];
  block.clear();
  block.size = ops.size();
  block.resources = instance_->resources.size();
  block.words = (ops.size() + 63) / 64;
  block.before.assign(block.size * block.words, 0);
  block.after.assign(block.size * block.words, 0);
  block.original.assign(ops.begin(), ops.end());
  for (const std::uint32_t op : ops) add_modes(block, op);
  drop_implied_resources(block);
  for (std::size_t i = 0; i < block.size; ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (((before_[ops[i] * words_ + ops[j] / 64] >> (ops[j] % 64)) & 1U) != 0) {
        block.before[i * block.words + j / 64] |= std::uint64_t{1} << (j % 64);
        block.after[j * block.words + i / 64] |= std::uint64_t{1} << (i % 64);
      }
  block.derive();
}

void Decomposition::assemble(std::span<const BlockSchedule> schedules, Schedule& schedule) {
  const Instance& instance = *instance_;
  schedule.ops.assign(instance.size(), {});
  double clock = 0;
  for (const Part& part : parts_) {
    if (part.block < 0) {
      const double finish = clock + instance.duration(OpId(part.op), part.mode);
      schedule.ops[part.op] = {.mode = part.mode, .start = clock, .finish = finish};
      clock = finish;
      continue;
    }
    const Block& block = blocks_[static_cast<std::size_t>(part.block)];
    const BlockSchedule& solved = schedules[static_cast<std::size_t>(part.block)];
    order_.resize(block.size);
    for (std::size_t i = 0; i < block.size; ++i) order_[i] = static_cast<std::uint32_t>(i);
    std::ranges::sort(order_, [&](std::uint32_t a, std::uint32_t b) {
      return solved.ops[a].start != solved.ops[b].start ? solved.ops[a].start < solved.ops[b].start : a < b;
    });
    // In seconds an operator starts when everything has finished that finished by its start in ticks. What did not
    // overlap in ticks then does not overlap in seconds, so order and capacities hold exactly, and starts are plain
    // sums of durations.
    double latest = clock;
    for (std::size_t at = 0; at < block.size; ++at) {
      const std::uint32_t i = order_[at];
      double start = clock;
      for (std::size_t earlier = 0; earlier < at; ++earlier) {
        const std::uint32_t j = order_[earlier];
        if (solved.ops[j].start + block.modes[solved.ops[j].mode].duration <= solved.ops[i].start)
          start = std::max(start, schedule.ops[block.original[j]].finish);
      }
      const std::uint32_t mode = block.modes[solved.ops[i].mode].original;
      const double finish = start + instance.duration(OpId(block.original[i]), mode);
      schedule.ops[block.original[i]] = {.mode = mode, .start = start, .finish = finish};
      latest = std::max(latest, finish);
    }
    clock = latest;
  }
  schedule.makespan = clock;
  // before_ of a timeless operator holds exactly its predecessors that take time.
  for (std::size_t i = 0; i < instance.size(); ++i) {
    if (timeless_[i] == 0) continue;
    double start = 0;
    for (std::size_t j = 0; j < instance.size(); ++j)
      if (((before_[i * words_ + j / 64] >> (j % 64)) & 1U) != 0) start = std::max(start, schedule.ops[j].finish);
    schedule.ops[i] = {.mode = fastest_mode_[i], .start = start, .finish = start};
  }
}

}  // namespace phaze::schedule
