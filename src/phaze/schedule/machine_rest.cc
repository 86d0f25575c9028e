#include "phaze/schedule/machine_rest.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace phaze::schedule {
namespace {

// With more machines than this the operators left are soon fewer than these, and phases (phase_rest.h) see more.
constexpr Units kMostMachines = 64;
// Of a block with more sums than this, any machine can be filled to nearly any moment.
constexpr std::size_t kMostSums = 2048;
// That are looked at for one state. Most take some dozens.
constexpr std::uint64_t kMostLookedAt = 4096;

}  // namespace

template <std::size_t Words>
bool MachineRest<Words>::begin(const SearchBlock<Words>& block, Ticks most) {
  block_ = &block;
  most_ = most;
  looked_at_ = 0;
  sums_.clear();
  too_many_sums_ = false;
  if (!find_machines()) return false;
  find_shapes();
  return find_lengths();
}

// The scarcest resource of which only few operators can have something at once.
template <std::size_t Words>
bool MachineRest<Words>::find_machines() {
  const Block& block = *block_->block;
  for (const std::uint32_t k : block_->scarcest_first) {
    Units least = kCapacityUnits;
    for (std::size_t m = 0; m < block.modes.size(); ++m)
      if (!block.modes[m].exclusive && block.demand(m)[k] > 0) least = std::min(least, block.demand(m)[k]);
    const Units machines = kCapacityUnits / least;
    if (machines < 2 || machines > kMostMachines) continue;
    resource_ = k;
    machines_ = static_cast<std::size_t>(machines);
    return true;
  }
  return false;
}

template <std::size_t Words>
void MachineRest<Words>::find_shapes() {
  const Block& block = *block_->block;
  const auto machines = static_cast<Ticks>(machines_);
  shapes_.assign(1, {});
  shapes_of_.clear();
  for (std::size_t i = 0; i < block.size; ++i) {
    Ticks beside = kNever, alone = kNever;
    for (std::size_t m = block.mode_offsets[i]; m < block.mode_offsets[i + 1]; ++m) {
      const Ticks duration = block.modes[m].duration;
      if (block.modes[m].exclusive)
        alone = duration * machines;
      else
        beside = std::min(beside, block.demand(m)[resource_] > 0 ? duration : 0);
    }
    const Shape barred{.beside = beside, .least = beside, .alone = kNever};
    shapes_of_.push_back({.free = place_of({.beside = beside, .least = std::min(beside, alone), .alone = alone}),
                          .barred = beside == kNever ? 0 : place_of(barred)});
  }
}

template <std::size_t Words>
std::uint32_t MachineRest<Words>::place_of(const Shape& shape) {
  if (shape.beside == 0) return 0;
  const auto at = std::ranges::find(shapes_, shape);
  if (at != shapes_.end()) return static_cast<std::uint32_t>(at - shapes_.begin());
  shapes_.push_back(shape);
  return static_cast<std::uint32_t>(shapes_.size() - 1);
}

// False if there are none, or too many.
template <std::size_t Words>
bool MachineRest<Words>::find_lengths() {
  lengths_.clear();
  for (std::uint32_t s = 1; s < shapes_.size(); ++s) {
    if (shapes_[s].beside == kNever) continue;
    auto at = std::ranges::find(lengths_, shapes_[s].beside, &Length::time);
    if (at == lengths_.end()) at = lengths_.insert(at, {.time = shapes_[s].beside});
    at->shapes.push_back(s);
  }
  if (lengths_.empty() || lengths_.size() > kMostLengths) return false;
  const auto kept_from_alone = [&](std::uint32_t s) {
    return shapes_[s].alone == kNever ? kNever : shapes_[s].lost_alone() - shapes_[s].lost_beside();
  };
  std::size_t numbers = 0;
  for (Length& length : lengths_) {
    std::ranges::stable_sort(length.shapes, std::greater{}, kept_from_alone);
    length.most = static_cast<std::size_t>(std::ranges::count(
        shapes_of_, length.time, [&](const ShapesOf& shapes) { return shapes_[shapes.free].beside; }));
    if (length.most > kMostOfLength) return false;
    length.lost = numbers;
    numbers += length.most + 1;
  }
  lost_.resize(numbers);
  lost_at_least_.resize(numbers);
  return true;
}

// False if there are too many.
template <std::size_t Words>
bool MachineRest<Words>::find_sums() {
  sums_.assign(1, {});
  for (std::size_t d = 0; d < lengths_.size(); ++d) {
    const Ticks time = lengths_[d].time;
    const auto count = static_cast<Ticks>(lengths_[d].most);
    const std::size_t without = sums_.size();
    for (Ticks copies = 1; copies <= count && copies * time <= most_; ++copies)
      for (std::size_t i = 0; i < without; ++i) {
        const Sum& sum = sums_[i];
        if (sum.time + copies * time > most_) continue;
        if (sums_.size() == kMostSums) return false;
        sums_.push_back(
            {.time = sum.time + copies * time, .counts = sum.counts + (static_cast<Counts>(copies) << (8 * d))});
      }
  }
  std::ranges::sort(sums_, {}, [](const Sum& sum) { return std::pair(sum.time, sum.counts); });
  return true;
}

template <std::size_t Words>
Ticks MachineRest<Words>::least_end(const SearchState<Words>& state, std::span<const Running> running, Ticks enough,
                                    Ticks limit) {
  const auto machines = static_cast<Ticks>(machines_);
  ready_.clear();
  for (const Running& runs : running)
    if (block_->block->demand(runs.mode)[resource_] > 0) ready_.push_back(runs.finish - state.time);
  ready_.resize(machines_);
  std::ranges::sort(ready_, std::greater{});
  ready_from_.assign(machines_ + 1, 0);
  for (std::size_t m = machines_; m-- > 0;) ready_from_[m] = ready_from_[m + 1] + ready_[m];
  count_.assign(shapes_.size(), 0);
  Ticks least = ready_from_.front();
  time_left_ = 0;
  (block_->all - state.placed).for_each([&](std::size_t i) {
    const std::uint32_t s = state.barred.contains(i) ? shapes_of_[i].barred : shapes_of_[i].free;
    least += shapes_[s].least;
    if (shapes_[s].beside == kNever) return;
    ++count_[s];
    time_left_ += shapes_[s].beside;
  });
  const Ticks most = (limit - state.time) * machines - least;
  if (most <= 0) return limit;
  if (sums_.empty() && !too_many_sums_) too_many_sums_ = !find_sums();
  if (too_many_sums_) return 0;
  find_lost();
  least_lost_ = most;
  enough_ = (std::min(enough, limit) - state.time) * machines - least;
  most_load_ = (ready_from_.front() + time_left_ + most) / machines;
  loads_.assign(machines_, 0);
  first_.assign(machines_, 0);
  looks_left_ = kMostLookedAt;
  fill_first();
  looked_at_ += kMostLookedAt - looks_left_;
  if (looks_left_ == 0 || least_lost_ < enough_) return 0;
  return least_lost_ == most ? limit : state.time + (least + least_lost_) / machines;
}

// Those of a length that gain least from it run alone.
template <std::size_t Words>
void MachineRest<Words>::find_lost() {
  left_ = 0;
  for (std::size_t d = 0; d < lengths_.size(); ++d) {
    const Length& length = lengths_[d];
    std::size_t count = 0;
    Ticks lost = 0;
    for (const std::uint32_t s : length.shapes) {
      count += count_[s];
      lost += static_cast<Ticks>(count_[s]) * shapes_[s].lost_beside();
    }
    left_ += static_cast<Counts>(count) << (8 * d);
    std::size_t at = length.lost + count;
    lost_[at] = lost_at_least_[at] = lost;
    for (std::size_t j = length.shapes.size(); j-- > 0;) {
      const Shape& shape = shapes_[length.shapes[j]];
      for (std::uint32_t i = 0; i < count_[length.shapes[j]]; ++i, --at) {
        lost = shape.alone == kNever ? kNever : lost + shape.lost_alone() - shape.lost_beside();
        lost_[at - 1] = lost;
        lost_at_least_[at - 1] = std::min(lost_at_least_[at], lost);
      }
    }
  }
}

// With at least so many on machines.
template <std::size_t Words>
Ticks MachineRest<Words>::least_lost_with(Counts counts) const {
  Ticks lost = 0;
  for (const Length& length : lengths_) {
    lost += lost_at_least_[length.lost + (counts & 0xFF)];
    counts >>= 8;
  }
  return lost;
}

// Whether each of the other machines can be filled to about the same height as the first, as far as these two are
// concerned.
template <std::size_t Words>
bool MachineRest<Words>::all_may_reach(Ticks top) {
  for (std::size_t m = 1; m < machines_; ++m) {
    std::size_t& first = first_[m];
    while (first < sums_.size() && ready_[m] + sums_[first].time <= top - least_lost_) ++first;
    if (first == sums_.size() || ready_[m] + sums_[first].time - top >= least_lost_) return false;
  }
  return true;
}

template <std::size_t Words>
void MachineRest<Words>::fill_first() {
  for (const Sum& sum : sums_) {
    const Ticks top = ready_.front() + sum.time;
    if (top > most_load_) return;
    if (looks_left_ == 0) return;
    --looks_left_;
    if (!is_left(sum.counts) || !all_may_reach(top)) continue;
    loads_.front() = top;
    time_left_ -= sum.time;
    fill(1, top, 0, sum.counts);
    time_left_ += sum.time;
    if (least_lost_ < enough_) return;
  }
}

// Machines before this one are taken up to `top` at most, and stay idle for so long before that.
template <std::size_t Words>
void MachineRest<Words>::fill(std::size_t machine, Ticks top, Ticks idle, Counts placed) {
  if (machine == machines_) return close(idle, placed);
  const Ticks spare = least_lost_ - idle - least_lost_with(placed);
  // What is left cannot fill the others to the same height.
  const Ticks to_fill = top * static_cast<Ticks>(machines_ - machine) - ready_from_[machine];
  if (spare <= 0 || to_fill - time_left_ >= spare) return;
  const Ticks ready = ready_[machine];
  // Of machines that are free from the same moment on, the one with more on it comes first.
  const Ticks most = ready == ready_[machine - 1] ? loads_[machine - 1] : most_load_;
  for (std::size_t at = first_[machine]; at < sums_.size(); ++at) {
    const Sum& sum = sums_[at];
    const Ticks load = ready + sum.time, above = load - top;
    if (load > most || above * static_cast<Ticks>(machine) >= spare) return;
    if (looks_left_ == 0) return;
    --looks_left_;
    if (-above >= spare || !is_left(placed + sum.counts)) continue;
    loads_[machine] = load;
    time_left_ -= sum.time;
    fill(machine + 1, std::max(top, load), idle + (above > 0 ? above * static_cast<Ticks>(machine) : -above),
         placed + sum.counts);
    time_left_ += sum.time;
    if (least_lost_ < enough_) return;
  }
}

// What is on no machine runs alone.
template <std::size_t Words>
void MachineRest<Words>::close(Ticks idle, Counts placed) {
  Ticks lost = idle;
  for (const Length& length : lengths_) {
    const Ticks alone = lost_[length.lost + (placed & 0xFF)];
    if (alone == kNever) return;
    lost += alone;
    placed >>= 8;
  }
  least_lost_ = std::min(least_lost_, lost);
}

template class MachineRest<1>;
template class MachineRest<2>;
template class MachineRest<4>;

}  // namespace phaze::schedule
