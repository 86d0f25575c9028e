// What a bound on the time that a batch takes on a chip is made of, from the cheapest to the answer.
//
//   kRoofline    layers at their rooflines (roofline.h), placed as placement_bound.h says
//   kPlaced      layers at their rooflines, with the exact placement: pipeline, gradients, optimizer and memory
//   kOperators   the same with products priced by their best mapping on all cores
//   kBounds      the same with the simple bounds on the layers' schedules: every mode of every operator is priced
//   kSchedules   the same with the schedules themselves: the answer
//
// A level never lowers a bound: layer times grow from level to level, and the time of a placement grows with those of
// its layers. A longer pass hides more communication, but never more than it adds; in interleaved pipelines it may, and
// what it could gain there is taken off bounds (Training::least_times). Whether a plan fits the memory does not depend
// on times at all, so a configuration without a plan at kPlaced has none.
#pragma once

#include <cstddef>
#include <cstdint>

namespace phaze::search {

enum class Level : std::uint8_t { kRoofline, kPlaced, kOperators, kBounds, kSchedules };
inline constexpr std::size_t kLevels = 5;
const char* to_string(Level level);

}  // namespace phaze::search
