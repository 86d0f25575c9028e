#include "phaze/exports/run_document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "phaze/exports/megatron.h"
#include "phaze/exports/timeloop.h"
#include "phaze/run_db/writer.h"

namespace phaze::exports {
namespace {

using testing::HasSubstr;

// A plan as a search keeps it, without the model's configuration and the chip: both are known otherwise.
std::string small_plan(const std::string& model) {
  nlohmann::json layers = {"embedding"}, pass = {{"forward", 1.0},       {"backward", 2.0},   {"send_forward", 0.0},
                                                 {"send_backward", 0.0}, {"kept_bytes", 1.0}, {"layers", 25}};
  for (int i = 0; i < 24; ++i) layers.push_back("block");
  layers.push_back("head");
  const nlohmann::json plan = {
      {"feasible", true},
      {"model", model},
      {"chip", "found"},
      {"pipeline", 1},
      {"tensor_parallel", 1},
      {"data_parallel", 4},
      {"interleave", 1},
      {"microbatch", 2},
      {"microbatches", 4},
      {"zero", 0},
      {"sequence_parallel", false},
      {"order", "tensor, data, pipeline"},
      {"layer_names", layers},
      {"stages", {{{"recompute", "none"}, {"chunks", {{0, 26}}}}}},
      {"training",
       {{"global_batch", 32},
        {"sequence", 512},
        {"attention", "eager"},
        {"overlap_gradients", true},
        {"bytes_per_parameter", {{"parameters", 2}, {"gradients", 4}, {"optimizer", 12}}}}},
      {"cluster",
       {{"devices", 4},
        {"network",
         {{{"size", 0}, {"bandwidth", 1e9}, {"efficiency", 1}, {"latency", 0}, {"torus", nlohmann::json::array()}}}}}}};
  return plan.dump();
}

class RunDocument : public testing::Test {
 protected:
  RunDocument() {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
  }
  ~RunDocument() override { std::filesystem::remove_all(folder_); }

  std::string path() const { return (folder_ / "run.db").string(); }

  // Three chips, of which one is evaluated with every model, one is pruned and one fits nothing.
  void write(const std::vector<std::string>& names) const {
    auto run = run_db::Writer::open(path(), run_db::Writer::Mode::kNew, {});
    ASSERT_TRUE(run) << to_string(run.error());
    std::vector<run_db::ModelRow> models;
    run_db::Batch batch;
    for (const std::string& name : names) {
      batch.evaluations.push_back({.chip = 1,
                                   .model = static_cast<std::int64_t>(models.size()),
                                   .seconds = 0.5,
                                   .microbatch = 2,
                                   .data_parallel = 4});
      batch.artefacts.push_back({.search = 0, .name = "plan", .model = name, .json = small_plan(name)});
      models.push_back({.name = name, .sequence = 512, .global_batch = 32});
    }
    std::vector<run_db::ChipRow> chips(3);
    for (std::size_t i = 0; i < chips.size(); ++i) chips[i].chip.tensor_cores.count = 1 << i;
    ASSERT_TRUE(run->write_problem(models, chips));
    batch.searches = {{.search = 0,
                       .status = run_db::RunStatus::kFinished,
                       .evaluated = 1,
                       .pruned = 1,
                       .infeasible = 1,
                       .optimal = true}};
    batch.fates = {{.chip = 0, .fate = "pruned", .level = "roofline", .bound = 1.5},
                   {.chip = 1, .fate = "evaluated", .level = "exact", .bound = 64, .score = 64},
                   {.chip = 2, .fate = "infeasible", .reason = "too little memory, by far"}};
    batch.best = {{.chip = 1, .score = 64}};
    ASSERT_TRUE(run->commit(batch));
    ASSERT_TRUE(run->finish());
  }

 private:
  std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / ("phaze-run-document-" + std::to_string(::getpid()));
};

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields(1);
  bool inside = false;
  for (const char c : line) {
    if (c == '"') inside = !inside;
    if (c == ',' && !inside)
      fields.emplace_back();
    else
      fields.back() += c;
  }
  return fields;
}

TEST_F(RunDocument, the_table_has_every_chip_and_a_line_for_each_model_evaluated) {
  write({"bert-large", "odd, name"});
  auto run = run_db::Reader::open(path());
  ASSERT_TRUE(run);
  const auto csv = evaluations_csv(*run);
  ASSERT_TRUE(csv) << to_string(csv.error());
  std::istringstream stream(csv->text);
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(stream, line);) rows.push_back(fields_of(line));
  ASSERT_EQ(rows.size(), 1U + 4U);
  for (const auto& row : rows) EXPECT_EQ(row.size(), rows.front().size());
  const auto column = [&](const std::string& name) {
    return static_cast<std::size_t>(std::ranges::find(rows.front(), name) - rows.front().begin());
  };
  EXPECT_EQ(rows[1][column("fate")], "pruned");
  EXPECT_EQ(rows[1][column("model")], "");
  EXPECT_EQ(rows[2][column("model")], "bert-large");
  EXPECT_EQ(rows[3][column("model")], "\"odd, name\"");
  EXPECT_EQ(rows[3][column("throughput")], "64");
  EXPECT_EQ(rows[3][column("tensor_cores")], "2");
  EXPECT_EQ(rows[4][column("reason")], "\"too little memory, by far\"");
}

TEST_F(RunDocument, a_run_of_one_model_exports_its_plan_with_the_winning_chip) {
  write({"bert-large"});
  auto run = run_db::Reader::open(path());
  const auto found = read_run_plan(*run, "");
  ASSERT_TRUE(found) << to_string(found.error());
  ASSERT_TRUE(found->plan.chip);
  EXPECT_EQ(found->plan.chip->tensor_cores.count, 2);
  const auto script = megatron_script(found->plan);
  ASSERT_TRUE(script) << to_string(script.error());
  EXPECT_THAT(script->text, HasSubstr("pretrain_bert.py"));
  EXPECT_THAT(timeloop_yaml(*found->plan.chip).text, HasSubstr("meshX: 2}"));
}

TEST_F(RunDocument, a_run_of_several_models_asks_which) {
  write({"bert-large", "bert-base"});
  auto run = run_db::Reader::open(path());
  EXPECT_THAT(to_string(read_run_plan(*run, "").error()), HasSubstr("choose one of: bert-large, bert-base"));
  EXPECT_THAT(to_string(read_run_plan(*run, "bert-larg").error()), HasSubstr("did you mean 'bert-large'?"));
  EXPECT_TRUE(read_run_plan(*run, "bert-base"));
}

}  // namespace
}  // namespace phaze::exports
