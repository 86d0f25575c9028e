#include "phaze/placement/phaze2024/instance_file.h"

#include <gtest/gtest.h>

#include <limits>

namespace phaze::placement::phaze2024 {
namespace {

const std::string kGood = R"({
  "maxMemoryPerDevice": 1000, "maxDevices": 4, "bandwidth": 10.5, "mbsInBatch": 8.0,
  "activationRecomputation": true, "optimizerAlgorithm": "Adam",
  "nodes": {
    "2": [{"id": 7, "parameterSize": 1, "activationSize": 2, "optimalLatencyFw": 0.5, "optimalLatencyBw": 1, "isTensorParallelized": true},
          {"id": -3, "parameterSize": 0, "activationSize": 2, "optimalLatencyFw": 0.5, "optimalLatencyBw": 1, "isTensorParallelized": false}],
    "1": [{"id": -3, "parameterSize": 0, "activationSize": 2, "optimalLatencyFw": 0.5, "optimalLatencyBw": 1, "isTensorParallelized": false},
          {"id": 7, "parameterSize": 2, "activationSize": 4, "optimalLatencyFw": 1, "optimalLatencyBw": 2, "isTensorParallelized": false}]},
  "edges": {"1": [{"sourceId": -3, "destId": 7, "communicationCost": 6}],
            "2": [{"sourceId": -3, "destId": 7, "communicationCost": 5}]},
  "fixedPP": 1, "fixedTMPC": 2, "fixedDP": 1, "numTransformerLayers": 2
})";

// kGood with one piece replaced.
std::string with(const std::string& from, const std::string& to) {
  std::string text = kGood;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(InstanceFile, reads_every_key) {
  const auto instance = parse_instance(kGood, "x.json");
  ASSERT_TRUE(instance) << to_string(instance.error());
  const Node small{.id = -3, .activation_bytes = 2, .forward_seconds = 0.5, .backward_seconds = 1};
  const Instance expected{.memory_per_device = 1000,
                          .devices = 4,
                          .bandwidth = 10.5,
                          .microbatches = 8,
                          .recompute = true,
                          .optimizer = Optimizer::kAdam,
                          .widths = {{1, {small, {7, 2, 4, 1, 2, false}}, {{-3, 7, 6}}},
                                     {2, {{7, 1, 2, 0.5, 1, true}, small}, {{-3, 7, 5}}}},
                          .expert = ExpertChoice{1, 2, 1, 2}};
  EXPECT_EQ(*instance, expected);
}

TEST(InstanceFile, the_expert_plan_may_be_left_out) {
  const auto instance = parse_instance(with(R"(,
  "fixedPP": 1, "fixedTMPC": 2, "fixedDP": 1, "numTransformerLayers": 2)",
                                            ""),
                                       "x.json");
  ASSERT_TRUE(instance) << to_string(instance.error());
  EXPECT_FALSE(instance->expert);
}

struct Broken {
  std::string text, message;
};

TEST(InstanceFile, broken_files_are_refused_with_place_and_fix) {
  const std::string edge = R"({"sourceId": -3, "destId": 7, "communicationCost": 6})";
  const std::string first = R"({"id": 7, "parameterSize": 1,)";
  const Broken cases[] = {
      {"", "x.json: line 1, column 1: is not valid JSON"},
      {"{\n \"nodes\": NaN}", "x.json: line 2, column 11: is not valid JSON"},
      {with(first, R"({"id": 7, "parameterSize": 1, "parameterSize": 2,)"),
       "x.json: nodes.2[0]: key 'parameterSize' is there twice (leave one of them out)"},
      {"[1]", "x.json: a list is not an object (write {...})"},
      {with("10.5", "1e999"), "x.json: bandwidth: holds a number that is too large (numbers end at 1.8e308)"},
      {with("\"bandwidth\"", "\"bandwith\""), "x.json: unknown key 'bandwith' (did you mean 'bandwidth'?)"},
      {with("\"maxDevices\": 4,", ""), "x.json: key 'maxDevices' is missing"},
      {with("\"maxDevices\": 4", "\"maxDevices\": \"4\""), "x.json: maxDevices: \"4\" is not a whole number"},
      {with("\"maxDevices\": 4", "\"maxDevices\": 4.5"), "x.json: maxDevices: 4.5 is not a whole number"},
      {with("\"maxDevices\": 4", "\"maxDevices\": 0"), "x.json: maxDevices: 0 is not between 1 and 2147483648"},
      {with("\"mbsInBatch\": 8.0", "\"mbsInBatch\": 1e15"),
       "x.json: mbsInBatch: 1000000000000000 is not between 1 and 2147483648"},
      {with("\"maxDevices\": 4", "\"maxDevices\": 1e18"), "x.json: maxDevices: 1e+18 is not between 1 and 2147483648"},
      {with(first, R"({"id": 1e18, "parameterSize": 1,)"),
       "x.json: nodes.2[0].id: 1e+18 is not between -9007199254740992 and 9007199254740992"},
      {with("10.5", "1e-300"), "x.json: bandwidth: 1e-300 is not from 1e-09 to 1e+30 bytes per second"},
      {with("10.5", "0"), "x.json: bandwidth: 0 is not from 1e-09 to 1e+30 bytes per second"},
      {with("10.5", "\"fast\""), "x.json: bandwidth: \"fast\" is not a number"},
      {with("\"maxMemoryPerDevice\": 1000", "\"maxMemoryPerDevice\": -1"),
       "x.json: maxMemoryPerDevice: -1 is not from 1e-30 to 1e+30 bytes"},
      {with("\"activationRecomputation\": true", "\"activationRecomputation\": 1"),
       "x.json: activationRecomputation: 1 is neither true nor false"},
      {with("\"Adam\"", "\"adamw\""), "x.json: optimizerAlgorithm: 'adamw' is none of SGD, Adam"},
      {with("\"Adam\"", "3"), "x.json: optimizerAlgorithm: 3 is not a text"},
      {with("\"fixedPP\": 1, ", ""), "x.json: key 'fixedPP' is missing"},
      {with("\"fixedDP\": 1", "\"fixedDP\": -2"), "x.json: fixedDP: -2 is not between 1 and 2147483648"},
      {with("\"2\": [{\"id\"", "\"two\": [{\"id\""),
       "x.json: nodes: 'two' is not a tensor-parallel width (such as \"4\")"},
      {with("\"2\": [{\"id\"", "\"02\": [{\"id\""),
       "x.json: nodes: '02' is not a tensor-parallel width (such as \"4\")"},
      {with("\"2\": [{\"id\"", "\"4\": [{\"id\""),
       "x.json: edges: width 4 of nodes is missing (an empty list says that there are none)"},
      {with(",\n            \"2\": [{\"sourceId\": -3, \"destId\": 7, \"communicationCost\": 5}]", ""),
       "x.json: edges: width 2 of nodes is missing (an empty list says that there are none)"},
      {with(first, "[],{"), "x.json: nodes.2[0]: a list is not an object (write {...})"},
      {with(first, R"({"id": 7, "parameterSise": 1,)"),
       "x.json: nodes.2[0]: unknown key 'parameterSise' (did you mean 'parameterSize'?)"},
      {with(first, R"({"id": 7,)"), "x.json: nodes.2[0]: key 'parameterSize' is missing"},
      {with(first, R"({"id": 7, "parameterSize": -1,)"),
       "x.json: nodes.2[0].parameterSize: -1 is not 0 or from 1e-30 to 1e30 (sizes are bytes, latencies "
       "seconds)"},
      {with(first, R"({"id": 7, "parameterSize": 1e-31,)"),
       "x.json: nodes.2[0].parameterSize: 1e-31 is not 0 or from 1e-30 to 1e30 (sizes are bytes, latencies "
       "seconds)"},
      {with(first, R"({"id": "7", "parameterSize": 1,)"), "x.json: nodes.2[0].id: \"7\" is not a whole number"},
      {with(first, R"({"id": 18446744073709551615, "parameterSize": 1,)"),
       "x.json: nodes.2[0].id: 18446744073709551615 is not between -9223372036854775808 and 9223372036854775807"},
      {with(first, R"({"id": -3, "parameterSize": 1,)"),
       "x.json: nodes.2[1].id: id -3 is already that of nodes.2[0] (ids are unique within a width)"},
      {with(edge, R"({"sourceId": -3, "destId": 8, "communicationCost": 6})"),
       "x.json: edges.1[0].destId: there is no node with id 8 (ids are those of nodes.1)"},
      {with(edge, R"({"sourceId": 7, "destId": 7, "communicationCost": 6})"),
       "x.json: edges.1[0]: joins node 7 with itself (remove it)"},
      {with(edge, edge + "," + edge),
       "x.json: edges.1[1]: -3 -> 7 is already edges.1[0] (merge the two and add their bytes)"},
      {with(edge, R"({"sourceId": -3, "destId": 7, "communicationCost": -6})"),
       "x.json: edges.1[0].communicationCost: -6 is not 0 or from 1e-30 to 1e30 (sizes are bytes, latencies "
       "seconds)"},
      {with(edge, edge + R"(,{"sourceId": 7, "destId": -3, "communicationCost": 6})"),
       "x.json: edges.2: edge 7 -> -3 of width 1 is missing (all widths describe the same graph)"},
      {with(edge, ""), "x.json: edges.1: edge -3 -> 7 of width 2 is missing (all widths describe the same graph)"},
      {R"({"maxMemoryPerDevice": 1, "maxDevices": 1, "bandwidth": 1, "mbsInBatch": 1, "activationRecomputation": false,
           "optimizerAlgorithm": "SGD", "nodes": {}, "edges": {}})",
       "x.json: nodes: there are no tensor-parallel widths (give at least one, such as \"1\")"},
      {R"({"maxMemoryPerDevice": 1, "maxDevices": 1, "bandwidth": 1, "mbsInBatch": 1, "activationRecomputation": false,
           "optimizerAlgorithm": "SGD", "nodes": {"1": []}, "edges": {"1": []}})",
       "x.json: nodes.1: there are no layers (give at least one node)"},
      {R"({"maxMemoryPerDevice": 1, "maxDevices": 1, "bandwidth": 1, "mbsInBatch": 1, "activationRecomputation": false,
           "optimizerAlgorithm": "SGD", "nodes": {"1": {}}, "edges": 5})",
       "x.json: nodes.1: an object is not a list"},
  };
  for (const Broken& broken : cases) {
    const auto instance = parse_instance(broken.text, "x.json");
    ASSERT_FALSE(instance) << broken.message;
    EXPECT_EQ(to_string(instance.error()), broken.message);
  }
}

TEST(InstanceFile, ids_that_differ_between_widths_are_named) {
  std::string text = with(R"({"id": 7, "parameterSize": 2)", R"({"id": 8, "parameterSize": 2)");
  text.replace(text.find("\"destId\": 7"), 11, "\"destId\": 8");
  const auto instance = parse_instance(text, "x.json");
  ASSERT_FALSE(instance);
  EXPECT_EQ(to_string(instance.error()),
            "x.json: nodes.2: node 8 of width 1 is missing (all widths describe the same layers)");
}

TEST(InstanceFile, a_cycle_is_named) {
  Instance instance{.memory_per_device = 1};
  for (std::int64_t id = 0; id < 4; ++id) {
    if (id == 0) instance.widths.push_back({.width = 1});
    instance.widths[0].nodes.push_back({.id = id});
  }
  instance.widths[0].edges = {{0, 1, 1}, {1, 2, 1}, {2, 3, 1}, {3, 1, 1}};
  EXPECT_EQ(to_string(validate(instance).error()),
            "edges.1: nodes form a cycle: 1 -> 2 -> 3 -> 1 (edges lead from producers to consumers)");
  instance.widths[0].edges.pop_back();
  EXPECT_TRUE(validate(instance));
  instance.widths[0].nodes[2].forward_seconds = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(validate(instance).error().place, "nodes.1[2].optimalLatencyFw");
}

TEST(InstanceFile, files_that_cannot_be_read_are_named) {
  EXPECT_EQ(to_string(read_instance("/nowhere/x.json").error()),
            "/nowhere/x.json: cannot be read: No such file or directory");
  EXPECT_EQ(to_string(read_instance("/").error()), "/: is a folder, not a file");
}

}  // namespace
}  // namespace phaze::placement::phaze2024
