#include "phaze/cost/gemm.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <deque>
#include <limits>
#include <vector>

#include "phaze/base/check.h"
#include "phaze/base/units.h"
#include "phaze/hardware/least_buffers.h"
#include "phaze/hardware/power.h"

namespace phaze::cost {
namespace {

constexpr std::size_t kM = 0;
constexpr std::size_t kN = 1;
constexpr std::size_t kK = 2;
constexpr std::size_t kBatch = 3;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

using Triple = std::array<std::int64_t, 3>;

// Latency first, energy among equals.
struct Score {
  double cycles = kInfinity;
  double joules = kInfinity;
  bool operator<(const Score& other) const {
    return cycles != other.cycles ? cycles < other.cycles : joules < other.joules;
  }
};

// What lies along the array's rows and columns, and what runs in time.
struct Orientation {
  std::size_t rows = kM;
  std::size_t cols = kN;
  std::size_t time = kK;
};
// Each followed by itself turned round.
constexpr std::array<Orientation, 6> kOrientations = {
    {{kM, kN, kK}, {kN, kM, kK}, {kK, kN, kM}, {kN, kK, kM}, {kK, kM, kN}, {kM, kK, kN}}};

// A dimension divided over the cores: `count` is what one core has of it, in blocks (along the array) or in elements.
struct Part {
  std::int64_t parts = 1;
  double count = 1;
};

// One orientation and split, and what follows from them before any tile is chosen.
struct Candidate {
  std::size_t orientation = 0;
  std::array<Part, 4> part;  // of m, n, k and batch
  double array_cycles = 0;
  double core_cycles = 0;
  double core_elements = 0;  // through all core buffers together
  double global_bound = 0;   // bytes out of the global buffer at least; 0 until it is needed
  double cycles() const { return std::max(array_cycles, core_cycles); }
};

// How the search stays exact and short. Fix the orientation and the split of k. Cycles in the array and in the core
// buffers fall as the other parts of the split grow, and so do lower bounds on all traffic. So the bound of a *maximal*
// split (no core left over) holds for its whole family, all splits below it. Families whose bound is not below the best
// found are dropped. Where a maximal split reaches its bound, which is the rule, its family is done; otherwise its
// members are walked, each part lowered as long as bounds allow.
class Search {
 public:
  explicit Search(const GemmProblem& problem) : problem_(problem) {
    const double scale = real(problem.batch * problem.element_bytes);
    size_ = {scale * real(problem.m) * real(problem.k), scale * real(problem.k) * real(problem.n),
             scale * real(problem.m) * real(problem.n)};
    whole_ = {problem.m, problem.n, problem.k};
  }

  GemmCost run(const GemmMachine& machine) {
    machine_ = machine;
    swap_ = std::min(machine.rows, machine.cols);
    block_rows_ = hardware::block_side(machine.rows, machine.tile_rows);
    block_cols_ = hardware::block_side(machine.cols, machine.tile_cols);
    passes_ = real(block_rows_ / machine.rows) * real(block_cols_ / machine.cols);
    standing_ = real(block_rows_) * real(block_cols_);
    mac_joules_ = problem_.macs() * machine.mac_joules;
    orientations_ = machine.tile_rows > 0 ? 2 : kOrientations.size();
    square_ = block_rows_ == block_cols_ && machine.rows == machine.cols;
    best_ = {};
    cost_ = {};
    families_.clear();
    search();
    return cost_;
  }

 private:
  void search() {
    collect_families();
    // The family that promises most goes first, so that the others meet a good incumbent.
    std::size_t first = 0;
    Score promise;
    for (std::size_t i = 0; i < families_.size(); ++i) {
      if (families_[i].cycles() > promise.cycles) continue;
      families_[i].global_bound = least_global_bound(families_[i]);
      const Score found = score(families_[i], least_elements(families_[i]), families_[i].global_bound, 0);
      if (!(found < promise)) continue;
      promise = found;
      first = i;
    }
    std::swap(families_[0], families_[first]);
    for (const Candidate& family : families_) {
      if (can_win(family) && try_tiles(family) < best_) walk_down(family, 0, 0);
    }
  }

  std::int64_t block(std::size_t orientation, std::size_t dim) const {
    const Orientation& o = kOrientations[orientation];
    return dim == o.rows ? block_rows_ : dim == o.cols ? block_cols_ : swap_;
  }

  // What can be handed out along a dimension: blocks along the array, else single elements or products.
  std::int64_t pieces(std::size_t orientation, std::size_t dim) const {
    if (dim == kBatch) return problem_.batch;
    return dim == kOrientations[orientation].time ? whole_[dim] : ceil_divide(whole_[dim], block(orientation, dim));
  }

  // At most `budget` parts, and no more than it takes to get parts that small.
  static Part divide(std::int64_t pieces, std::int64_t budget) {
    const std::int64_t each = ceil_divide(pieces, budget);
    return {ceil_divide(pieces, each), real(each)};
  }

  // Powers of two for k and for all others but one, which takes what is left. With a power of two of cores any one
  // does.
  void collect_families() {
    const bool power_of_two = std::has_single_bit(static_cast<std::uint64_t>(machine_.cores));
    for (std::size_t o = 0; o < orientations_; ++o) {
      // A square array turned round is the same array.
      if (square_ && o % 2 == 1) continue;
      streaming_[o] = real(block_rows_) * (kOrientations[o].cols == kK ? 2 : 1) * real(block_cols_ / machine_.cols) +
                      real(block_cols_) * (kOrientations[o].rows == kK ? 2 : 1) * real(block_rows_ / machine_.rows);
      least_blocks_[o] =
          real(problem_.batch) * real(pieces(o, kOrientations[o].rows)) * real(pieces(o, kOrientations[o].cols));
      for (std::size_t dim = 0; dim < 4; ++dim) {
        const std::int64_t all = pieces(o, dim);
        halvings_[dim].clear();
        for (std::int64_t budget = 1; budget <= machine_.cores; budget *= 2) {
          halvings_[dim].push_back(divide(all, budget));
          if (budget >= all) break;
        }
      }
      for (const std::size_t rest : {kN, kM, kBatch}) {
        collect_families(o, rest);
        if (power_of_two) break;
      }
    }
  }

  void collect_families(std::size_t orientation, std::size_t rest) {
    const std::size_t first = rest == kM ? kN : kM;
    const std::size_t second = rest == kBatch ? kN : kBatch;
    const std::int64_t all = pieces(orientation, rest);
    Candidate c{.orientation = orientation};
    std::int64_t left_k = machine_.cores;
    for (std::size_t i = 0; i < halvings_[kK].size() && left_k > 0; ++i, left_k /= 2) {
      c.part[kK] = halvings_[kK][i];
      std::int64_t left_first = left_k;
      for (std::size_t j = 0; j < halvings_[first].size() && left_first > 0; ++j, left_first /= 2) {
        c.part[first] = halvings_[first][j];
        std::int64_t left = left_first;
        for (std::size_t l = 0; l < halvings_[second].size() && left > 0; ++l, left /= 2) {
          c.part[second] = halvings_[second][l];
          c.part[rest] = rest_part(all, rest, left);
          measure(c);
          families_.push_back(c);
        }
      }
    }
  }

  Part rest_part(std::int64_t all, std::size_t rest, std::int64_t left) const {
    if (!std::has_single_bit(static_cast<std::uint64_t>(left))) return divide(all, left);
    const auto level = static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(left)) - 1);
    return halvings_[rest][std::min(level, halvings_[rest].size() - 1)];
  }

  void measure(Candidate& c) const {
    const Orientation& o = kOrientations[c.orientation];
    const double steps = c.part[o.time].count;
    const double per_block = standing_ + steps * streaming_[c.orientation];
    double blocks = c.part[kBatch].count * c.part[o.rows].count * c.part[o.cols].count;
    double blocks_of_all = blocks * real(c.part[0].parts * c.part[1].parts * c.part[2].parts * c.part[3].parts);
    if (machine_.tile_rows > 0) {
      // Kernels hand out tiles of outputs one by one to whichever core is free.
      blocks_of_all = least_blocks_[c.orientation] * real(c.part[kK].parts);
      blocks = std::ceil(blocks_of_all / real(machine_.cores));
    }
    c.array_cycles = blocks * passes_ * std::max(steps, real(swap_)) + real(machine_.rows + machine_.cols - 2);
    c.core_cycles = blocks * per_block / real(machine_.rows + 2 * machine_.cols);
    c.core_elements = blocks_of_all * per_block;
  }

  Score score(const Candidate& c, double elements, double global_bytes, double hbm_bytes) const {
    return {std::max({c.array_cycles, c.core_cycles, global_bytes / machine_.global_bytes_per_cycle,
                      hbm_bytes / machine_.hbm_bytes_per_cycle}),
            mac_joules_ + elements * machine_.core_joules_per_element + global_bytes * machine_.global_joules_per_byte +
                hbm_bytes * machine_.hbm_joules_per_byte};
  }

  // What no member of the candidate's family can beat. Core buffers: no split needs fewer blocks than one core alone.
  double least_elements(const Candidate& c) const {
    const Orientation& o = kOrientations[c.orientation];
    const double repeats = o.time == kK ? real(c.part[kK].parts) : 1;
    return least_blocks_[c.orientation] * (standing_ * repeats + real(whole_[o.time]) * streaming_[c.orientation]);
  }

  // Two sides of a core tile have at most Q = capacity/4 elements between them. If C stays, A moves at least
  // n/(split_n·t_n) times and B m/(split_m·t_m) times with t_m·t_n ≤ Q, so their sum is at least twice the root of
  // the product; likewise for the other two.
  double least_global_bound(const Candidate& c) const {
    constexpr double kRounding = 1 - 1e-12;
    const double capacity = real(machine_.core_buffer) / 4;
    const double a = size_[0] * real(whole_[kN]) / real(c.part[kN].parts);
    const double b = size_[1] * real(whole_[kM]) / real(c.part[kM].parts);
    const double out = 4 * size_[2] * real(whole_[kK]);
    const double fixed_out = outputs(real(c.part[kK].parts));
    const double c_stays = 2 * std::sqrt(a * b / capacity) + fixed_out;
    const double other_stays =
        2 * std::sqrt(std::min(a, b) * out / capacity) - 3 * size_[2] + std::min(size_[0], size_[1]);
    return std::max(size_[0] + size_[1] + fixed_out, kRounding * std::min(c_stays, other_stays));
  }

  bool can_win(const Candidate& c) {
    if (c.cycles() > best_.cycles) return false;
    const double elements = least_elements(c);
    const double least = c.global_bound > 0 ? c.global_bound : least_global_bound(c);
    for (const BufferTile& tile : buffer_tiles(c.part[kBatch].parts)) {
      if (!(score(c, elements, least, tile.bytes) < best_)) return false;
      // Every tensor enters the cores at least once per buffer tile.
      const double once = size_[0] * real(tile.trips[kN]) + size_[1] * real(tile.trips[kM]) +
                          outputs(real(c.part[kK].parts * tile.trips[kK]));
      if (score(c, elements, std::max(once, least), tile.bytes) < best_) return true;
    }
    return false;
  }

  // Every member of a family that could still win: parts of m, n and batch from dimension `index` on are lowered, at
  // most one of them (`odd`) to what is no power of two.
  void walk_down(Candidate c, std::size_t index, int odd) {
    constexpr std::array<std::size_t, 3> kDims = {kM, kN, kBatch};
    if (index == kDims.size()) return;
    const std::size_t dim = kDims[index];
    const std::int64_t all = pieces(c.orientation, dim);
    for (bool start = true;; start = false) {
      const std::int64_t parts = c.part[dim].parts;
      const auto budget = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(parts)));
      const int odd_here = odd + (divide(all, budget).parts == parts ? 0 : 1);
      if (odd_here <= 1) {
        if (!start && !(try_tiles(c) < best_)) return;
        walk_down(c, index + 1, odd_here);
      }
      if (parts == 1) return;
      c.part[dim] = divide(all, parts - 1);
      measure(c);
      c.global_bound = 0;
      if (!can_win(c)) return;
    }
  }

  // Sets what tiles of a candidate are measured in, and lists its core tiles.
  void look_at(const Candidate& c) {
    for (std::size_t d = 0; d < 3; ++d) {
      unit_[d] = block(c.orientation, d);
      parts_[d] = c.part[d].parts;
      share_[d] = ceil_divide(whole_[d], parts_[d]);
      blocks_[d] = ceil_divide(share_[d], unit_[d]);
    }
    list_core_tiles();
  }

  // The most blocks along k, a power of two or all, of a core tile of `m` by `n` elements; 0 if not one fits.
  std::int64_t most_k(std::int64_t m, std::int64_t n) const {
    const double room = (real(machine_.core_buffer) / 4 - real(m) * real(n)) / real(m + n);
    if (room >= real(share_[kK])) return blocks_[kK];
    if (room < real(unit_[kK])) return 0;
    return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(room / real(unit_[kK]))));
  }

  static std::int64_t larger_tile(std::int64_t tile, std::int64_t blocks) { return std::min(2 * tile, blocks); }

  struct CoreTile {
    Triple blocks{};
    Triple trips{};
  };

  // For every tile along m and n the largest along k; those that another contains are left out.
  void list_core_tiles() {
    core_tiles_.clear();
    for (std::int64_t m = 1;; m = larger_tile(m, blocks_[kM])) {
      const std::int64_t rows = std::min(m * unit_[kM], share_[kM]);
      std::int64_t last_k = 0;
      for (std::int64_t n = 1;; n = larger_tile(n, blocks_[kN])) {
        const std::int64_t k = most_k(rows, std::min(n * unit_[kN], share_[kN]));
        if (k == 0) break;
        if (k == last_k) core_tiles_.pop_back();
        core_tiles_.push_back(
            {{m, n, k}, {ceil_divide(blocks_[kM], m), ceil_divide(blocks_[kN], n), ceil_divide(blocks_[kK], k)}});
        last_k = k;
        if (n == blocks_[kN]) break;
      }
      if (last_k == 0 || m == blocks_[kM]) break;
    }
  }

  struct CoreChoice {
    double bytes = kInfinity;
    Triple tile{};
    std::size_t stays = 0;
  };

  double outputs(double rounds) const { return size_[2] * (4 * rounds - 3); }

  // The core tile with the least traffic. Of the three tensors, the one that stays is loaded once per buffer tile
  // instead of once per core tile.
  CoreChoice least_global(const Triple& buffer_trips) const {
    CoreChoice best;
    const double split_k = real(parts_[kK]);
    const double a_stays = size_[0] * real(buffer_trips[kN]);
    const double b_stays = size_[1] * real(buffer_trips[kM]);
    const double c_stays = outputs(split_k * real(buffer_trips[kK]));
    for (const CoreTile& tile : core_tiles_) {
      const auto trips = [&](std::size_t d) { return real(std::max(tile.trips[d], buffer_trips[d])); };
      const double a = size_[0] * trips(kN);
      const double b = size_[1] * trips(kM);
      const double out = outputs(split_k * trips(kK));
      const std::array<double, 3> choices = {a_stays + b + out, a + b_stays + out, a + b + c_stays};
      for (std::size_t stays = 0; stays < 3; ++stays)
        if (choices[stays] < best.bytes) best = {choices[stays], tile.blocks, stays};
    }
    return best;
  }

  struct BufferTile {
    Triple trips{};  // along m, n, k
    std::size_t stays = 0;
    double bytes = 0;  // to and from HBM
  };

  struct BufferTiles {
    std::int64_t capacity = 0;
    std::int64_t batch_parts = 1;
    std::vector<BufferTile> tiles = {};
  };

  // Tiles of the global buffer when so many products of a batch share it, by their HBM traffic. Whatever the trips
  // along m and n, the fewest along k are best; more trips along n or m pay only where they let those of others shrink.
  const std::vector<BufferTile>& buffer_tiles(std::int64_t batch_parts) {
    for (const BufferTiles& known : buffer_tiles_)
      if (known.capacity == machine_.global_buffer && known.batch_parts == batch_parts) return known.tiles;
    auto& tiles = buffer_tiles_.emplace_back(machine_.global_buffer, batch_parts).tiles;
    const double capacity = real(machine_.global_buffer) / 4 / real(batch_parts);
    std::int64_t least_n = 2 * whole_[kN];  // trips along n with which k needs no more than one
    for (std::int64_t m = 1; m < 2 * whole_[kM] && least_n > 1; m *= 2) {
      const double rows = real(ceil_divide(whole_[kM], m));
      for (std::int64_t n = 1; n < std::min(2 * whole_[kN], least_n); n *= 2) {
        const double cols = real(ceil_divide(whole_[kN], n));
        const double room = std::floor((capacity - rows * cols) / (rows + cols));
        if (room < 1) continue;
        const std::int64_t k = room >= real(whole_[kK])
                                   ? 1
                                   : static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(
                                         ceil_divide(whole_[kK], static_cast<std::int64_t>(room)))));
        tiles.push_back(with_least_traffic({m, n, k}));
        if (k == 1) least_n = n;
      }
    }
    std::ranges::sort(tiles, {}, &BufferTile::bytes);
    drop_dominated(tiles);
    return tiles;
  }

  // Tiles in ascending order of traffic: one that has no fewer trips anywhere than one before it is never better.
  static void drop_dominated(std::vector<BufferTile>& tiles) {
    std::size_t kept = 0;
    for (const BufferTile& tile : tiles) {
      const bool dominated =
          std::any_of(tiles.begin(), tiles.begin() + static_cast<std::ptrdiff_t>(kept), [&](const BufferTile& before) {
            return before.trips[kM] <= tile.trips[kM] && before.trips[kN] <= tile.trips[kN] &&
                   before.trips[kK] <= tile.trips[kK];
          });
      if (!dominated) tiles[kept++] = tile;
    }
    tiles.resize(kept);
  }

  BufferTile with_least_traffic(const Triple& trips) const {
    const double a_moves = size_[0] * real(trips[kN]);
    const double b_moves = size_[1] * real(trips[kM]);
    const double c_moves = outputs(real(trips[kK]));
    const std::array<double, 3> choices = {size_[0] + b_moves + c_moves, a_moves + size_[1] + c_moves,
                                           a_moves + b_moves + size_[2]};
    const auto stays = static_cast<std::size_t>(std::ranges::min_element(choices) - choices.begin());
    return {trips, stays, choices[stays]};
  }

  // Finds the best tiles of a candidate, remembers them where they are the best so far, and returns what its family
  // could still reach: members below it take no fewer cycles and save no more energy than it wastes on edges.
  Score try_tiles(const Candidate& c) {
    look_at(c);
    Score best_here;
    const double elements = c.core_elements;
    const double least = least_global({1, 1, 1}).bytes;
    for (const BufferTile& tile : buffer_tiles(c.part[kBatch].parts)) {
      if (!(score(c, least_elements(c), least, tile.bytes) < best_)) break;
      const CoreChoice core = least_global(tile.trips);
      const Score found = score(c, elements, core.bytes, tile.bytes);
      if (found < best_here) best_here = found;
      if (found < best_) remember(c, found, tile, core);
    }
    constexpr double kRounding = 1 + 1e-12;
    if (elements > least_elements(c) * kRounding)
      best_here.joules -= (elements - least_elements(c)) * machine_.core_joules_per_element;
    return best_here;
  }

  void remember(const Candidate& c, const Score& found, const BufferTile& tile, const CoreChoice& core) {
    best_ = found;
    const double global_cycles = core.bytes / machine_.global_bytes_per_cycle;
    const double hbm_cycles = tile.bytes / machine_.hbm_bytes_per_cycle;
    const Orientation& o = kOrientations[c.orientation];
    cost_ = {.feasible = true,
             .cycles = found.cycles,
             .array_cycles = c.array_cycles,
             .core_cycles = c.core_cycles,
             .core_elements = c.core_elements,
             .global_bytes = core.bytes,
             .hbm_bytes = tile.bytes,
             .joules = found.joules,
             .bound_by = found.cycles == c.array_cycles  ? Bound::kCompute
                         : found.cycles == hbm_cycles    ? Bound::kHbm
                         : found.cycles == global_cycles ? Bound::kGlobalBuffer
                                                         : Bound::kCoreBuffer,
             .mapping = {.rows = static_cast<Dim>(o.rows),
                         .cols = static_cast<Dim>(o.cols),
                         .batch_split = c.part[kBatch].parts,
                         .split = parts_,
                         .core_tile = core.tile,
                         .buffer_trips = tile.trips,
                         .core_stays = static_cast<Operand>(core.stays),
                         .buffer_stays = static_cast<Operand>(tile.stays)}};
  }

  GemmProblem problem_;
  GemmMachine machine_;
  std::array<double, 3> size_{};  // bytes of A, B and C, all batches
  Triple whole_{};
  std::int64_t swap_ = 1;
  std::int64_t block_rows_ = 1;
  std::int64_t block_cols_ = 1;
  double passes_ = 1;
  double standing_ = 1;
  double mac_joules_ = 0;
  std::size_t orientations_ = 0;
  bool square_ = false;
  std::array<std::vector<Part>, 4> halvings_;  // each dimension divided by powers of two
  std::vector<Candidate> families_;
  // Elements per block that stream through a core buffer at each step; outputs that stream are read and written.
  std::array<double, kOrientations.size()> streaming_{};
  std::array<double, kOrientations.size()> least_blocks_{};  // that one core alone would need
  std::deque<BufferTiles> buffer_tiles_;                     // kept from machine to machine

  // Of the candidate looked at:
  Triple unit_{};    // elements of a block
  Triple parts_{};   // of the split
  Triple share_{};   // elements of one core
  Triple blocks_{};  // blocks of one core
  std::vector<CoreTile> core_tiles_;

  Score best_;
  GemmCost cost_;
};

}  // namespace

GemmMachine gemm_machine(const hardware::Chip& chip, std::int64_t cores) {
  check(hardware::holds_products(chip), "a chip whose buffers hold no product was not refused");
  const hardware::EventEnergy energy = hardware::event_energy(chip);
  const hardware::Calibration& calibration = chip.calibration;
  constexpr double kPico = 1e-12;
  // Fractions of what the datasheet says slow memory down; the array's own fraction is applied to its cycles.
  return {.cores = cores,
          .rows = chip.tensor_cores.rows,
          .cols = chip.tensor_cores.cols,
          .tile_rows = calibration.tile_rows,
          .tile_cols = calibration.tile_cols,
          .core_buffer = chip.tensor_core_buffer().value(),
          .global_buffer = chip.global_buffer.value(),
          .global_bytes_per_cycle = chip.global_buffer_bytes_per_cycle / calibration.compute,
          .hbm_bytes_per_cycle = chip.hbm_bandwidth * calibration.hbm / (chip.clock_hz * calibration.compute),
          .mac_joules = (energy.mac + energy.tensor_register) * kPico,
          .core_joules_per_element = energy.tensor_buffer / 4 * kPico,
          .global_joules_per_byte = energy.global_buffer / 8 * kPico,
          .hbm_joules_per_byte = energy.hbm_bit * 8 * kPico};
}

struct GemmMapper::State : Search {
  using Search::Search;
};

GemmMapper::GemmMapper(const GemmProblem& problem) : state_(std::make_unique<State>(problem)) {}
GemmMapper::GemmMapper(GemmMapper&&) noexcept = default;
GemmMapper& GemmMapper::operator=(GemmMapper&&) noexcept = default;
GemmMapper::~GemmMapper() = default;

GemmCost GemmMapper::least(const GemmMachine& machine) { return state_->run(machine); }

GemmCost least_gemm_cost(const GemmProblem& problem, const GemmMachine& machine) {
  return GemmMapper(problem).least(machine);
}

std::string describe(const GemmProblem& problem, const GemmMachine& machine, const GemmMapping& mapping) {
  constexpr std::array<const char*, 3> kDims = {"m", "n", "k"};
  constexpr std::array<const char*, 3> kOperands = {"A", "B", "C"};
  const auto rows = static_cast<std::size_t>(mapping.rows);
  const auto cols = static_cast<std::size_t>(mapping.cols);
  const Triple whole = {problem.m, problem.n, problem.k};
  const auto core_tile = [&] {
    std::string text;
    for (std::size_t d = 0; d < 3; ++d) {
      const std::int64_t least = d == rows   ? hardware::block_side(machine.rows, machine.tile_rows)
                                 : d == cols ? hardware::block_side(machine.cols, machine.tile_cols)
                                             : std::min(machine.rows, machine.cols);
      const std::int64_t extent = mapping.core_tile[d] * least;
      text += (d > 0 ? "x" : "") + std::to_string(std::min(extent, ceil_divide(whole[d], mapping.split[d])));
    }
    return text;
  };
  std::string buffer_tile;
  for (std::size_t d = 0; d < 3; ++d)
    buffer_tile += (d > 0 ? "x" : "") + std::to_string(ceil_divide(whole[d], mapping.buffer_trips[d]));
  std::string split;
  for (const std::int64_t part : {mapping.batch_split, mapping.split[0], mapping.split[1], mapping.split[2]})
    split += (split.empty() ? "" : "x") + std::to_string(part);
  return std::string("array rows ") + kDims[rows] + ", cols " + kDims[cols] + "; cores " + split +
         " (batch x m x n x k); core tile " + core_tile() + ", " +
         kOperands[static_cast<std::size_t>(mapping.core_stays)] + " stays; global tile " + buffer_tile + ", " +
         kOperands[static_cast<std::size_t>(mapping.buffer_stays)] + " stays";
}

}  // namespace phaze::cost
