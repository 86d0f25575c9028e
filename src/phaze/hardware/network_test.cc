#include "phaze/hardware/network.h"

#include <gtest/gtest.h>

#include "phaze/hardware/chip_file.h"
#include "phaze/hardware/cluster.h"

namespace phaze::hardware {
namespace {

std::string refused(const auto& result) { return result ? "accepted" : to_string(result.error()); }

TEST(Network, inline_levels_go_from_the_inside_out) {
  const auto network = load_network("8x300GB/s@2us,25GB/s@5us");
  ASSERT_TRUE(network);
  ASSERT_EQ(network->levels.size(), 2U);
  EXPECT_EQ(network->levels[0].size, 8);
  EXPECT_DOUBLE_EQ(network->levels[0].bandwidth, 300e9);
  EXPECT_DOUBLE_EQ(network->levels[0].latency, 2e-6);
  EXPECT_EQ(network->levels[1].size, 0);
  EXPECT_DOUBLE_EQ(network->levels[1].bandwidth, 25e9);
  EXPECT_EQ(network->capacity(), 0);
}

TEST(Network, every_preset_reads_and_every_chip_has_its_own) {
  for (const std::string& name : network_presets()) EXPECT_EQ(refused(load_network(name)), "accepted") << name;
  for (const std::string& name : chip_presets()) {
    const Chip chip = *load_chip(name);
    const auto network = own_network(chip);
    EXPECT_EQ(refused(network), "accepted") << name;
    EXPECT_DOUBLE_EQ(chip.link_bandwidth, network->link_bandwidth()) << name;
  }
  EXPECT_DOUBLE_EQ(Chip{}.link_bandwidth, own_network(Chip{})->link_bandwidth());
}

TEST(Network, links_are_counted_both_ways_and_to_every_neighbour_of_a_torus) {
  EXPECT_DOUBLE_EQ(parse_inline_network("8x300GB/s,25GB/s")->link_bandwidth(), 2 * 325e9);
  const auto torus = parse_network_file("levels:\n  - {torus: 4x4x4, bandwidth: 50GB/s, latency: 1us}\n");
  ASSERT_TRUE(torus) << to_string(torus.error());
  EXPECT_DOUBLE_EQ(torus->link_bandwidth(), 2 * 6 * 50e9);
}

TEST(Network, bad_specifications_name_the_part_and_the_fix) {
  EXPECT_EQ(refused(load_network("dgx-a10")), "NETWORK: there is no network 'dgx-a10' (did you mean 'dgx-a100'?)");
  EXPECT_EQ(
      refused(load_network("8x300GB/s,fast/s")),
      "network '8x300GB/s,fast/s': fast/s: 'fast' does not start with a positive number (write it like 1200GB/s)");
  EXPECT_EQ(refused(load_network("0x300GB/s")), "network '0x300GB/s': 0x300GB/s: '0' is not a positive whole number");
  EXPECT_EQ(
      refused(load_network("300GB/s,25GB/s")),
      "network '300GB/s,25GB/s': a level inside another has no size (only the outermost level may join any number)");
  EXPECT_EQ(refused(load_network("8x300GB/s@2")),
            "network '8x300GB/s@2': 8x300GB/s@2: '2' has no unit (write it like 2us; units: s, ms, us, ns)");
  EXPECT_EQ(refused(parse_network_file("levels: 3\n")), "line 1: key 'levels' needs a list");
  EXPECT_EQ(refused(parse_network_file("levels:\n  - size: 8\n")),
            "line 2: a level has no bandwidth (add bandwidth: 25GB/s)");
  EXPECT_EQ(refused(parse_network_file("levels:\n  - speed: 8\n")),
            "line 2: unknown key 'speed' (known: size, torus, bandwidth, latency, efficiency, ports)");
  EXPECT_EQ(refused(parse_network_file("levels:\n  - {bandwidth: 1GB/s, efficiency: 2}\n")),
            "line 2: key 'efficiency': '2' is more than 1");
  EXPECT_EQ(refused(parse_network_file("levels:\n  - {bandwidth: 1GB/s, size: 4, size: 8}\n")),
            "line 2: key 'size' is there twice (leave one of them out)");
  EXPECT_EQ(refused(load_network("")).substr(0, 32), "NETWORK: there is no network '' ");
  EXPECT_EQ(refused(parse_network_file("name: x\n")), "the network has no levels");
}

TEST(Network, a_torus_joins_what_its_sides_multiply_to_whatever_else_the_file_says) {
  for (const char* sides : {"4", "4x4", "4x4x4", "2x3x5x7"}) {
    const std::string torus = std::string("torus: ") + sides;
    const auto alone = parse_network_file("levels:\n  - {" + torus + ", bandwidth: 50GB/s}\n");
    ASSERT_TRUE(alone);
    const std::int64_t joined = alone->capacity();
    for (const std::int64_t size : {std::int64_t{1}, std::int64_t{9}, joined - 1, joined, joined + 1}) {
      const std::string given = "size: " + std::to_string(size);
      for (const std::string& both : {torus + ", " + given, given + ", " + torus}) {
        const auto network = parse_network_file("levels:\n  - {" + both + ", bandwidth: 50GB/s}\n");
        ASSERT_EQ(static_cast<bool>(network), size == joined) << both;
        if (network)
          EXPECT_EQ(*network, *alone);
        else
          EXPECT_EQ(refused(network), "line 2: the sides of the torus multiply to " + std::to_string(joined) +
                                          ", and size is " + std::to_string(size) + " (leave size out)");
      }
    }
  }
}

TEST(Cluster, a_file_names_chip_devices_and_network) {
  const auto cluster = parse_cluster_file("chip: a100-80g\ndevices: 512\nnetwork: 8x300GB/s,12.5GB/s\n");
  ASSERT_TRUE(cluster);
  EXPECT_EQ(cluster->devices, 512);
  EXPECT_EQ(cluster->chip.name, "a100-80g");
  EXPECT_EQ(cluster->network.levels.size(), 2U);
  EXPECT_EQ(parse_cluster_file("chip: h200\ndevices: 8\n")->network.name, "dgx-h100");
}

TEST(Cluster, bad_files_name_the_place_and_the_fix) {
  EXPECT_EQ(refused(parse_cluster_file("devices: 8\n")), "key 'chip' is missing (add chip: h100-sxm)");
  EXPECT_EQ(refused(parse_cluster_file("chip: h200\n")), "key 'devices' is missing (add devices: 512)");
  EXPECT_EQ(refused(parse_cluster_file("chip: h200\ndevices: -1\n")),
            "line 2: key 'devices': '-1' is not a positive whole number");
  EXPECT_EQ(refused(parse_cluster_file("chip: h20\ndevices: 8\n")),
            "key 'chip': CHIP: there is no chip 'h20' (did you mean 'h200'?)");
  EXPECT_EQ(refused(parse_cluster_file("chip: h200\ndevices: 8\nnetwork: ''\n")).substr(0, 47),
            "key 'network': NETWORK: there is no network '' ");
  EXPECT_EQ(refused(parse_cluster_file("chip: h200\ncount: 8\n")),
            "line 2: unknown key 'count' (known: chip, devices, network)");
  EXPECT_EQ(
      refused(parse_cluster_file("chip: tpuv4\ndevices: 5000\n")),
      "network 'tpuv4-torus' joins 4096 devices, not 5000 (lower the number of devices or give the outermost level "
      "no size)");
}

}  // namespace
}  // namespace phaze::hardware
