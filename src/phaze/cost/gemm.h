// The physical cost of a matrix product: three levels of memory, exact search over mappings.
//
// C[b][m][n] = A[b][m][k] · B[b][k][n] runs on identical cores, each an array of rows × cols multiply-accumulate units
// with a buffer of its own, in front of a global buffer and HBM. A mapping says
//
//   - orientation: which of m, n, k lies along the array's rows and which along its columns; the third runs in time.
//     The tensor of the two spatial dimensions stands still in the array, the other two stream through it.
//   - split: into how many parts each dimension is divided over the cores. Cores that need the same data receive it
//     together (the global buffer is read once).
//   - core tile: how many array blocks of each dimension a core buffer holds, a power of two or all of them; and which
//     tensor stays in it while the others pass.
//   - buffer tile: into how many tiles, a power of two, each dimension is cut for the global buffer; and what stays.
//
// With P blocks per core along each dimension, H buffer tiles and J ≥ H core tiles along it, and e bytes per element:
//
//   array   = ⌈batch/split⌉ · P_rows · P_cols · max(⌈Z/split⌉, min(rows, cols)) + rows + cols − 2     [cycles]
//             (Z in time; the array swaps its standing tensor in min(rows, cols) cycles, behind the stream)
//   core    = elements through one core buffer / (rows + 2·cols per cycle), outputs that stream counted in and out
//   global  = batch·e·( m·k·(A stays ? H_n : J_n) + k·n·(B stays ? H_m : J_m) + m·n·(4r − 3) ) / bytes per cycle,
//             r = split_k·(C stays ? H_k : J_k): every partial sum is written and read once, 2e bytes wide
//   HBM     = batch·e·( m·k·(A stays ? 1 : H_n) + k·n·(B stays ? 1 : H_m) + m·n·(4h − 3) ) / bytes per cycle,
//             h = (C stays ? 1 : H_k)
//
// and the product takes the largest of the four. Edges are rounded up, never forbidden. A buffer holds two of each
// tile (16-bit elements; a pair of output tiles is as large as one tile of 32-bit partial sums), so that one is filled
// while the other is used: 4·(m·k + k·n + m·n) bytes of the tile's extents.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "phaze/cost/estimate.h"
#include "phaze/hardware/chip.h"

namespace phaze::cost {

enum class Dim : std::uint8_t { kM, kN, kK };
enum class Operand : std::uint8_t { kA, kB, kC };  // A re-used along n, B along m, C along k

struct GemmProblem {
  std::int64_t batch = 1;
  std::int64_t m = 1;
  std::int64_t n = 1;
  std::int64_t k = 1;
  std::int64_t element_bytes = 2;
  bool operator==(const GemmProblem&) const = default;

  std::int64_t extent(Dim dim) const { return dim == Dim::kM ? m : dim == Dim::kN ? n : k; }
  double macs() const {
    return static_cast<double>(batch) * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  }
};

// What of a chip the product sees, with calibration applied.
struct GemmMachine {
  std::int64_t cores = 1;
  std::int64_t rows = 1;
  std::int64_t cols = 1;
  // The least output tile that kernels work on, 0 where the array itself is the only quantum. It fixes the
  // orientation: outputs stand still; and tiles are handed out one by one, so that rounds = ⌈tiles·split_k/cores⌉.
  std::int64_t tile_rows = 0;
  std::int64_t tile_cols = 0;
  std::int64_t core_buffer = 0;    // bytes
  std::int64_t global_buffer = 0;  // bytes
  double global_bytes_per_cycle = 1;
  double hbm_bytes_per_cycle = 1;
  double mac_joules = 0;  // one multiply-accumulate with its register
  double core_joules_per_element = 0;
  double global_joules_per_byte = 0;
  double hbm_joules_per_byte = 0;
  bool operator==(const GemmMachine&) const = default;
};

// `cores` tensor cores of the chip, whose buffers must hold products (hardware::holds_products): then every product is
// feasible.
GemmMachine gemm_machine(const hardware::Chip& chip, std::int64_t cores);

struct GemmMapping {
  Dim rows = Dim::kM;
  Dim cols = Dim::kN;
  std::int64_t batch_split = 1;
  std::array<std::int64_t, 3> split = {1, 1, 1};         // of m, n, k over the cores
  std::array<std::int64_t, 3> core_tile = {1, 1, 1};     // blocks of m, n, k in a core buffer
  std::array<std::int64_t, 3> buffer_trips = {1, 1, 1};  // tiles of m, n, k that pass through the global buffer
  Operand core_stays = Operand::kC;
  Operand buffer_stays = Operand::kC;
  bool operator==(const GemmMapping&) const = default;
};

struct GemmCost {
  bool feasible = false;  // false when not even one array block fits the buffers
  double cycles = 0;
  double array_cycles = 0;
  double core_cycles = 0;
  double core_elements = 0;  // through all core buffers together
  double global_bytes = 0;
  double hbm_bytes = 0;
  double joules = 0;
  Bound bound_by = Bound::kNothing;
  GemmMapping mapping;
};

// The least latency over all mappings; among equals the least energy. Splits: every dimension takes a power of two
// of the cores, except that one of batch, m and n may take any number; none takes more than makes its parts smaller.
GemmCost least_gemm_cost(const GemmProblem& problem, const GemmMachine& machine);

// The same for one problem on many machines, which shares what depends on the global buffer alone.
class GemmMapper {
 public:
  explicit GemmMapper(const GemmProblem& problem);
  GemmMapper(GemmMapper&&) noexcept;
  GemmMapper& operator=(GemmMapper&&) noexcept;
  ~GemmMapper();

  GemmCost least(const GemmMachine& machine);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// "rows m, cols n; cores 1x2x4x1; core tile 128x128x128 (C stays); global tile 2048x4096x512 (A stays)".
std::string describe(const GemmProblem& problem, const GemmMachine& machine, const GemmMapping& mapping);

}  // namespace phaze::cost
