#include "phaze/sim/pipeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <random>
#include <set>

#include "phaze/base/amount.h"
#include "phaze/placement/solve.h"
#include "phaze/sim/from_plan.h"
#include "phaze/sim/trace.h"

namespace phaze::sim {
namespace {

Pipeline uniform(std::int64_t devices, std::int64_t chunks, std::int64_t microbatches, double send = 0) {
  Pipeline pipeline{.microbatches = microbatches};
  for (std::int64_t d = 0; d < devices; ++d) {
    Device device;
    for (std::int64_t c = 0; c < chunks; ++c)
      device.chunks.push_back(
          {.forward = 1, .backward = 2, .send_forward = send, .send_backward = send, .kept_bytes = 1});
    pipeline.devices.push_back(device);
  }
  return pipeline;
}

Pipeline random_pipeline(std::mt19937_64& random) {
  const auto whole = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  const auto real = [&] { return std::uniform_real_distribution<double>(0, 2)(random); };
  const std::int64_t devices = whole(1, 5), chunks = devices == 1 ? 1 : whole(1, 3);
  const std::int64_t microbatches = chunks > 1 ? devices * whole(1, 3) : whole(1, 9);
  Pipeline pipeline{.microbatches = microbatches, .overlap_gradients = whole(0, 1) == 0};
  for (std::int64_t d = 0; d < devices; ++d) {
    Device device{.reduce = real(), .step = real(), .gather = real()};
    device.tied = d == 0 || d + 1 == devices ? 1.0 : 0.0;
    for (std::int64_t c = 0; c < chunks; ++c)
      device.chunks.push_back({real(), real(), real() / 5, real() / 5, real(), whole(1, 4)});
    pipeline.devices.push_back(device);
  }
  return pipeline;
}

TEST(Schedule, every_pass_comes_once_and_forward_before_backward) {
  using Shape = std::array<int, 3>;
  for (const auto& [p, v, m] : {Shape{1, 1, 3}, {4, 1, 2}, {4, 1, 9}, {4, 2, 8}, {3, 3, 3}, {2, 4, 6}}) {
    for (int device = 0; device < p; ++device) {
      const auto passes = schedule(device, p, v, m);
      ASSERT_EQ(passes.size(), static_cast<std::size_t>(2 * v * m));
      std::set<std::pair<std::int64_t, std::int64_t>> forward, backward;
      for (const Pass& pass : passes) {
        const std::pair key(pass.chunk, pass.microbatch);
        EXPECT_TRUE((pass.backward ? backward : forward).insert(key).second);
        EXPECT_TRUE(!pass.backward || forward.contains(key));
      }
    }
  }
}

TEST(Simulation, one_device_takes_the_sum_of_its_passes) {
  EXPECT_DOUBLE_EQ(simulate(uniform(1, 1, 5)).seconds, 15);
  EXPECT_DOUBLE_EQ(simulate(uniform(1, 1, 5)).bubble_fraction, 0);
}

TEST(Simulation, equal_stages_take_the_ramp_and_their_microbatches) {
  for (const std::int64_t p : {1, 2, 4, 8})
    for (const std::int64_t m : {1, 3, 8, 64})
      EXPECT_DOUBLE_EQ(simulate(uniform(p, 1, m)).seconds, 3.0 * static_cast<double>(m + p - 1)) << p << " " << m;
}

TEST(Simulation, interleaving_divides_the_ramp) {
  for (const std::int64_t p : {2, 4, 8}) {
    for (const std::int64_t v : {2, 3, 4}) {
      const std::int64_t m = 8 * p;
      const double expected = 3.0 * static_cast<double>(m * v + p - 1);
      EXPECT_NEAR(simulate(uniform(p, v, m)).seconds, expected, 0.02 * expected) << p << " " << v;
    }
  }
}

TEST(Simulation, messages_of_equal_stages_show_twice_per_microbatch) {
  const std::int64_t p = 4, m = 32;
  const double send = 0.1;
  const double expected = static_cast<double>(m - 1) * (3 + 2 * send) + 3.0 * p + 2 * send * (p - 1);
  EXPECT_NEAR(simulate(uniform(p, 1, m, send)).seconds, expected, 0.02 * expected);
}

TEST(Simulation, kept_activations_follow_the_formulas) {
  for (const std::int64_t m : {2, 4, 16}) {
    const auto run = simulate(uniform(4, 1, m));
    for (std::int64_t d = 0; d < 4; ++d)
      EXPECT_DOUBLE_EQ(run.devices[static_cast<std::size_t>(d)].peak_bytes,
                       static_cast<double>(std::min<std::int64_t>(4 - d, m)));
  }
  const std::int64_t p = 4, v = 3;
  const auto run = simulate(uniform(p, v, 16));
  for (std::int64_t d = 0; d < p; ++d)
    EXPECT_DOUBLE_EQ(run.devices[static_cast<std::size_t>(d)].peak_bytes,
                     static_cast<double>(2 * (p - 1 - d) + (v - 1) * p + 1));
}

TEST(Simulation, devices_do_one_pass_at_a_time_after_their_inputs) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random(seed);
    const Pipeline pipeline = random_pipeline(random);
    ASSERT_TRUE(validate(pipeline));
    const auto run = simulate(pipeline);
    const auto p = static_cast<std::int64_t>(pipeline.devices.size());
    std::map<std::int64_t, double> free;
    std::map<std::array<std::int64_t, 3>, double> forward_end, backward_end;  // by position in the chain
    for (const Event& event : run.events) {
      if (event.activity != Activity::kForward && event.activity != Activity::kBackward) continue;
      EXPECT_GE(event.start, free[event.device]) << seed;
      free[event.device] = event.end;
      const std::int64_t position = event.chunk * p + event.device;
      auto& ends = event.activity == Activity::kForward ? forward_end : backward_end;
      ends[{position, event.microbatch, 0}] = event.end;
      const auto before = event.activity == Activity::kForward ? position - 1 : position + 1;
      const auto input = ends.find({before, event.microbatch, 0});
      EXPECT_TRUE(input == ends.end() || event.start >= input->second) << seed;
      EXPECT_TRUE(event.activity == Activity::kForward || event.start >= (forward_end[{position, event.microbatch, 0}]))
          << seed;
    }
    for (std::size_t d = 0; d < pipeline.devices.size(); ++d) {
      EXPECT_LE(run.devices[d].busy, run.pipeline_seconds * (1 + 1e-12));
      EXPECT_NEAR(run.devices[d].memory.back().bytes, 0, 1e-9) << "all activations are freed";
    }
    EXPECT_GE(run.bubble_fraction, -1e-12);
    EXPECT_LT(run.bubble_fraction, 1);
  }
}

TEST(Simulation, slower_parts_never_make_it_faster) {
  for (std::uint64_t seed = 300; seed < 400; ++seed) {
    std::mt19937_64 random(seed);
    Pipeline pipeline = random_pipeline(random);
    const double before = simulate(pipeline).seconds;
    auto& device = pipeline.devices[seed % pipeline.devices.size()];
    device.chunks.front().forward += 0.3;
    device.chunks.back().send_backward += 0.2;
    EXPECT_GE(simulate(pipeline).seconds, before * (1 - 1e-12)) << seed;
  }
}

TEST(Simulation, gradients_hide_behind_the_last_backward_pass) {
  Pipeline pipeline = uniform(1, 1, 4);
  pipeline.devices[0].chunks[0].layers = 10;
  pipeline.devices[0].reduce = 1;
  EXPECT_NEAR(simulate(pipeline).seconds, 12 + 0.1, 1e-9) << "one layer's part of ten shows";
  pipeline.devices[0].reduce = 5;
  EXPECT_NEAR(simulate(pipeline).seconds, 12 - 1.8 + 5, 1e-9);
  pipeline.overlap_gradients = false;
  EXPECT_NEAR(simulate(pipeline).seconds, 17, 1e-9);
}

placement::Request chain(std::size_t blocks, double send_bytes) {
  placement::LayerCost block{.name = "block", .parameters = 0.01};
  block.forward.seconds = 1;
  block.backward.seconds = 2;
  block.saved = {3, 2, 1};
  placement::LayerTable table{.kinds = {block}};
  table.nodes.assign(blocks, 0);
  table.cut_bytes.assign(blocks - 1, send_bytes);
  hardware::Network network;
  network.levels = {{.bandwidth = 1, .latency = 0.001}};
  return {.tables = {table},
          .devices = {.count = 64, .memory = 1e9, .network = network, .step_seconds_per_parameter = 1},
          .training = {.global_batch = 64}};
}

TEST(Simulation, agrees_with_the_closed_form_where_stages_are_equal) {
  NoProgress silent;
  for (const double bytes : {0.0, 0.05}) {
    for (const std::int64_t p : {1, 2, 4, 8, 16}) {
      for (const std::int64_t v : {1, 2}) {
        for (const int zero : {0, 1}) {
          if (v > 1 && p == 1) continue;
          placement::Request request = chain(32, bytes);
          request.freedom = {.pipeline = p, .data_parallel = 2, .interleave = {v}, .zero = {zero}};
          const auto solution = placement::solve(request, {.keep = 1}, silent);
          ASSERT_EQ(solution.plans.size(), 1U) << p << " " << v;
          const double simulated = simulate(pipeline_of(request, solution.plans.front().plan)).seconds;
          const double expected = solution.plans.front().evaluation.time_per_batch;
          EXPECT_NEAR(simulated, expected, 0.02 * expected) << "p " << p << ", v " << v << ", bytes " << bytes;
        }
      }
    }
  }
}

// The policy is the plan's, whatever else would fit, or does not by the last digit of a sum.
TEST(Simulation, passes_of_a_plan_take_its_own_policy_whatever_the_memory) {
  NoProgress silent;
  for (const placement::Recompute policy : placement::kPolicies)
    for (const int zero : {1, 2, 3}) {
      placement::Request request = chain(8, 0.05);
      request.tables.front().kinds.front().recompute[2].seconds = 1;
      request.training.overlap_gradients = false;
      request.freedom = {.pipeline = 4, .data_parallel = 2, .interleave = {1}, .zero = {zero}, .recompute = {policy}};
      const auto solution = placement::solve(request, {.keep = 1}, silent);
      ASSERT_EQ(solution.plans.size(), 1U);
      const placement::Ranked& best = solution.plans.front();
      request.freedom.recompute = {};
      for (const double memory : {1e9, best.evaluation.peak_memory(), 0.0}) {
        request.devices.memory = memory;
        const Pipeline pipeline = pipeline_of(request, best.plan);
        for (std::size_t s = 0; s < pipeline.devices.size(); ++s) {
          const Chunk& chunk = pipeline.devices[s].chunks.front();
          EXPECT_NEAR(chunk.forward + chunk.backward + chunk.send_forward + chunk.send_backward,
                      best.evaluation.stages[s].load(), 1e-9)
              << "stage " << s << ", ZeRO " << zero << ", " << memory << " bytes";
        }
      }
    }
}

// Also where the first chunk keeps an embedding and the last one a head, which are in flight less or more often than
// the chunks between them.
TEST(Simulation, memory_of_a_plan_is_what_the_checker_says) {
  NoProgress silent;
  std::mt19937 random(5);
  for (int round = 0; round < 60; ++round) {
    placement::Request request = chain(26, 0.05);
    placement::LayerTable& table = request.tables.front();
    for (const std::size_t end : {std::size_t{0}, table.nodes.size() - 1}) {
      placement::LayerCost layer = table.kinds.front();
      layer.saved[0] = std::uniform_real_distribution<double>(0, 20)(random);
      layer.saved[1] = layer.saved[2] = layer.saved[0] / 2;
      table.nodes[end] = static_cast<std::uint32_t>(table.kinds.size());
      table.kinds.push_back(layer);
    }
    for (const std::int64_t p : {1, 2, 4, 6})
      for (const std::int64_t v : {1, 2, 3, 4}) {
        if (v > 1 && (p == 1 || 24 % (p * v) != 0)) continue;
        request.training.global_batch = 2 * p * std::uniform_int_distribution<std::int64_t>(1, 4)(random);
        request.freedom = {.pipeline = p, .data_parallel = 2, .interleave = {v}};
        const auto solution = placement::solve(request, {.keep = 1}, silent);
        ASSERT_FALSE(solution.plans.empty()) << p << " " << v;
        const auto run = simulate(pipeline_of(request, solution.plans.front().plan));
        for (std::size_t s = 0; s < run.devices.size(); ++s)
          EXPECT_NEAR(run.devices[s].peak_bytes, solution.plans.front().evaluation.stages[s].memory.total(), 1e-9)
              << "stage " << s << " of " << p << ", " << v << " chunks, batch " << request.training.global_batch;
      }
  }
}

TEST(Trace, names_every_pass) {
  const std::string trace = trace_json(simulate(uniform(2, 1, 2, 0.1)));
  for (const char* part : {"\"forward 1\"", "\"forward 2\"", "\"backward 2\"", "\"activations 1\"", "\"gradients 2\"",
                           "\"stage 2\"", "\"memory\"", "traceEvents"})
    EXPECT_NE(trace.find(part), std::string::npos) << part;
}

TEST(Pipeline, what_makes_no_sense_is_refused) {
  const auto refusal = [](auto&& change) {
    Pipeline pipeline = uniform(2, 2, 4);
    change(pipeline);
    const Status status = validate(pipeline);
    return status ? std::string() : to_string(status.error());
  };
  EXPECT_EQ(refusal([](Pipeline&) {}), "");
  EXPECT_EQ(refusal([](Pipeline& p) { p.devices.clear(); }), "there are no devices");
  EXPECT_EQ(refusal([](Pipeline& p) { p.microbatches = 0; }), "there are no microbatches");
  EXPECT_EQ(refusal([](Pipeline& p) { p.microbatches = 3; }),
            "an interleaved pipeline needs a multiple of its stages in microbatches");
  EXPECT_EQ(refusal([](Pipeline& p) { p.devices[1].chunks.pop_back(); }), "devices have different numbers of chunks");
  EXPECT_EQ(refusal([](Pipeline& p) { p.devices[1].chunks[0].forward = -1; }),
            "devices[1].chunks[0].forward: -1 is not 0 or from 1e-30 to 1e30 (times are seconds, sizes bytes)");
  EXPECT_EQ(refusal([](Pipeline& p) { p.devices[0].chunks[1].backward = 1e308; }),
            "devices[0].chunks[1].backward: 1e+308 is not 0 or from 1e-30 to 1e30 (times are seconds, sizes bytes)");
  EXPECT_EQ(refusal([](Pipeline& p) { p.devices[1].step = std::nan(""); }),
            "devices[1].step: nan is not 0 or from 1e-30 to 1e30 (times are seconds, sizes bytes)");
  EXPECT_EQ(refusal([](Pipeline& p) { p.devices[1].chunks[1].layers = std::int64_t{1} << 62; }),
            "devices[1].chunks[1].layers: 4611686018427387904 is not from 1 to 1000000");
  EXPECT_EQ(refusal([](Pipeline& p) { p.devices[1].chunks[1].layers = kMostLayers - 2; }),
            "all chunks have more than 1000000 layers together");
  EXPECT_EQ(refusal([](Pipeline& p) { p.devices[1].chunks[1].layers = kMostLayers - 3; }), "");
  EXPECT_EQ(refusal([](Pipeline& p) { p.microbatches = 1'000'000'000'000'000'000; }),
            "microbatches: 1000000000000000000 on 2 devices with 2 chunks each are more than 10000000 passes forward "
            "(simulate fewer microbatches)");
  EXPECT_EQ(refusal([](Pipeline& p) { p.microbatches = kMostPasses / 4; }), "");
  for (const std::int64_t samples : {0, -5})
    EXPECT_EQ(refusal([&](Pipeline& p) { p.samples = samples; }),
              "there are no samples in a batch (set 'samples' to 1 or more)");
  const auto idle = [](Pipeline& p) {
    for (Device& device : p.devices)
      for (Chunk& chunk : device.chunks) chunk.forward = chunk.backward = 0;
  };
  EXPECT_EQ(refusal(idle), "no pass takes any time (set 'forward' or 'backward' of a chunk above 0)");
  EXPECT_EQ(refusal([&](Pipeline& p) {
              idle(p);
              p.devices[1].chunks[0].backward = 1e-9;
            }),
            "");
}

TEST(Pipeline, amounts_at_both_ends_of_what_is_accepted_are_simulated_in_finite_time) {
  for (const double ends : {kLeastAmount, kLargestAmount}) {
    Pipeline pipeline = uniform(3, 2, 6);
    for (Device& device : pipeline.devices) {
      device.reduce = device.tied = device.step = device.gather = device.resident_bytes = ends;
      for (Chunk& chunk : device.chunks)
        chunk.forward = chunk.backward = chunk.send_forward = chunk.send_backward = chunk.kept_bytes = ends;
    }
    ASSERT_TRUE(validate(pipeline));
    const auto run = simulate(pipeline);
    EXPECT_TRUE(std::isfinite(run.seconds) && run.seconds > 0);
    EXPECT_TRUE(std::isfinite(1 / run.seconds));
    EXPECT_TRUE(run.bubble_fraction >= 0 && run.bubble_fraction < 1) << run.bubble_fraction;
  }
}

}  // namespace
}  // namespace phaze::sim
