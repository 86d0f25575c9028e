#include "phaze/cost/collective.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

namespace phaze::cost {
namespace {

using hardware::Group;
using hardware::Network;
using workload::CollectiveKind;

double seconds(CollectiveKind kind, double bytes, const std::string& network, Group group) {
  return collective_cost(kind, bytes, hardware::spanned(*hardware::load_network(network), group)).seconds;
}

TEST(Collective, a_ring_moves_each_byte_nearly_twice) {
  EXPECT_DOUBLE_EQ(seconds(CollectiveKind::kAllReduce, 8e9, "100GB/s@1us", {8, 1}), 2 * 7.0 / 8 * 0.08 + 14e-6);
  EXPECT_DOUBLE_EQ(seconds(CollectiveKind::kAllGather, 8e9, "100GB/s@1us", {8, 1}), 7.0 / 8 * 0.08 + 7e-6);
  EXPECT_EQ(seconds(CollectiveKind::kAllReduce, 8e9, "100GB/s@1us", {1, 1}), 0);
}

TEST(Collective, a_tree_wins_where_latency_rules) {
  const auto levels = hardware::spanned(*hardware::load_network("100GB/s@10us"), {64, 1});
  const CollectiveCost small = collective_cost(CollectiveKind::kAllReduce, 1000, levels);
  EXPECT_EQ(small.algorithm, "tree");
  EXPECT_DOUBLE_EQ(small.seconds, 12 * 10e-6 + 2 * 1000 / 100e9);
  EXPECT_EQ(collective_cost(CollectiveKind::kAllReduce, 1e11, levels).algorithm, "ring");
}

TEST(Collective, hierarchies_cross_the_slow_level_with_a_part) {
  const auto levels = hardware::spanned(*hardware::load_network("8x300GB/s,25GB/s"), {64, 1});
  const CollectiveCost cost = collective_cost(CollectiveKind::kAllReduce, 8e9, levels);
  EXPECT_EQ(cost.algorithm, "hierarchical");
  const double inside = 7.0 / 8 * 8e9 / 300e9;
  EXPECT_DOUBLE_EQ(cost.seconds, 2 * inside + 2 * 7.0 / 8 * 1e9 / 25e9);
}

TEST(Collective, crowded_on_one_port_takes_as_many_times_longer) {
  const Network network = *hardware::parse_network_file(
      "levels:\n  - {size: 8, bandwidth: 300GB/s}\n  - {bandwidth: 12.5GB/s, ports: 4}\n");
  const auto cost = [&](Group group) {
    return collective_cost(CollectiveKind::kAllReduce, 8e9, hardware::spanned(network, group)).seconds;
  };
  // Four groups of two devices in each of 16 nodes: all they send leaves a node by one port of 25 GB/s.
  EXPECT_NEAR(cost({32, 4}), 2 * 15.0 / 16 * 8e9 / (25e9 / 4) + 2 * 0.5 * 8e9 / 300e9, 1e-9);
  EXPECT_NEAR(cost({32, 8}), 2 * 31.0 / 32 * 8e9 / 12.5e9, 1e-9) << "one device of a node: its share of all ports";
  EXPECT_NEAR(cost({32, 1}), 2 * 3.0 / 4 * 1e9 / 12.5e9 + 2 * 7.0 / 8 * 8e9 / 300e9, 1e-9) << "whole nodes: all ports";
}

TEST(Collective, a_torus_uses_all_its_sides) {
  const double plane = seconds(CollectiveKind::kAllReduce, 1e9, "tpuv4-torus", {256, 1});
  const double line = seconds(CollectiveKind::kAllReduce, 1e9, "tpuv4-torus", {16, 1});
  EXPECT_LT(plane, line) << "twice the links";
  const double by_hand = 2 * (255.0 / 256 * 1e9 / (4 * 50e9) + 30e-6);
  EXPECT_DOUBLE_EQ(plane, by_hand);
}

TEST(Collective, is_never_faster_than_its_slowest_necessary_link) {
  std::mt19937 random(3);
  for (int round = 0; round < 500; ++round) {
    const auto pick = [&](int most) { return std::uniform_int_distribution<int>(1, most)(random); };
    const Network network = *hardware::parse_inline_network(std::to_string(pick(16)) + "x" + std::to_string(pick(900)) +
                                                            "GB/s," + std::to_string(pick(50)) + "GB/s@5us");
    const Group group{pick(256), pick(16)};
    const auto levels = hardware::spanned(network, group);
    const double bytes = 1e6 * pick(1000);
    const double all_reduce = collective_cost(CollectiveKind::kAllReduce, bytes, levels).seconds;
    const double gather = collective_cost(CollectiveKind::kAllGather, bytes, levels).seconds;
    const double scatter = collective_cost(CollectiveKind::kReduceScatter, bytes, levels).seconds;
    EXPECT_LE(all_reduce, (gather + scatter) * (1 + 1e-12)) << "an all-reduce is at worst both";
    double fastest = 0;
    for (const auto& level : levels) fastest = std::max(fastest, level.bandwidth);
    if (!levels.empty()) {
      EXPECT_GE(gather, (1 - 1.0 / static_cast<double>(group.size)) * bytes / fastest * (1 - 1e-12));
    }
    EXPECT_LE(gather, collective_cost(CollectiveKind::kAllGather, 2 * bytes, levels).seconds);
  }
}

// What each block lacks must come in through the links of the devices that the group has there.
TEST(Collective, among_devices_that_lie_unevenly_waits_for_the_block_that_has_fewest) {
  const Network network = *hardware::load_network("8x450GB/s,50GB/s");
  const auto gather = [&](std::int64_t replicas) {
    return collective_cost(CollectiveKind::kAllGather, 9e9, hardware::spanned(network, {.size = replicas})).seconds;
  };
  EXPECT_GE(gather(9), 8.0 / 9 * 9e9 / 50e9) << "the ninth device is alone in its node";
  EXPECT_GE(gather(12), 8.0 / 12 * 9e9 / (4 * 50e9));
  EXPECT_LT(gather(16), gather(9)) << "two whole nodes share it out";
  // A ring among five that all links serve alike moves four fifths, wherever the blocks end.
  const auto levels = hardware::spanned(*hardware::load_network("3x300GB/s,300GB/s"), {.size = 5});
  EXPECT_DOUBLE_EQ(collective_cost(CollectiveKind::kAllReduce, 3e9, levels).seconds, 2 * 4.0 / 5 * 3e9 / 300e9);
}

TEST(Collective, a_group_that_lies_as_well_as_it_can_bounds_all_larger_ones) {
  std::mt19937 random(7);
  const auto pick = [&](int most) { return std::uniform_int_distribution<int>(1, most)(random); };
  for (int round = 0; round < 3000; ++round) {
    const int inner = 50 + pick(900), outer = pick(inner), outermost = pick(outer);
    const Network network = *hardware::parse_inline_network(
        fmt::format("{}x{}GB/s@1us,{}x{}GB/s@2us,{}GB/s@5us", pick(9), inner, pick(6), outer, outermost));
    const std::int64_t width = pick(4), stride = width * pick(6), size = 1 + pick(30), more = size + pick(20) - 1;
    const Group best{.size = size, .stride = stride, .whole = width};
    const Group real{.size = more, .stride = stride, .devices = more * stride * pick(5), .whole = width};
    for (const auto kind : {CollectiveKind::kAllReduce, CollectiveKind::kAllGather, CollectiveKind::kReduceScatter}) {
      const double bytes = 1e6 * pick(1000);
      EXPECT_LE(collective_cost(kind, bytes, hardware::spanned_at_best(network, best)).seconds,
                collective_cost(kind, bytes, hardware::spanned(network, real)).seconds * (1 + 1e-12))
          << network.name << " " << size << " and " << more << " devices, " << stride << " apart";
    }
  }
}

}  // namespace
}  // namespace phaze::cost
