// The first byte chooses the options, the rest is the file.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "phaze/workload/import/onnx/read_onnx.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  using namespace phaze::workload;
  const unsigned choice = data[0];
  const WorkloadOptions options{.parallel = {(choice & 1U) != 0 ? 2 : 1, (choice & 2U) != 0},
                                .attention = (choice & 4U) != 0 ? AttentionKind::kFlash : AttentionKind::kEager,
                                .fuse = (choice & 8U) != 0};
  const auto graph =
      onnx::parse_onnx(std::string_view(reinterpret_cast<const char*>(data) + 1, size - 1), "fuzz", options);
  // What is accepted must be consistent.
  if (graph) phaze::check(static_cast<bool>(validate(*graph)), "accepted graphs are valid");
  return 0;
}
