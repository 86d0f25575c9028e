#include "phaze/schedule/state_layer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

#include "phaze/schedule/decompose.h"

namespace phaze::schedule {
namespace {

// Operators 0 and 1 have the same modes and nobody waits for them; 1 waits for 2, and 3 is of another kind.
class StateLayerTest : public ::testing::Test {
 protected:
  StateLayerTest() {
    instance_.resources = {{"tc", 4}};
    for (const double duration : {4.0, 4.0, 1.0, 3.0}) {
      instance_.add_op("op");
      instance_.add_mode(duration, std::array{2.0});
    }
    instance_.add_edge(OpId{2}, OpId{1});
    decomposition_.split(instance_);
    block_.prepare(decomposition_.blocks()[0]);
    layer_.begin(block_, 100);
  }

  // The operator of the block that is this one of the instance.
  std::uint32_t op(std::uint32_t original) const {
    return static_cast<std::uint32_t>(std::ranges::find(block_.block->original, original) -
                                      block_.block->original.begin());
  }
  Running running(std::uint32_t original, Ticks finish) const {
    return {op(original), block_.block->mode_offsets[op(original)], finish};
  }
  SearchState<1> state(Ticks time, std::initializer_list<std::uint32_t> placed) const {
    SearchState<1> state{.time = time};
    for (const std::uint32_t original : placed) state.placed.insert(op(original));
    return state;
  }
  bool insert(const SearchState<1>& state, std::vector<Running> running = {}) {
    return layer_.insert(state, running, std::array{0.0});
  }
  bool dominates_without(std::uint32_t original, const SearchState<1>& state, std::vector<Running> running = {}) const {
    OpSet<1> ops;
    ops.insert(op(original));
    return layer_.dominates_without(ops, state, running);
  }

  Instance instance_;
  Decomposition decomposition_;
  SearchBlock<1> block_;
  StateLayer<1> layer_;
};

TEST_F(StateLayerTest, which_of_two_equals_is_placed_does_not_matter_once_both_are_free) {
  EXPECT_TRUE(insert(state(10, {2, 0})));
  EXPECT_FALSE(insert(state(10, {2, 1})));
  EXPECT_FALSE(insert(state(11, {2, 1}), {running(1, 12)}));
  EXPECT_TRUE(insert(state(9, {2, 1})));
}

TEST_F(StateLayerTest, which_of_two_equals_is_placed_matters_as_long_as_one_has_to_wait) {
  EXPECT_TRUE(insert(state(10, {2, 0}), {running(2, 11)}));
  EXPECT_TRUE(insert(state(10, {2, 1}), {running(1, 14)})) << "0 is free here, and 1 is not there";
  EXPECT_FALSE(insert(state(11, {2, 1}), {running(1, 14)})) << "by now it would be";
  EXPECT_TRUE(insert(state(10, {3, 0}))) << "another set";
}

TEST_F(StateLayerTest, a_state_with_more_placed_dominates_if_it_holds_no_more_and_is_no_later) {
  EXPECT_TRUE(insert(state(10, {0, 3}), {running(3, 12)}));
  EXPECT_TRUE(dominates_without(3, state(10, {0}), {running(0, 12)}));
  EXPECT_TRUE(dominates_without(3, state(12, {0})));
  EXPECT_FALSE(dominates_without(3, state(10, {0}))) << "it holds more";
  EXPECT_FALSE(dominates_without(3, state(9, {0}), {running(0, 12)})) << "it is later";
  EXPECT_FALSE(dominates_without(2, state(12, {0}))) << "another operator";
}

TEST_F(StateLayerTest, a_needless_state_with_more_placed_dominates_none) {
  SearchState<1> needless = state(10, {0, 3});
  needless.needless = true;
  EXPECT_TRUE(insert(needless));
  EXPECT_FALSE(dominates_without(3, state(12, {0})));
}

TEST_F(StateLayerTest, states_are_taken_once_and_wait_again_when_put_back) {
  for (const double bound : {3.0, 1.0, 2.0, 4.0}) {
    SearchState<1> one = state(10, {static_cast<std::uint32_t>(bound) - 1});
    one.bound = bound;
    ASSERT_TRUE(insert(one));
  }
  std::vector<std::uint32_t> taken;
  EXPECT_TRUE(layer_.take(2.5, 3.5, 10, taken));
  EXPECT_EQ(taken, (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(layer_.waiting().size(), 1U) << "4 is beyond the limit";
  SearchState<1> later = layer_.state(1);
  later.bound = 2.7;
  layer_.put_back(1, later);
  EXPECT_TRUE(layer_.take(3.2, 3.5, 10, taken));
  EXPECT_EQ(taken, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(layer_.state(1).bound, 2.7);
  EXPECT_TRUE(layer_.waiting().empty());
}

TEST_F(StateLayerTest, of_more_states_than_wanted_those_of_the_least_bounds_are_taken_first) {
  const std::vector<double> bounds = {3.0, 1.0, 2.0, 1.0, 2.5};
  for (std::uint32_t i = 0; i < bounds.size(); ++i) {
    SearchState<1> one = i < 4 ? state(10, {i}) : state(10, {0, 2});
    one.bound = bounds[i];
    ASSERT_TRUE(insert(one));
  }
  std::vector<std::uint32_t> taken;
  std::vector<std::size_t> counts;
  std::vector<double> order;
  for (bool all = false; !all;) {
    all = layer_.take(2.8, 9, 2, taken);
    counts.push_back(taken.size());
    std::ranges::sort(taken);
    for (const std::uint32_t i : taken) order.push_back(bounds[i]);
  }
  EXPECT_EQ(counts, (std::vector<std::size_t>{2, 2}));
  EXPECT_EQ(order, (std::vector<double>{1, 1, 2, 2.5}));
  EXPECT_EQ(layer_.waiting().size(), 1U);
}

// A state of operator 0, which nobody waits for, is a moment and a finish.
TEST_F(StateLayerTest, states_that_none_dominates_are_left_however_many_there_are) {
  std::mt19937 random(3);
  for (const std::size_t count : {5U, 50U, 64U, 65U, 90U, 2000U}) {
    layer_.begin(block_, count);
    std::vector<SearchState<1>> states;
    std::vector<Ticks> finishes;
    for (std::size_t i = 0; i < count; ++i) {
      // Close to a line on which none dominates another.
      const auto time = std::uniform_int_distribution<Ticks>(0, 10'000)(random);
      const Ticks finish = 20'000 - time + std::uniform_int_distribution<Ticks>(0, 300)(random);
      states.push_back(state(time, {0}));
      finishes.push_back(finish);
    }
    const auto dominates = [&](std::size_t a, std::size_t b) {
      return states[a].time <= states[b].time && finishes[a] <= finishes[b];
    };
    std::size_t expected = 0;
    for (std::size_t b = 0; b < count; ++b) {
      insert(states[b], {running(0, finishes[b])});
      bool is_dominated = false;
      for (std::size_t a = 0; a < count && !is_dominated; ++a)
        is_dominated = a != b && dominates(a, b) && !(dominates(b, a) && b < a);
      expected += is_dominated ? 0 : 1;
    }
    std::vector<std::uint32_t> taken;
    EXPECT_TRUE(layer_.take(1, 1, count, taken));
    layer_.drop_dominated(1, taken);
    EXPECT_EQ(taken.size(), expected) << count;
  }
}

}  // namespace
}  // namespace phaze::schedule
