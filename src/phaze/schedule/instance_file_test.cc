#include "phaze/schedule/instance_file.h"

#include <gtest/gtest.h>

namespace phaze::schedule {
namespace {

TEST(InstanceFile, a_file_is_read_as_written) {
  const auto read = parse_instance(R"({"resources": {"tc": 8, "hbm": 1.0},
    "ops": [{"id": 7, "name": "qkv", "modes": [{"duration": 1.5, "demand": {"hbm": 0.35}}]},
            {"id": 3, "modes": [{"duration": 0}, {"duration": 2, "demand": {"tc": 8}}]}],
    "edges": [[7, 3]]})");
  ASSERT_TRUE(read) << to_string(read.error());
  const Instance& instance = read->instance;
  EXPECT_EQ(read->ids, (std::vector<std::int64_t>{7, 3}));
  EXPECT_EQ(instance.resources, (std::vector<Resource>{{"tc", 8}, {"hbm", 1}}));
  EXPECT_EQ(instance.name(OpId(0)), "qkv");
  EXPECT_EQ(instance.name(OpId(1)), "3");
  EXPECT_EQ(instance.mode_count(OpId(1)), 2U);
  EXPECT_EQ(instance.demand(OpId(0), 0)[1], 0.35);
  EXPECT_EQ(instance.demand(OpId(1), 1)[0], 8);
  EXPECT_EQ(instance.edges, (std::vector<Edge>{{OpId(0), OpId(1)}}));
}

struct Broken {
  const char* text;
  const char* message;
};

// NOLINTNEXTLINE(readability-identifier-naming): found by GoogleTest under this name
void PrintTo(const Broken& broken, std::ostream* out) { *out << broken.text; }

class BrokenInstance : public ::testing::TestWithParam<Broken> {};

TEST_P(BrokenInstance, is_refused_with_a_message_that_names_the_fix) {
  const auto read = parse_instance(GetParam().text);
  ASSERT_FALSE(read);
  EXPECT_EQ(to_string(read.error()), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    All, BrokenInstance,
    ::testing::Values(
        Broken{"{", "line 1, column 2: is not valid JSON"},
        Broken{R"({"resources": {}, "ops": [], "ops": []})", "key 'ops' is there twice (leave one of them out)"},
        Broken{"[]", "is not a JSON object (expected the keys resources, ops and edges)"},
        Broken{"{}", "key 'resources' is missing (it is an object)"},
        Broken{R"({"resources": {}, "ops": {}})", "key 'ops' is not a list"},
        Broken{R"({"resorces": {}, "ops": []})", "unknown key 'resorces' (did you mean 'resources'?)"},
        Broken{R"({"resources": {"tc": "8"}, "ops": []})",
               "resource 'tc': the capacity is not a number (write it like \"tc\": 8)"},
        Broken{R"({"resources": {"tc": -8}, "ops": []})",
               "resource 'tc': capacity -8 is not an amount (capacities are 0 or from 1e-30 to 1e30)"},
        Broken{R"({"resources": {"tc": 1e999}, "ops": []})",
               "resources.tc: holds a number that is too large (numbers end at 1.8e308)"},
        Broken{R"({"resources": {}, "ops": [{"modes": []}]})",
               "ops[0]: key 'id' is missing (give every operator a whole number)"},
        Broken{R"({"resources": {}, "ops": [{"id": 1.5, "modes": []}]})",
               "ops[0]: key 'id' is not a whole number below 2^63"},
        Broken{R"({"resources": {}, "ops": [{"id": 18446744073709551615, "modes": []}]})",
               "ops[0]: key 'id' is not a whole number below 2^63"},
        Broken{
            R"({"resources": {}, "ops": [{"id": -1, "modes": [{"duration": 1}]}], "edges": [[-1, 18446744073709551615]]})",
            "edges[0]: is not a pair of ids (write it like [0, 1])"},
        Broken{R"({"resources": {}, "ops": [{"id": 1, "modes": []}]})",
               "operator '1': has no modes (give it at least one mode)"},
        Broken{R"({"resources": {}, "ops": [{"id": 1, "mode": []}]})",
               "ops[0]: unknown key 'mode' (did you mean 'modes'?)"},
        Broken{R"({"resources": {}, "ops": [{"id": 1, "modes": [{"duration": 1}]}, {"id": 1, "modes": []}]})",
               "ops[1]: the id 1 is used twice (ids must differ)"},
        Broken{R"({"resources": {}, "ops": [{"id": 1, "name": "x", "modes": [{"duration": -1}]}]})",
               "operator 'x', mode 0: duration -1 is not a time (durations are 0 or from 1e-30 to 1e30)"},
        Broken{R"({"resources": {"tc": 1e31}, "ops": []})",
               "resource 'tc': capacity 1e+31 is not an amount (capacities are 0 or from 1e-30 to 1e30)"},
        Broken{R"({"resources": {}, "ops": [{"id": 1, "modes": [{"duration": 1}, {"duration": 1e308}]}]})",
               "operator '1', mode 1: duration 1e+308 is not a time (durations are 0 or from 1e-30 to 1e30)"},
        Broken{R"({"resources": {}, "ops": [{"id": 1, "modes": [{"duration": 5e-324}]}]})",
               "operator '1', mode 0: duration 5e-324 is not a time (durations are 0 or from 1e-30 to 1e30)"},
        Broken{R"({"resources": {"tc": 8}, "ops": [{"id": 1, "modes": [{"duration": 1, "demand": {"tc": 1e-310}}]}]})",
               "operator '1', mode 0: demand 1e-310 of 'tc' is not an amount (demands are 0 or from 1e-30 to 1e30)"},
        Broken{R"({"resources": {}, "ops": [{"id": 1, "modes": [{"duration": null}]}]})",
               "operator '1', mode 0: key 'duration' is not a number (in seconds)"},
        Broken{R"({"resources": {}, "ops": [{"id": 1, "modes": [{"demand": {}}]}]})",
               "operator '1', mode 0: key 'duration' is missing (in seconds)"},
        Broken{R"({"resources": {"tc": 8}, "ops": [{"id": 1, "modes": [{"duration": 1, "demand": {"tcc": 1}}]}]})",
               "operator '1', mode 0: demands the unknown resource 'tcc' (did you mean 'tc'?)"},
        Broken{R"({"resources": {"tc": 8}, "ops": [{"id": 1, "modes": [{"duration": 1, "demand": {"tc": 9}}]}]})",
               "operator '1', mode 0: demand 9 of 'tc' is above its capacity 8 (raise the capacity or drop the mode)"},
        Broken{R"({"resources": {"tc": 8}, "ops": [{"id": 1, "modes": [{"duration": 1, "demand": {"tc": -1}}]}]})",
               "operator '1', mode 0: demand -1 of 'tc' is not an amount (demands are 0 or from 1e-30 to 1e30)"},
        Broken{R"({"resources": {}, "ops": [{"id": 1, "modes": [{"duration": 1}]}], "edges": [[1, 2]]})",
               "edges[0]: names the operator 2, which does not exist (ids are those of the list 'ops')"},
        Broken{R"({"resources": {}, "ops": [{"id": 1, "modes": [{"duration": 1}]}], "edges": [[1]]})",
               "edges[0]: is not a pair of ids (write it like [0, 1])"},
        Broken{R"({"resources": {}, "ops": [{"id": 1, "modes": [{"duration": 1}]}], "edges": [[1, 1]]})",
               "the order has a cycle: '1' -> '1' (remove one of its edges)"},
        Broken{
            R"({"resources": {}, "ops": [{"id": 0, "modes": [{"duration": 1}]}, {"id": 1, "modes": [{"duration": 1}]},
                   {"id": 2, "modes": [{"duration": 1}]}, {"id": 3, "modes": [{"duration": 1}]}],
                   "edges": [[0, 1], [1, 2], [2, 3], [3, 1]]})",
            "the order has a cycle: '1' -> '2' -> '3' -> '1' (remove one of its edges)"}));

TEST(InstanceFile, a_missing_file_is_named) {
  const auto read = read_instance("/nowhere/layer.json");
  ASSERT_FALSE(read);
  EXPECT_EQ(to_string(read.error()), "/nowhere/layer.json: cannot be read: No such file or directory");
}

}  // namespace
}  // namespace phaze::schedule
