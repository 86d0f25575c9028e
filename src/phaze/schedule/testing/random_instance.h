// Random instances for property tests: every run with the same seed gives the same instance.
#pragma once

#include <cstdint>

#include "phaze/schedule/instance.h"

namespace phaze::schedule::testing {

// `phaze`: one core or all cores and nothing beside; tensor and vector cores.
// `moldable`: 1, 2, 4, … cores, a share of the bandwidth, collectives on a network.
// `anything`: up to three resources, any demands, now and then an operator that takes no time or no resource.
enum class Model : std::uint8_t { kPhaze, kMoldable, kAnything };

Instance random_instance(Model model, std::size_t ops, std::uint64_t seed);

// As `phaze`, with a core of each kind for every operator: only what takes all cores keeps others from running.
Instance with_plenty_of_cores(std::size_t ops, std::uint64_t seed);

// Branches of operators that fork from and join in single ones, `width` wide: the shape of hard layers. At least
// `ops` operators.
Instance random_branches(Model model, std::size_t ops, std::size_t width, std::uint64_t seed);

// Operators that run on cores, on a second kind of cores, or on both, and all share a bandwidth, as those of layers do.
// The last `small` of them take a few millionths of what the others take.
Instance layer_like(std::size_t operators, std::uint64_t seed, std::size_t small = 0);

// The same, and `light` more that nobody waits for, with little work of cores of the second kind.
Instance layer_like_with_light(std::size_t operators, std::size_t light, std::uint64_t seed);

// Operators of a few kinds, most of which can use all of the bandwidth by themselves: what runs side by side then gains
// nothing, but beside the others.
Instance bandwidth_bound(std::size_t operators, std::uint64_t seed);

// Two chains of operators of a few kinds, with operators of the same kinds beside them that nobody waits for, as in
// backward passes. With 1, 2, 4, … cores each, or with one core or all.
Instance chains_with_ends(std::size_t operators, std::uint64_t seed);

// Some operators on one to three cores of which there are few, and others on cores of a second kind, of which there are
// enough for all, or nearly: with one or two of them, or with all cores of both kinds and nothing beside.
Instance some_with_plenty_of_cores(std::size_t operators, std::uint64_t seed);

}  // namespace phaze::schedule::testing
