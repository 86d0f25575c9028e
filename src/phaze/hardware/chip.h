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
  double process_nm = 22;
  PublishedFigures published;

  bool operator==(const Chip&) const = default;

  std::int64_t macs() const { return tensor_cores.count * tensor_cores.rows * tensor_cores.cols; }
  std::int64_t lanes() const { return vector_cores.count * vector_cores.lanes; }
  double peak_flops() const { return 2.0 * static_cast<double>(macs()) * clock_hz; }

  // Buffers inside the cores grow with what they feed: 16 bytes per unit, one kilobyte at least.
  Bytes tensor_core_buffer() const;
  Bytes vector_core_buffer() const;
};

}  // namespace phaze::hardware
