#include "phaze/cost/gemm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <random>
#include <set>
#include <vector>

#include "phaze/base/testing/thin_tests.h"
#include "phaze/hardware/least_buffers.h"

namespace phaze::cost {
namespace {

using Triple = std::array<std::int64_t, 3>;

std::int64_t up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// --- The oracle: every mapping, its traffic counted by walking its loops. It shares nothing with the search. ---

struct Walked {
  double a = 0, b = 0, c = 0;  // elements moved; partial sums weighted by their width
};

// Runs three nested loops over `trips` tiles with the dimension that `stays` is re-used along innermost, and counts an
// operand at every step, but the one that stays only when another of its tiles is needed. `sizes(dim, i)` is the extent
// of tile i.
template <typename Sizes>
Walked walk(const Triple& trips, Operand stays, const Sizes& sizes) {
  const std::size_t inner = stays == Operand::kA ? 1 : stays == Operand::kB ? 0 : 2;
  const std::size_t outer = inner == 0 ? 1 : 0;
  const std::size_t middle = 3 - inner - outer;
  Walked moved;
  Triple last_a = {-1, -1, -1}, last_b = last_a, last_c = last_a;
  std::set<std::pair<std::int64_t, std::int64_t>> written;
  Triple at{};
  for (at[outer] = 0; at[outer] < trips[outer]; ++at[outer])
    for (at[middle] = 0; at[middle] < trips[middle]; ++at[middle])
      for (at[inner] = 0; at[inner] < trips[inner]; ++at[inner]) {
        const double m = static_cast<double>(sizes(0, at[0]));
        const double n = static_cast<double>(sizes(1, at[1]));
        const double k = static_cast<double>(sizes(2, at[2]));
        const Triple a = {at[0], at[2], 0};
        const Triple b = {at[2], at[1], 0};
        const Triple c = {at[0], at[1], 0};
        if (stays != Operand::kA || a != last_a) moved.a += m * k;
        if (stays != Operand::kB || b != last_b) moved.b += k * n;
        // The first visit to outputs ends in one write of finished width; every further one adds a write and a read of
        // partial sums of twice the width.
        if (stays != Operand::kC || c != last_c) moved.c += m * n * (written.emplace(at[0], at[1]).second ? 1 : 4);
        last_a = a;
        last_b = b;
        last_c = c;
      }
  return moved;
}

struct Oracle {
  GemmProblem p;
  GemmMachine machine;
  double cycles = std::numeric_limits<double>::infinity();
  double joules = std::numeric_limits<double>::infinity();

  void run() {
    for (int rows = 0; rows < 3; ++rows)
      for (int cols = 0; cols < 3; ++cols) {
        if (rows == cols || (machine.tile_rows > 0 && (rows == 2 || cols == 2))) continue;
        orientation(static_cast<std::size_t>(rows), static_cast<std::size_t>(cols));
      }
  }

  void orientation(std::size_t rows, std::size_t cols) {
    const std::size_t time = 3 - rows - cols;
    Triple unit{};
    unit[rows] = up(std::max<std::int64_t>(1, machine.tile_rows), machine.rows) * machine.rows;
    unit[cols] = up(std::max<std::int64_t>(1, machine.tile_cols), machine.cols) * machine.cols;
    unit[time] = std::min(machine.rows, machine.cols);
    const Triple whole = {p.m, p.n, p.k};
    // Budgets of cores: powers of two but for one of batch, m and n; a part number is the least that gives the same
    // parts.
    std::set<std::array<std::int64_t, 4>> splits;
    const auto least = [&](std::size_t dim, std::int64_t budget) {
      const std::int64_t pieces = dim == 3 ? p.batch : dim == time ? whole[dim] : up(whole[dim], unit[dim]);
      return up(pieces, up(pieces, budget));
    };
    std::array<std::int64_t, 4> budget{};
    for (budget[0] = 1; budget[0] <= machine.cores; ++budget[0])
      for (budget[1] = 1; budget[0] * budget[1] <= machine.cores; ++budget[1])
        for (budget[2] = 1; budget[0] * budget[1] * budget[2] <= machine.cores; ++budget[2])
          for (budget[3] = 1; budget[0] * budget[1] * budget[2] * budget[3] <= machine.cores; ++budget[3]) {
            const auto odd = std::ranges::count_if(
                budget, [](std::int64_t b) { return !std::has_single_bit(static_cast<std::uint64_t>(b)); });
            if (odd <= 1 && std::has_single_bit(static_cast<std::uint64_t>(budget[2])))
              splits.insert({least(0, budget[0]), least(1, budget[1]), least(2, budget[2]), least(3, budget[3])});
          }
    for (const auto& split : splits) tiles(rows, cols, unit, split);
  }

  static std::vector<std::int64_t> options(std::int64_t blocks) {
    std::vector<std::int64_t> list;
    for (std::int64_t tile = 1; tile < blocks; tile *= 2) list.push_back(tile);
    list.push_back(blocks);
    return list;
  }

  static bool fits(const Triple& t, std::int64_t times, std::int64_t capacity) {
    return 4 * times * (t[0] * t[2] + t[2] * t[1] + t[0] * t[1]) <= capacity;
  }

  void tiles(std::size_t rows, std::size_t cols, const Triple& unit, const std::array<std::int64_t, 4>& split) {
    const std::size_t time = 3 - rows - cols;
    const Triple whole = {p.m, p.n, p.k};
    Triple blocks{};
    for (std::size_t d = 0; d < 3; ++d) blocks[d] = up(whole[d], unit[d] * split[d]);
    // Array: block after block of one core.
    double array = static_cast<double>(machine.rows + machine.cols - 2);
    double elements = 0;  // through the busiest core's buffer
    const std::int64_t passes_r = unit[rows] / machine.rows;
    const std::int64_t passes_c = unit[cols] / machine.cols;
    const std::int64_t steps = up(whole[time], split[time]);
    const std::int64_t row_stream = unit[rows] * steps * passes_c;
    const std::int64_t col_stream = unit[cols] * steps * passes_r;
    // Outputs lie along m and n: they stand if k runs in time, else they are the stream without k.
    const std::int64_t per_block =
        unit[rows] * unit[cols] + row_stream * (cols == 2 ? 2 : 1) + col_stream * (rows == 2 ? 2 : 1);
    std::int64_t rounds = up(p.batch, split[3]) * blocks[rows] * blocks[cols];
    std::int64_t all_blocks = rounds * split[0] * split[1] * split[2] * split[3];
    if (machine.tile_rows > 0) {
      all_blocks = p.batch * up(whole[rows], unit[rows]) * up(whole[cols], unit[cols]) * split[2];
      rounds = up(all_blocks, machine.cores);
    }
    for (std::int64_t round = 0; round < rounds; ++round) {
      array += static_cast<double>(passes_r * passes_c * std::max(steps, std::min(machine.rows, machine.cols)));
      elements += static_cast<double>(per_block);
    }
    const double core = elements / static_cast<double>(machine.rows + 2 * machine.cols);
    const double all_elements = static_cast<double>(all_blocks * per_block);
    Triple trips{};
    for (trips[0] = 1; trips[0] < 2 * whole[0]; trips[0] *= 2)
      for (trips[1] = 1; trips[1] < 2 * whole[1]; trips[1] *= 2)
        for (trips[2] = 1; trips[2] < 2 * whole[2]; trips[2] *= 2) {
          Triple extent{};
          for (std::size_t d = 0; d < 3; ++d) extent[d] = up(whole[d], trips[d]);
          if (!fits(extent, split[3], machine.global_buffer)) continue;
          double hbm = std::numeric_limits<double>::infinity();
          for (const Operand stays : {Operand::kA, Operand::kB, Operand::kC}) {
            const Walked moved = walk(trips, stays, [&](std::size_t d, std::int64_t i) {
              // Nearly equal tiles that add up to the whole.
              return whole[d] * (i + 1) / trips[d] - whole[d] * i / trips[d];
            });
            hbm = std::min(hbm, moved.a + moved.b + moved.c);
          }
          inside(array, core, all_elements, hbm, blocks, unit, split, trips);
        }
  }

  void inside(double array, double core, double all_elements, double hbm, const Triple& blocks, const Triple& unit,
              const std::array<std::int64_t, 4>& split, const Triple& trips) {
    const Triple whole = {p.m, p.n, p.k};
    const double scale = static_cast<double>(p.batch * p.element_bytes);
    for (const std::int64_t tm : options(blocks[0]))
      for (const std::int64_t tn : options(blocks[1]))
        for (const std::int64_t tk : options(blocks[2])) {
          const Triple t = {tm, tn, tk};
          Triple extent{};
          Triple steps{};
          for (std::size_t d = 0; d < 3; ++d) {
            extent[d] = std::min(up(whole[d], split[d]), t[d] * unit[d]);
            steps[d] = std::max(up(blocks[d], t[d]), trips[d]);
          }
          if (!fits(extent, 1, machine.core_buffer)) continue;
          for (const Operand stays : {Operand::kA, Operand::kB, Operand::kC}) {
            const std::int64_t a = stays == Operand::kA ? trips[1] : steps[1];
            const std::int64_t b = stays == Operand::kB ? trips[0] : steps[0];
            const std::int64_t rounds = split[2] * (stays == Operand::kC ? trips[2] : steps[2]);
            const double global =
                scale * static_cast<double>(p.m * p.k * a + p.k * p.n * b + p.m * p.n * (1 + 4 * (rounds - 1)));
            const double hbm_bytes = scale * hbm;
            const double found = std::max(
                {array, core, global / machine.global_bytes_per_cycle, hbm_bytes / machine.hbm_bytes_per_cycle});
            const double energy = p.macs() * machine.mac_joules + all_elements * machine.core_joules_per_element +
                                  global * machine.global_joules_per_byte + hbm_bytes * machine.hbm_joules_per_byte;
            if (found < cycles * (1 - 1e-12)) {
              cycles = found;
              joules = energy;
            } else if (found <= cycles * (1 + 1e-12)) {
              joules = std::min(joules, energy);
            }
          }
        }
  }
};

class RandomGemms {
 public:
  explicit RandomGemms(unsigned seed) : random_(seed) {}
  std::int64_t below(std::int64_t bound) { return std::uniform_int_distribution<std::int64_t>(1, bound)(random_); }

  GemmProblem problem(std::int64_t largest) {
    return {.batch = below(2) == 1 ? 1 : below(3), .m = below(largest), .n = below(largest), .k = below(largest)};
  }

  GemmMachine machine() {
    GemmMachine m{.cores = below(7), .rows = below(4), .cols = below(4)};
    if (below(5) == 1) {
      m.tile_rows = m.rows * below(2);
      m.tile_cols = m.cols * below(2);
    }
    const std::int64_t block = std::max<std::int64_t>(1, m.tile_rows) * std::max<std::int64_t>(1, m.tile_cols);
    m.core_buffer = 4 * (below(4) + 2) * std::max(m.rows * m.cols, block) * below(3);
    m.global_buffer = m.core_buffer * below(6);
    m.global_bytes_per_cycle = static_cast<double>(below(64));
    m.hbm_bytes_per_cycle = static_cast<double>(below(32));
    m.mac_joules = 1e-12;
    m.core_joules_per_element = 2e-12 * static_cast<double>(below(5));
    m.global_joules_per_byte = 3e-12 * static_cast<double>(below(5));
    m.hbm_joules_per_byte = 5e-11 * static_cast<double>(below(5));
    return m;
  }

 private:
  std::mt19937 random_;
};

constexpr int kBruteForceRounds = kThinTests ? 40 : 300;

TEST(Gemm, equals_brute_force_over_all_mappings_in_latency_and_energy) {
  RandomGemms random(7);
  int feasible = 0;
  for (int round = 0; round < kBruteForceRounds; ++round) {
    Oracle oracle{.p = random.problem(12), .machine = random.machine()};
    oracle.run();
    const GemmCost cost = least_gemm_cost(oracle.p, oracle.machine);
    const std::string where = "round " + std::to_string(round);
    ASSERT_EQ(cost.feasible, oracle.cycles < std::numeric_limits<double>::infinity()) << where;
    if (!cost.feasible) continue;
    ++feasible;
    ASSERT_NEAR(cost.cycles, oracle.cycles, 1e-9 * oracle.cycles) << where;
    ASSERT_NEAR(cost.joules, oracle.joules, 1e-9 * oracle.joules) << where;
  }
  EXPECT_GT(feasible, kBruteForceRounds / 2);
}

// A buffer of exactly the least size makes every product feasible, and one byte less leaves those without that are
// large enough to fill the array on every core.
TEST(Gemm, is_feasible_exactly_when_the_buffers_hold_the_least_they_must) {
  RandomGemms random(17);
  for (int round = 0; round < 300; ++round) {
    hardware::Chip chip;
    chip.tensor_cores = {random.below(9), random.below(24), random.below(24)};
    if (random.below(2) == 1) {
      chip.calibration.tile_rows = random.below(40);
      chip.calibration.tile_cols = random.below(40);
    }
    const hardware::LeastBuffers least = hardware::least_buffers(chip);
    chip.core_buffer = least.core;
    chip.global_buffer = least.global;
    ASSERT_TRUE(hardware::holds_products(chip));
    const GemmMachine machine = gemm_machine(chip, chip.tensor_cores.count);
    const std::string where = "round " + std::to_string(round);
    EXPECT_TRUE(least_gemm_cost(random.problem(400), machine).feasible) << where;

    const std::int64_t block = std::max(hardware::block_side(machine.rows, machine.tile_rows),
                                        hardware::block_side(machine.cols, machine.tile_cols));
    const std::int64_t large = 2 * machine.cores * block;
    const GemmProblem problem{.batch = random.below(3), .m = large, .n = large, .k = large};
    EXPECT_TRUE(least_gemm_cost(problem, machine).feasible) << where;
    for (Bytes hardware::Chip::*const buffer : {&hardware::Chip::core_buffer, &hardware::Chip::global_buffer}) {
      hardware::Chip less = chip;
      less.*buffer = less.*buffer - Bytes(1);
      EXPECT_FALSE(hardware::holds_products(less)) << where;
      GemmMachine small = machine;
      small.core_buffer = less.core_buffer.value();
      small.global_buffer = less.global_buffer.value();
      EXPECT_FALSE(least_gemm_cost(problem, small).feasible) << where;
    }
  }
}

TEST(Gemm, a_core_buffer_that_grows_with_its_array_holds_products_of_any_array) {
  for (std::int64_t rows = 1; rows <= 300; ++rows)
    for (std::int64_t cols = 1; cols <= 300; ++cols) {
      hardware::Chip chip;
      chip.tensor_cores = {1, rows, cols};
      ASSERT_TRUE(hardware::holds_products(chip)) << rows << "x" << cols;
    }
}

TEST(Gemm, is_never_slower_with_more_cores_bandwidth_or_buffer) {
  RandomGemms random(11);
  for (int round = 0; round < 1500; ++round) {
    const GemmProblem problem = random.problem(300);
    const GemmMachine base = random.machine();
    const GemmCost cost = least_gemm_cost(problem, base);
    if (!cost.feasible) continue;
    const auto better = [&](const GemmMachine& machine) {
      EXPECT_LE(least_gemm_cost(problem, machine).cycles, cost.cycles) << "round " << round;
    };
    GemmMachine more = base;
    more.cores += random.below(20);
    better(more);
    more = base;
    more.global_bytes_per_cycle *= 1.5;
    better(more);
    more = base;
    more.hbm_bytes_per_cycle *= 1.5;
    better(more);
    more = base;
    more.core_buffer += random.below(100);
    better(more);
    more = base;
    more.global_buffer += random.below(1000);
    better(more);
  }
}

TEST(Gemm, is_never_below_the_roofline) {
  RandomGemms random(13);
  for (int round = 0; round < 2000; ++round) {
    const GemmProblem p = random.problem(5000);
    const GemmMachine machine = random.machine();
    const GemmCost cost = least_gemm_cost(p, machine);
    if (!cost.feasible) continue;
    EXPECT_GE(cost.cycles, p.macs() / static_cast<double>(machine.cores * machine.rows * machine.cols));
    const double bytes = static_cast<double>(2 * p.batch * (p.m * p.k + p.k * p.n + p.m * p.n));
    EXPECT_GE(cost.hbm_bytes, bytes);
    EXPECT_GE(cost.cycles, bytes / machine.hbm_bytes_per_cycle);
    EXPECT_GE(cost.global_bytes, bytes);
  }
}

TEST(Gemm, is_never_slower_at_a_higher_clock) {
  for (const double clock : {0.5e9, 1e9, 1.7e9}) {
    hardware::Chip slow;
    slow.clock_hz = clock;
    hardware::Chip fast = slow;
    fast.clock_hz *= 1.3;
    for (const std::int64_t size : {64, 777, 4096}) {
      const GemmProblem p{.m = size, .n = 2 * size, .k = 512};
      const double before = least_gemm_cost(p, gemm_machine(slow, 8)).cycles / slow.clock_hz;
      const double after = least_gemm_cost(p, gemm_machine(fast, 8)).cycles / fast.clock_hz;
      EXPECT_LE(after, before * (1 + 1e-12));
    }
  }
}

TEST(Gemm, a_vocabulary_that_no_array_divides_costs_as_much_as_the_next_that_does) {
  const GemmMachine machine = gemm_machine(hardware::Chip{}, 8);
  const double odd = least_gemm_cost({.m = 4096, .n = 30522, .k = 1024}, machine).cycles;
  const double padded = least_gemm_cost({.m = 4096, .n = 30720, .k = 1024}, machine).cycles;
  EXPECT_LE(odd, padded);
  EXPECT_GE(odd, 0.97 * padded);
}

}  // namespace
}  // namespace phaze::cost
