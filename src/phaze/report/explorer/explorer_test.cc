#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "phaze/report/chip_report.h"
#include "phaze/report/explorer/document.h"
#include "phaze/report/explorer/document_parts.h"
#include "phaze/report/explorer/layer_charts.h"
#include "phaze/report/explorer/packed.h"
#include "phaze/report/explorer/page.h"
#include "phaze/report/explorer/timeline.h"
#include "phaze/run_db/reader.h"
#include "phaze/run_db/writer.h"
#include "phaze/search/level.h"
#include "phaze/workload/load.h"

namespace phaze::report {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Packed, base64_is_that_of_the_standard) {
  const auto of = [](std::string_view text) { return base64(std::vector<std::uint8_t>(text.begin(), text.end())); };
  EXPECT_EQ(of(""), "");
  EXPECT_EQ(of("f"), "Zg==");
  EXPECT_EQ(of("fo"), "Zm8=");
  EXPECT_EQ(of("foo"), "Zm9v");
  EXPECT_EQ(of("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64(std::vector<std::uint8_t>{0xFB, 0xFF, 0xBF}), "+/+/");
}

TEST(Packed, numbers_are_little_endian) {
  EXPECT_EQ(packed_u16(std::vector<std::uint16_t>{0x0102}), base64(std::vector<std::uint8_t>{2, 1}));
  EXPECT_EQ(packed_f32(std::vector<double>{1.0}), base64(std::vector<std::uint8_t>{0, 0, 0x80, 0x3F}));
}

TEST(Packed, few_distinct_values_are_listed_once_and_many_not_at_all) {
  const Listed few = listed(std::vector<double>{4, 2, 4, 8});
  EXPECT_THAT(few.values, ElementsAre(2, 4, 8));
  EXPECT_THAT(few.codes, ElementsAre(1, 0, 1, 2));
  std::vector<double> many;
  for (int i = 0; i < 257; ++i) many.push_back(i);
  EXPECT_TRUE(listed(many).values.empty());
  many.pop_back();
  EXPECT_EQ(listed(many).codes.back(), 255);
}

TEST(Page, text_in_a_document_cannot_end_its_element) {
  const std::string page =
      paste("<script>{{PHAZE_REPORT_DATA}}</script>{{PHAZE_REPORT_DATA}}", R"({"a": "</script><!--"})");
  EXPECT_EQ(page, R"(<script>{"a": "\u003c/script>\u003c!--"}</script>{{PHAZE_REPORT_DATA}})");
}

TEST(Page, numbers_are_grouped_by_thousands) {
  EXPECT_EQ(grouped(7), "7");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(29360), "29,360");
  EXPECT_EQ(grouped(1234567), "1,234,567");
}

TEST(Page, a_command_line_can_be_pasted_back_into_a_shell) {
  EXPECT_EQ(command_text({"/usr/bin/phaze", "search", "it's a model", "--devices", "8", "$(x)"}),
            R"(phaze search 'it'\''s a model' --devices 8 '$(x)')");
}

sim::Pipeline pipeline(std::size_t devices, std::int64_t microbatches) {
  sim::Pipeline made{.microbatches = microbatches};
  for (std::size_t d = 0; d < devices; ++d)
    made.devices.push_back(
        {.chunks = {{.forward = 1, .backward = 2, .send_forward = 0.1, .send_backward = 0.1}}, .step = 0.5});
  return made;
}

TEST(Timeline, an_iteration_that_fits_is_whole) {
  const sim::Pipeline four = pipeline(4, 8);
  const auto run = sim::simulate(four);
  const auto timeline = timeline_json(four, run);
  EXPECT_EQ(timeline["messages"], true);
  EXPECT_TRUE(timeline["left_out"].is_null());
  std::size_t lasting = 0;
  for (const sim::Event& event : run.events) lasting += event.end > event.start ? 1 : 0;
  EXPECT_EQ(timeline["events"], lasting);
  EXPECT_DOUBLE_EQ(timeline["seconds"], run.seconds);
}

TEST(Timeline, a_long_iteration_loses_messages_first_and_then_its_middle) {
  const sim::Pipeline four = pipeline(4, 64);
  const auto run = sim::simulate(four);
  const auto without_messages = timeline_json(four, run, 4 * 64 * 2 + 8);
  EXPECT_EQ(without_messages["messages"], false);
  EXPECT_TRUE(without_messages["left_out"].is_null());
  EXPECT_EQ(without_messages["events"], 4 * 64 * 2 + 4);  // passes and steps
  const auto cut = timeline_json(four, run, 100);
  const auto first = cut["left_out"][0].get<std::int64_t>(), last = cut["left_out"][1].get<std::int64_t>();
  EXPECT_GT(first, 0);
  EXPECT_LT(last, 64);
  EXPECT_EQ(cut["events"], 4 * 2 * (64 - (last - first)) + 4);
  EXPECT_LE(cut["events"].get<std::int64_t>(), 104);
}

TEST(LayerCharts, every_layer_has_both_passes_with_all_their_operators) {
  NoProgress silent;
  const auto graph = workload::load_model("bert-base", {}, silent);
  ASSERT_TRUE(graph) << to_string(graph.error());
  const cost::OperatorCosts costs({.chip = hardware::Chip{}});
  const json list = json::parse(layer_schedules_json(*graph, costs));
  ASSERT_EQ(list.size(), 2 * graph->layers.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    const workload::Layer& layer = graph->layers[i / 2];
    EXPECT_EQ(list[i]["layer"], layer.name);
    EXPECT_EQ(list[i]["pass"], i % 2 == 0 ? "forward" : "backward");
    EXPECT_EQ(list[i]["ops"].size(), (i % 2 == 0 ? layer.forward : layer.backward).size());
    double last = 0;
    for (const json& op : list[i]["ops"]) last = std::max(last, op["finish"].get<double>());
    EXPECT_NEAR(last, list[i]["makespan"].get<double>(), 1e-12);
  }
}

TEST(LayerCharts, on_a_gpu_operators_run_one_after_another) {
  NoProgress silent;
  const auto graph = workload::load_model("bert-base", {}, silent);
  ASSERT_TRUE(graph) << to_string(graph.error());
  const cost::OperatorCosts costs({.chip = hardware::Chip{.calibration = {.serial = true}}});
  const json list = json::parse(layer_schedules_json(*graph, costs));
  for (const json& one : list) {
    EXPECT_EQ(one["status"], "serial");
    double now = 0;
    for (const json& op : one["ops"]) {
      EXPECT_DOUBLE_EQ(op["start"], now);
      now = op["finish"];
    }
  }
}

class RunDocument : public testing::Test {
 protected:
  RunDocument()
      : folder_(std::filesystem::temp_directory_path() / ("phaze-explorer-" + std::to_string(::getpid()))),
        file_((folder_ / "run.db").string()) {
    std::filesystem::create_directories(folder_);
  }
  ~RunDocument() override { std::filesystem::remove_all(folder_); }

  const std::string& file() const { return file_; }

  static run_db::Description description(const std::string& model) {
    return {.phaze_version = "9.9",
            .arguments = {"phaze", "search", model},
            .settings = {{"--devices", "1024"}},
            .inputs = {{"model", model, "00"}}};
  }

  // Three chips: evaluated, pruned, infeasible.
  void write(const std::string& model, bool begun = true, const std::string& comparison = "") const {
    auto run = run_db::Writer::open(file_, run_db::Writer::Mode::kNew, description(model));
    ASSERT_TRUE(run) << to_string(run.error());
    std::vector<run_db::ChipRow> chips(3);
    for (std::size_t i = 0; i < chips.size(); ++i) {
      chips[i].chip.tensor_cores.count = 1 << i;
      chips[i].area_um2 = 1e8 * static_cast<double>(i + 1);
    }
    chips[0].area_um2 = hardware::area_phaze22(chips[0].chip).total;
    ASSERT_TRUE(run->write_problem({{.name = model, .sequence = 128, .global_batch = 512}}, chips));
    if (!begun) return;
    run_db::Batch batch;
    batch.searches = {{.search = 0,
                       .models = {0},
                       .status = run_db::RunStatus::kFinished,
                       .evaluated = 1,
                       .pruned = 1,
                       .infeasible = 1,
                       .optimal = true}};
    batch.fates = {
        {.search = 0, .chip = 0, .fate = "evaluated", .level = "layer schedules", .bound = 70, .score = 64},
        {.search = 0, .chip = 1, .fate = "pruned", .level = "roofline", .bound = 32},
        {.search = 0, .chip = 2, .fate = "infeasible", .level = "roofline", .bound = 0, .reason = "too small"}};
    batch.best = {{.search = 0, .rank = 0, .chip = 0, .score = 64}};
    batch.evaluations = {{.chip = 0, .model = 0, .seconds = 8}};
    batch.artefacts = {{.search = 0, .name = "chip", .json = chip_json(chips[0].chip)}};
    if (!comparison.empty()) batch.artefacts.push_back({.search = 0, .name = "comparison", .json = comparison});
    ASSERT_TRUE(run->commit(batch));
    ASSERT_TRUE(run->finish());
  }

  json document() const {
    auto run = run_db::Reader::open(file_);
    EXPECT_TRUE(run) << to_string(run.error());
    const auto text = run_document(*run);
    EXPECT_TRUE(text) << to_string(text.error());
    return json::parse(*text);
  }

 private:
  std::filesystem::path folder_;
  std::string file_;
};

TEST_F(RunDocument, bounds_that_pruned_chips_come_in_the_order_in_which_they_are_tried) {
  write("bert-large");
  using search::Level;
  {
    auto run = run_db::Writer::open(file(), run_db::Writer::Mode::kResume, description("bert-large"));
    ASSERT_TRUE(run);
    run_db::Batch batch;
    for (const Level level : {Level::kOperators, Level::kPlaced, Level::kRoofline})
      batch.fates.push_back({.search = 0,
                             .chip = static_cast<std::int64_t>(batch.fates.size()),
                             .fate = "pruned",
                             .level = search::to_string(level)});
    ASSERT_TRUE(run->commit(batch));
  }
  auto run = run_db::Reader::open(file());
  ASSERT_TRUE(run);
  const auto report = nlohmann::ordered_json::parse(*run_document(*run));
  std::vector<std::string> levels;
  for (const auto& [level, count] : report["search"]["pruned_by"].items()) levels.push_back(level);
  EXPECT_EQ(levels, (std::vector<std::string>{"roofline", "placed roofline", "operator costs"}));
}

TEST_F(RunDocument, accounts_for_every_chip) {
  write("bert-large");
  const json report = document();
  EXPECT_EQ(report["title"], "bert-large");
  EXPECT_EQ(report["search"]["optimal"], true);
  EXPECT_EQ(report["search"]["score"], 64);
  EXPECT_EQ(report["search"]["pruned_by"], (json{{"roofline", 1}}));
  EXPECT_EQ(report["space"]["chips"], 3);
  EXPECT_EQ(report["space"]["winner"], 0);
  EXPECT_EQ(report["space"]["outcomes"]["codes"], base64(std::vector<std::uint8_t>{0, 1, 2}));
  const json& outcomes = report["space"]["outcomes"]["values"];
  EXPECT_EQ(outcomes[0]["kind"], "evaluated");
  EXPECT_EQ(outcomes[1]["label"], "pruned by roofline");
  EXPECT_EQ(outcomes[2]["kind"], "infeasible");
  const double none = std::numeric_limits<double>::quiet_NaN();
  for (const json& column : report["space"]["columns"]) {
    if (column["key"] == "tensor_cores") {
      EXPECT_EQ(column["values"], (json{1, 2, 4}));
    }
    if (column["key"] == "score") {
      EXPECT_EQ(column["floats"], packed_f32(std::vector<double>{64, none, none}));
    }
    EXPECT_NE(column["key"], "clock_hz") << "all chips share it";
  }
  EXPECT_EQ(report["chip"]["area_model"], "phaze22");
  EXPECT_EQ(report["models"][0]["devices"], 1024);
  EXPECT_TRUE(report["models"][0]["plan"].is_null());
  EXPECT_THAT(report["subtitle"].get<std::string>(), HasSubstr("1,024"));
}

TEST_F(RunDocument, has_the_comparison_that_the_run_kept_and_none_otherwise) {
  write("bert-large", true, R"({"bert-large": {"cosearch": 64}, "summary": {"reference": "tpuv4-phaze"}})");
  EXPECT_EQ(document()["comparison"]["bert-large"]["cosearch"], 64);
  std::filesystem::remove(file());
  write("bert-large");
  EXPECT_TRUE(document()["comparison"].is_null());
}

TEST_F(RunDocument, keeps_hostile_names_as_they_are_and_the_page_escapes_them) {
  const std::string hostile = "</script><script>alert(1)</script>\xff";
  write(hostile);
  const json report = document();
  EXPECT_EQ(report["title"], "</script><script>alert(1)</script>\xEF\xBF\xBD");
  const std::string page = paste("<script>{{PHAZE_REPORT_DATA}}</script>", report.dump());
  EXPECT_EQ(page.find("</script>"), page.size() - 9);
}

TEST_F(RunDocument, of_a_search_that_has_not_begun_is_refused_in_words) {
  write("bert-large", false);
  auto run = run_db::Reader::open(file());
  ASSERT_TRUE(run);
  const auto text = run_document(*run);
  ASSERT_FALSE(text);
  EXPECT_THAT(text.error().message, HasSubstr("has not begun"));
}

}  // namespace
}  // namespace phaze::report
