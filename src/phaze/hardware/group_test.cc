#include "phaze/hardware/group.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>

namespace phaze::hardware {
namespace {

TEST(Group, a_group_is_divided_over_the_levels_it_spans) {
  const Network network = *parse_inline_network("8x300GB/s,16x50GB/s,10GB/s");
  const auto members = [&](std::int64_t size, std::int64_t stride) {
    std::vector<std::int64_t> list;
    for (const GroupLevel& level : spanned(network, {.size = size, .stride = stride})) list.push_back(level.members);
    return list;
  };
  EXPECT_EQ(members(1, 1), (std::vector<std::int64_t>{}));
  EXPECT_EQ(members(8, 1), (std::vector<std::int64_t>{8}));
  EXPECT_EQ(members(16, 1), (std::vector<std::int64_t>{8, 2}));
  EXPECT_EQ(members(4, 8), (std::vector<std::int64_t>{4})) << "one device of each of four nodes";
  EXPECT_EQ(members(4, 4), (std::vector<std::int64_t>{2, 2}));
  EXPECT_EQ(members(64, 8), (std::vector<std::int64_t>{16, 4}));
  EXPECT_EQ(members(3, 128), (std::vector<std::int64_t>{3}));
  EXPECT_DOUBLE_EQ(spanned(network, {4, 8})[0].bandwidth, 50e9);
  EXPECT_DOUBLE_EQ(spanned(network, {3, 128})[0].bandwidth, 10e9);
}

TEST(Group, groups_that_have_part_of_a_node_share_one_port) {
  const Network network = *parse_network_file(
      "levels:\n  - {size: 8, bandwidth: 300GB/s}\n  - {bandwidth: 12.5GB/s, efficiency: 0.8, ports: 4}\n");
  const auto outside = [&](std::int64_t size, std::int64_t stride) {
    return spanned(network, {.size = size, .stride = stride}).back();
  };
  EXPECT_DOUBLE_EQ(outside(32, 8).ring_bandwidth, 10e9) << "one device of a node";
  EXPECT_DOUBLE_EQ(outside(32, 1).ring_bandwidth, 10e9) << "all devices of a node";
  EXPECT_DOUBLE_EQ(outside(32, 4).ring_bandwidth, 2.5e9) << "two of eight: four ports less three";
  EXPECT_DOUBLE_EQ(outside(32, 2).ring_bandwidth, 2.5e9);
  EXPECT_DOUBLE_EQ(outside(32, 4).bandwidth, 10e9) << "messages have theirs";
  EXPECT_DOUBLE_EQ(outside(2, 4).ring_bandwidth, 300e9) << "inside a node there are no ports";
  const Network unknown = *parse_inline_network("8x300GB/s,12.5GB/s");
  EXPECT_DOUBLE_EQ(spanned(unknown, {32, 4}).back().ring_bandwidth, 12.5e9);
}

TEST(Group, a_group_on_a_torus_fills_its_sides_in_order) {
  const Network torus = *load_network("tpuv4-torus");
  EXPECT_EQ(spanned(torus, {64, 1})[0].torus, (std::vector<std::int64_t>{16, 4, 1}));
  EXPECT_EQ(spanned(torus, {16, 16})[0].torus, (std::vector<std::int64_t>{1, 16, 1}));
  EXPECT_EQ(spanned(torus, {4096, 1})[0].torus, (std::vector<std::int64_t>{16, 16, 16}));
}

class Draw {
 public:
  explicit Draw(unsigned seed) : random_(seed) {}
  std::int64_t whole(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
  }

 private:
  std::mt19937 random_;
};

// Where devices stand that are numbered without the idle ones of each innermost block.
struct Numbering {
  std::int64_t used = 1;  // of an innermost block
  std::int64_t block_of(std::int64_t device, std::int64_t blocks) const { return device / (used * blocks); }
};

TEST(Group, is_the_one_that_lies_worst) {
  Draw draw(1);
  int uneven = 0;
  for (int round = 0; round < 3000; ++round) {
    const std::int64_t inner = draw.whole(2, 9), outer = draw.whole(1, 5), width = draw.whole(1, 5);
    const Network network =
        *parse_inline_network(std::to_string(inner) + "x300GB/s," + std::to_string(outer) + "x50GB/s,10GB/s");
    const Numbering numbering{width < inner ? inner - inner % width : inner};
    const std::int64_t size = draw.whole(2, 12), stride = width * draw.whole(1, 6), kinds = draw.whole(1, 6);
    const Group group{.size = size, .stride = stride, .devices = size * stride * kinds, .whole = width};
    // By counting: devices of every group in every block.
    std::int64_t fewest_inside = size, fewest_middle = size, most_blocks = 1, most_racks = 1;
    for (std::int64_t first = 0; first < group.devices;
         first += first % stride + 1 == stride ? size * stride - stride + 1 : 1) {
      std::map<std::int64_t, std::int64_t> nodes, racks;
      for (std::int64_t j = 0; j < size; ++j) {
        ++nodes[numbering.block_of(first + j * stride, 1)];
        ++racks[numbering.block_of(first + j * stride, outer)];
      }
      for (const auto& [node, count] : nodes) fewest_inside = std::min(fewest_inside, count);
      for (const auto& [rack, count] : racks) fewest_middle = std::min(fewest_middle, count);
      most_blocks = std::max(most_blocks, static_cast<std::int64_t>(nodes.size()));
      most_racks = std::max(most_racks, static_cast<std::int64_t>(racks.size()));
    }
    const auto levels = spanned(network, group);
    ASSERT_FALSE(levels.empty());
    EXPECT_EQ(levels.back().fewest, size) << "the last level joins all";
    const auto at = [&](double bandwidth) {
      const auto found = std::ranges::find(levels, bandwidth, &GroupLevel::bandwidth);
      return found == levels.end() ? nullptr : &*found;
    };
    EXPECT_EQ(at(10e9) != nullptr, most_racks > 1);
    if (at(10e9) != nullptr) {
      EXPECT_EQ(at(10e9)->members, most_racks);
    }
    if (at(50e9) != nullptr) {
      EXPECT_EQ(at(50e9)->fewest, most_racks > 1 ? fewest_middle : size);
    }
    if (at(300e9) != nullptr) {
      EXPECT_EQ(at(300e9)->fewest, most_blocks > 1 ? fewest_inside : size);
    }
    uneven += most_blocks > 1 && fewest_inside * most_blocks != size ? 1 : 0;
  }
  EXPECT_GT(uneven, 300);
}

TEST(Group, neighbours_that_fit_into_a_block_are_not_torn_apart) {
  const Network network = *parse_inline_network("8x300GB/s,25GB/s");
  EXPECT_EQ(groups_within(network, 16, 3), 4) << "two in each node, two devices idle";
  EXPECT_EQ(groups_within(network, 16, 4), 4);
  EXPECT_EQ(groups_within(network, 20, 3), 5);
  EXPECT_EQ(groups_within(network, 36, 12), 3) << "wider than a node";
  EXPECT_EQ(spanned(network, {.size = 3, .devices = 12, .whole = 3}).size(), 1U);
  Draw draw(2);
  for (int round = 0; round < 1000; ++round) {
    const Network some = *parse_inline_network(std::to_string(draw.whole(1, 12)) + "x300GB/s,25GB/s");
    const std::int64_t width = draw.whole(1, 14), groups = draw.whole(1, 40);
    const std::int64_t devices = devices_for(some, groups, width);
    EXPECT_EQ(groups_within(some, devices, width), groups);
    EXPECT_EQ(groups_within(some, devices - 1, width), groups - 1) << "no fewer devices do";
  }
}

}  // namespace
}  // namespace phaze::hardware
