// A chip: matrix units, vector units, memories, clock.
#pragma once

#include <cstdint>
#include <string>

#include "phaze/base/units.h"

namespace phaze::hardware {

// `count` cores, each an array of rows × cols multiply-accumulate units.
struct TensorCores {
  std::int64_t count = 8;
  std::int64_t rows = 128;
  std::int64_t cols = 128;
  bool operator==(const TensorCores&) const = default;
};

struct VectorCores {
  std::int64_t count = 2;
  std::int64_t lanes = 128;
  bool operator==(const VectorCores&) const = default;
};

// What the maker says, where it is known; zero where it is not.
struct PublishedFigures {
  double peak_flops = 0;
  double tdp_watts = 0;
  double die_mm2 = 0;
  bool operator==(const PublishedFigures&) const = default;
};

// What a real chip reaches of its datasheet, measured (phaze calibrate) or assumed; an ideal chip has the defaults.
struct Calibration {
  double compute = 1;  // fraction of peak in matrix products
  // Fraction of that once they have run for seconds: a chip at its power limit lowers its clock. Fitted to training
  // runs, `compute` has it in it.
  double sustained = 1;
  double attention = 1;      // fraction of that in fused attention
  double vector = 1;         // fraction of the vector lanes' peak
  double hbm = 1;            // fraction of HBM bandwidth when streaming
  double start_seconds = 0;  // before every operator
  // What the host takes to send one operator off. Operators run behind it, so that it shows only where they are short.
  double dispatch_seconds = 0;
  // The least tile of outputs that kernels work on; 0: the array alone decides.
  std::int64_t tile_rows = 0;
  std::int64_t tile_cols = 0;
  // Operators are kernels of plain instructions that run one after another, each on the whole chip: a GPU.
  bool serial = false;
  bool operator==(const Calibration&) const = default;
};

// The defaults are the TPUv4-like point of the 2024 study.
struct Chip {
  std::string name = "custom";
  std::string summary;  // what it is and where its figures come from
  double clock_hz = 1.05e9;
  TensorCores tensor_cores;
  VectorCores vector_cores;
  Bytes global_buffer{std::int64_t{128} << 20};
  double global_buffer_bytes_per_cycle = 4096;
  Bytes hbm{std::int64_t{32} << 30};
  double hbm_bandwidth = 1.2e12;  // bytes per second
  Bytes core_buffer{0};           // of one tensor core; 0: grows with its array
  double process_nm = 22;
  std::string network = "phaze-2024";  // the one it usually sits in: a preset, a file or a specification
  // Bytes per second to and from other chips, all links of that network together; 0: not read yet.
  double link_bandwidth = 8589934592;
  Calibration calibration;
  PublishedFigures published;

  bool operator==(const Chip&) const = default;

  std::int64_t macs() const { return tensor_cores.count * tensor_cores.rows * tensor_cores.cols; }
  std::int64_t lanes() const { return vector_cores.count * vector_cores.lanes; }
  double peak_flops() const { return 2.0 * static_cast<double>(macs()) * clock_hz; }

  // Unless given, buffers inside the cores grow with what they feed: 16 bytes per unit, one kilobyte at least.
  Bytes tensor_core_buffer() const;
  Bytes vector_core_buffer() const;
};

}  // namespace phaze::hardware
