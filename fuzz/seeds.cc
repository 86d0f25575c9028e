// fuzz_seeds FOLDER: writes starting inputs for the fuzzers, small but with every part of the formats in them.
#include <filesystem>
#include <fstream>
#include <span>
#include <string>

#include "phaze/base/embedded_file.h"
#include "phaze/workload/import/onnx/testing/onnx_maker.h"
#include "phaze/workload/import/onnx/testing/small_transformer.h"

namespace phaze {
std::span<const EmbeddedFile> zoo_files();  // generated from data/zoo
std::span<const EmbeddedFile> chip_files();
std::span<const EmbeddedFile> network_files();
}  // namespace phaze

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::filesystem::path folder(argv[1]);
  using namespace phaze::workload::onnx::testing;
  std::filesystem::create_directories(folder / "onnx");
  // Functions, bodies of control flow, constants and open dimensions, which plain exports lack.
  OnnxMaker odd = small_transformer(2, "model.layers");
  auto& function = *odd.model.add_functions();
  function.set_name("Twice");
  function.set_domain("local");
  function.add_input("a");
  function.add_output("c");
  for (const char* const step : {"ab", "bc"}) {
    auto& node = *function.add_node();
    node.set_op_type("Relu");
    node.add_input(std::string(1, step[0]));
    node.add_output(std::string(1, step[1]));
  }
  odd.node("Twice", {"logits"}, {"twice"}).set_domain("local");
  auto& branch = *odd.node("If", {"ids"}, {"chosen"}).add_attribute();
  branch.set_name("then_branch");
  auto& body = *branch.mutable_g()->add_node();
  body.set_op_type("Neg");
  body.add_input("twice");
  body.add_output("negated");
  auto& constant = *odd.node("Constant", {}, {"table"}).add_attribute();
  constant.set_name("value");
  constant.mutable_t()->add_dims(4);
  constant.mutable_t()->set_data_type(1);
  odd.input("open", {-1, -1}, 7);
  odd.node("Gather", {"embed.weight", "open"}, {"looked_up"});
  std::ofstream(folder / "onnx" / "odd", std::ios::binary) << '\0' << odd.bytes();

  for (int choice = 0; choice < 16; ++choice) {
    std::ofstream named(folder / "onnx" / ("named" + std::to_string(choice)), std::ios::binary);
    named << static_cast<char>(choice) << small_transformer(2, "model.layers").bytes();
    std::ofstream unnamed(folder / "onnx" / ("unnamed" + std::to_string(choice)), std::ios::binary);
    unnamed << static_cast<char>(choice) << small_transformer(3, "").bytes();
  }
  std::filesystem::create_directories(folder / "hardware");
  for (const auto files : {phaze::chip_files(), phaze::network_files()})
    for (const phaze::EmbeddedFile& file : files) std::ofstream(folder / "hardware" / file.name) << file.text;
  std::ofstream(folder / "hardware" / "space") << "name: small\ndimensions:\n  rows: {powers_of_two: [32, 256]}\n"
                                                  "  lanes: {equals: rows}\n  glb: [16MiB, 32MiB]\n"
                                                  "limits:\n  area: 278mm2\n  tdp: 300W\n";
  std::filesystem::create_directories(folder / "schedule");
  std::ofstream(folder / "schedule" / "small")
      << R"({"resources": {"tc": 8, "hbm": 1.0}, "ops": [{"id": 0, "name": "qkv", "modes": [{"duration": 1.5e-3,
         "demand": {"tc": 1, "hbm": 0.35}}, {"duration": 2e-4, "demand": {"tc": 8}}]}, {"id": 1, "modes":
         [{"duration": 0}]}, {"id": 2, "modes": [{"duration": 1, "demand": {"tc": 2}}]}], "edges": [[0, 1]]})";
  std::filesystem::create_directories(folder / "config");
  for (const phaze::EmbeddedFile& file : phaze::zoo_files()) {
    // The published configuration is the object behind "config".
    const std::size_t start = file.text.find('{', file.text.find("\"config\""));
    std::ofstream config(folder / "config" / file.name, std::ios::binary);
    config << file.text.substr(start, file.text.rfind('}') - start);
  }
  std::filesystem::create_directories(folder / "instance");
  const auto node = [](int id, const char* split) {
    return "{\"id\": " + std::to_string(id) +
           ", \"parameterSize\": 4, \"activationSize\": 1.5, \"optimalLatencyFw\": 1, \"optimalLatencyBw\": 2, "
           "\"isTensorParallelized\": " +
           split + "}";
  };
  const auto edge = [](int from, int to) {
    return "{\"sourceId\": " + std::to_string(from) + ", \"destId\": " + std::to_string(to) +
           ", \"communicationCost\": 3}";
  };
  for (const bool chain : {true, false}) {
    const std::string edges =
        "[" + edge(0, 1) + "," + edge(chain ? 1 : 0, -2) + "," + edge(1, 3) + "," + edge(-2, 3) + "]";
    std::ofstream instance(folder / "instance" / (chain ? "chain" : "branches"), std::ios::binary);
    instance << R"({"maxMemoryPerDevice": 40, "maxDevices": 6, "bandwidth": 2.5, "mbsInBatch": 4.0, "nodes": {)";
    for (const char* const width : {"1", "2"}) {
      const char* const split = *width == '1' ? "false" : "true";
      instance << (*width == '1' ? "" : ",") << '"' << width << "\": [" << node(0, "false") << "," << node(1, split)
               << "," << node(-2, split) << "," << node(3, "false") << "]";
    }
    instance << R"(}, "edges": {"1": )" << edges << R"(, "2": )" << edges
             << R"(}, "activationRecomputation": true, "optimizerAlgorithm": "Adam",)"
             << R"( "fixedPP": 2, "fixedTMPC": 2, "fixedDP": 1, "numTransformerLayers": 3})";
  }
  return 0;
}
