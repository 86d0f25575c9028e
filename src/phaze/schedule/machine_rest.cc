#include "phaze/schedule/machine_rest.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace phaze::schedule {
namespace {

// With more machines than this the operators left are soon fewer than these, and phases (phase_rest.h) see more.
constexpr Units kMostMachines = 64;
// For one state. Most take some dozens.
constexpr std::uint64_t kMostBranches = 512;

}  // namespace

template <std::size_t Words>
bool MachineRest<Words>::begin(const SearchBlock<Words>& block) {
  block_ = &block;
  looked_at_ = 0;
  if (!find_machines()) return false;
  find_shapes();
  return shapes_.size() > 1;
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
  longest_first_.clear();
  for (std::uint32_t s = 1; s < shapes_.size(); ++s)
    if (shapes_[s].beside < kNever) longest_first_.push_back(s);
  std::ranges::stable_sort(longest_first_, std::greater{}, [&](std::uint32_t s) { return shapes_[s].beside; });
}

template <std::size_t Words>
std::uint32_t MachineRest<Words>::place_of(const Shape& shape) {
  if (shape.beside == 0) return 0;
  const auto at = std::ranges::find(shapes_, shape);
  if (at != shapes_.end()) return static_cast<std::uint32_t>(at - shapes_.begin());
  shapes_.push_back(shape);
  return static_cast<std::uint32_t>(shapes_.size() - 1);
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
  left_.clear();
  for (const std::uint32_t s : longest_first_) {
    if (count_[s] == 0) continue;
    const Shape& shape = shapes_[s];
    left_.push_back({.beside = shape.beside,
                     .lost_beside = shape.beside - shape.least,
                     .lost_alone = shape.alone == kNever ? kNever : shape.alone - shape.least,
                     .count = count_[s]});
  }
  left_.emplace_back();
  least_lost_ = most;
  enough_ = (std::min(enough, limit) - state.time) * machines - least;
  most_load_ = (ready_from_.front() + time_left_ + most) / machines;
  loads_.assign(machines_, 0);
  branches_left_ = kMostBranches;
  fill(0, left_.data(), ready_.front(), 0, 0);
  looked_at_ += kMostBranches - branches_left_;
  if (branches_left_ == 0 || least_lost_ < enough_) return 0;
  return least_lost_ == most ? limit : state.time + (least + least_lost_) / machines;
}

// Puts operators on a machine that is taken up to `load` so far, shapes in their order. Machines before it are taken
// for no longer than `top`, and so much is lost on these.
template <std::size_t Words>
void MachineRest<Words>::fill(std::size_t machine, Left* from, Ticks load, Ticks top, Ticks lost) {
  if (branches_left_ == 0) return;
  --branches_left_;
  if (lost + top - load - time_left_ >= least_lost_) return;
  close(machine, load, top, lost);
  if (least_lost_ < enough_) return;
  // Of machines that are free from the same moment on, the one with more on it comes first.
  const Ticks most = machine > 0 && ready_[machine] == ready_[machine - 1] ? loads_[machine - 1] : most_load_;
  for (Left* shape = from; shape->beside > 0; ++shape) {
    const Ticks then_load = load + shape->beside;
    if (shape->count == 0 || then_load > most) continue;
    const Ticks then_lost = lost + shape->lost_beside;
    const Ticks above = std::max<Ticks>(0, then_load - top);
    if (then_lost + static_cast<Ticks>(machine) * above >= least_lost_) continue;
    --shape->count;
    time_left_ -= shape->beside;
    fill(machine, shape, then_load, top, then_lost);
    time_left_ += shape->beside;
    ++shape->count;
    if (least_lost_ < enough_ || branches_left_ == 0) return;
  }
}

// Goes on to the next machine; after the last one, what is on none runs alone.
template <std::size_t Words>
void MachineRest<Words>::close(std::size_t machine, Ticks load, Ticks top, Ticks lost) {
  const Ticks above = load - top;
  lost += above > 0 ? above * static_cast<Ticks>(machine) : -above;
  top = std::max(top, load);
  if (lost >= least_lost_) return;
  if (machine + 1 < machines_) {
    // What is left cannot fill the others to the same height.
    const Ticks to_fill = top * static_cast<Ticks>(machines_ - machine - 1) - ready_from_[machine + 1];
    if (lost + to_fill - time_left_ >= least_lost_) return;
    loads_[machine] = load;
    fill(machine + 1, left_.data(), ready_[machine + 1], top, lost);
    return;
  }
  for (const Left& shape : left_) {
    if (shape.count == 0) continue;
    if (shape.lost_alone == kNever) return;
    lost += shape.lost_alone * static_cast<Ticks>(shape.count);
  }
  least_lost_ = std::min(least_lost_, lost);
}

template class MachineRest<1>;
template class MachineRest<2>;
template class MachineRest<4>;

}  // namespace phaze::schedule
