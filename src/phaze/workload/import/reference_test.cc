// The config and the ONNX file of a model against the graph that a real autograd made of it.
#include "phaze/base/testing/reference.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "phaze/workload/load.h"

namespace phaze::workload {
namespace {

Result<LayerGraph> load(const std::filesystem::path& path, const WorkloadOptions& options) {
  NoProgress silent;
  return load_model(path.string(), options, silent);
}

// Two operations per multiply-accumulate of every aten.mm, addmm and bmm in the joint graph.
double matrix_flops_of_joint_graph(const nlohmann::json& joint) {
  std::map<std::string, nlohmann::json> nodes;
  for (const auto& node : joint.at("nodes")) nodes[node.at("name")] = node;
  double sum = 0;
  for (const auto& node : joint.at("nodes")) {
    const std::string target = node.at("target");
    if (!target.starts_with("aten.mm") && !target.starts_with("aten.addmm") && !target.starts_with("aten.bmm"))
      continue;
    const auto& operands = node.at("args");
    const auto& left = nodes.at(operands.at(operands.size() - 2).at("node")).at("out").at("shape");
    double flops = 2 * left.back().get<double>();
    for (const auto& dim : node.at("out").at("shape")) flops *= dim.get<double>();
    sum += flops;
  }
  return sum;
}

class Reference : public ::testing::TestWithParam<const char*> {};

TEST_P(Reference, config_and_onnx_do_the_matrix_work_of_autograd) {
  const auto folder = reference("graphs");
  const std::string name = GetParam();
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << lacks("graphs");
  std::ifstream file(folder / (name + ".joint.json"));
  const auto joint = nlohmann::json::parse(file);
  const double expected = matrix_flops_of_joint_graph(joint);
  const WorkloadOptions options{.sequence = joint.at("seq"), .microbatch = joint.at("mbs")};
  for (const auto& path : {folder / (name + ".config.json"), folder / (name + ".onnx")}) {
    const auto graph = load(path, options);
    ASSERT_TRUE(graph) << to_string(graph.error());
    const ModelFlops flops = model_flops(*graph);
    EXPECT_NEAR(static_cast<double>((flops.forward + flops.backward).value()) / expected, 1.0, 0.005) << path;
  }
}

INSTANTIATE_TEST_SUITE_P(JointGraphs, Reference, ::testing::Values("gpt3-175b-2l", "llama3-70b-2l"));

class OnnxAgainstConfig : public ::testing::TestWithParam<const char*> {};

TEST_P(OnnxAgainstConfig, have_the_same_work_layers_and_block_parameters) {
  const auto folder = reference("graphs");
  const std::string name = GetParam();
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << lacks("graphs");
  for (const std::int64_t width : {1, 2, 4}) {
    const auto onnx = load(folder / (name + ".onnx"), {.parallel = {width, false}});
    ASSERT_TRUE(onnx) << to_string(onnx.error());
    const auto config = load(folder / (name + ".config.json"),
                             {.sequence = onnx->sequence, .microbatch = onnx->microbatch, .parallel = {width, false}});
    ASSERT_TRUE(config) << to_string(config.error());
    const auto ratio = [](Flops a, Flops b) { return static_cast<double>(a.value()) / static_cast<double>(b.value()); };
    EXPECT_NEAR(ratio(model_flops(*onnx).forward, model_flops(*config).forward), 1.0, 0.005)
        << name << " width " << width;
    EXPECT_NEAR(ratio(model_flops(*onnx).backward, model_flops(*config).backward), 1.0, 0.005)
        << name << " width " << width;
    // Under tensor parallelism BERT's transform before the vocabulary stays whole, and the importer says so.
    if (width == 1) {
      EXPECT_TRUE(onnx->warnings.empty()) << onnx->warnings[0];
    }
    // The deepest stack has as many layers in both, with the same weights.
    const auto deepest = [](const LayerGraph& graph) {
      std::size_t best = 0;
      for (std::size_t i = 0; i < graph.layers.size(); ++i)
        if (graph.repeat(LayerId(i)) > graph.repeat(LayerId(best))) best = i;
      return std::pair(graph.repeat(LayerId(best)), graph.layers[best].parameters);
    };
    EXPECT_EQ(deepest(*onnx), deepest(*config)) << name << " width " << width;
  }
}

INSTANTIATE_TEST_SUITE_P(Exports, OnnxAgainstConfig,
                         ::testing::Values("gpt3-175b-2l", "llama3-70b-2l", "t5-large-4l", "bert-large-24l"));

}  // namespace
}  // namespace phaze::workload
