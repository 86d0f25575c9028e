// fuzz_seeds FOLDER: writes starting inputs for the fuzzers, small but with every part of the formats in them.
#include <filesystem>
#include <fstream>
#include <span>

#include "phaze/base/embedded_file.h"
#include "phaze/workload/import/onnx/testing/onnx_maker.h"
#include "phaze/workload/import/onnx/testing/small_transformer.h"

namespace phaze {
std::span<const EmbeddedFile> zoo_files();  // generated from data/zoo
}  // namespace phaze

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::filesystem::path folder(argv[1]);
  using namespace phaze::workload::onnx::testing;
  std::filesystem::create_directories(folder / "onnx");
  for (int choice = 0; choice < 16; ++choice) {
    std::ofstream named(folder / "onnx" / ("named" + std::to_string(choice)), std::ios::binary);
    named << static_cast<char>(choice) << small_transformer(2, "model.layers").bytes();
    std::ofstream unnamed(folder / "onnx" / ("unnamed" + std::to_string(choice)), std::ios::binary);
    unnamed << static_cast<char>(choice) << small_transformer(3, "").bytes();
  }
  std::filesystem::create_directories(folder / "config");
  for (const phaze::EmbeddedFile& file : phaze::zoo_files()) {
    // The published configuration is the object behind "config".
    const std::size_t start = file.text.find('{', file.text.find("\"config\""));
    std::ofstream config(folder / "config" / file.name, std::ios::binary);
    config << file.text.substr(start, file.text.rfind('}') - start);
  }
  return 0;
}
