#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <limits>

#include "phaze/run_db/content_hash.h"
#include "phaze/run_db/reader.h"
#include "phaze/run_db/writer.h"

namespace phaze::run_db {
namespace {

using testing::HasSubstr;

class RunDb : public testing::Test {
 protected:
  RunDb() {
    folder_ = std::filesystem::temp_directory_path() / ("phaze-run-db-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
  }
  ~RunDb() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name = "run.db") const { return (folder_ / name).string(); }

 private:
  std::filesystem::path folder_;
};

Description description() {
  return {.phaze_version = "0.1.0",
          .arguments = {"phaze", "search", "bert-base", "--devices", "8"},
          .settings = {{"--devices", "8"}, {"--objective", "throughput"}},
          .inputs = {{.kind = "model", .name = "bert-base", .hash = content_hash("a model")}}};
}

Writer create(const std::string& path) {
  auto writer = Writer::open(path, Writer::Mode::kNew, description());
  check(static_cast<bool>(writer), "a fresh database cannot be made");
  return std::move(*writer);
}

void execute(const std::string& path, const std::string& sql) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(database);
  sqlite3_close(database);
}

// The exit status of work done in a child process.
template <typename Work>
int in_child(const Work& work) {
  const pid_t child = fork();
  if (child == 0) _exit(work());
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

TEST_F(RunDb, what_is_written_is_read_back) {
  const ModelRow model{.name = "bert <b>", .weight = 2, .sequence = 128, .global_batch = 32, .parameters = 1e8};
  ChipRow chip{.area_um2 = 278826676.31216, .tdp_watts = 191.5};
  chip.chip.tensor_cores = {.count = 16, .rows = 64, .cols = 128};
  chip.chip.core_buffer = Bytes(4096);
  const Batch batch{
      .searches = {{.search = 0, .models = {0}, .status = RunStatus::kFinished, .evaluated = 1, .optimal = true}},
      .fates = {{.search = 0, .chip = 0, .fate = "evaluated", .level = "layer schedules", .bound = 0.1, .score = 0.1},
                {.search = 0,
                 .chip = 1,
                 .fate = "infeasible",
                 .level = "placement",
                 .bound = std::numeric_limits<double>::infinity(),
                 .reason = "no plan fits"}},
      .evaluations = {{.chip = 0, .model = 0, .seconds = 0.1 + 0.2, .tensor_parallel = 4, .hbm_bytes = 1LL << 35}},
      .states = {{.chip = 0, .model = 0, .state = std::string("a\0b", 3)}},
      .best = {{.search = 0, .rank = 0, .chip = 0, .score = 0.1}},
      .artefacts = {{.search = 0, .name = "plan", .model = "bert <b>", .json = "{\"pipeline\": 2}"}},
      .status = RunStatus::kFinished,
      .seconds = 1.5};
  {
    Writer writer = create(path());
    EXPECT_TRUE(writer.fresh());
    ASSERT_TRUE(writer.write_problem({model}, {chip, chip}));
    ASSERT_TRUE(writer.commit(batch));
    EXPECT_EQ(*read_states(writer.database()), batch.states);
    ASSERT_TRUE(writer.finish());
  }
  EXPECT_FALSE(std::filesystem::exists(path() + "-wal"));
  auto reader = Reader::open(path());
  ASSERT_TRUE(reader);
  EXPECT_EQ(*reader->description(), description());
  EXPECT_EQ(reader->summary()->status, RunStatus::kFinished);
  EXPECT_DOUBLE_EQ(reader->summary()->seconds, 1.5);
  EXPECT_THAT(*reader->models(), testing::ElementsAre(model));
  EXPECT_THAT(*reader->chips(), testing::ElementsAre(chip, chip));
  EXPECT_EQ(*reader->searches(), batch.searches);
  EXPECT_EQ(*reader->fates(0), batch.fates);
  EXPECT_TRUE(reader->fates(1)->empty());
  EXPECT_EQ(*reader->best(0), batch.best);
  EXPECT_EQ(*reader->evaluations(), batch.evaluations);
  EXPECT_EQ(**reader->artefact(0, "plan", "bert <b>"), "{\"pipeline\": 2}");
  EXPECT_FALSE(reader->artefact(0, "plan", "other")->has_value());
}

TEST_F(RunDb, states_are_blobs_and_those_once_written_as_text_are_read_all_the_same) {
  const std::vector<StateRow> states = {{.chip = 0, .model = 0, .state = std::string("a\0\xff", 3)}};
  Writer writer = create(path());
  ASSERT_TRUE(writer.write_problem({{.name = "m"}}, {{}}));
  ASSERT_TRUE(writer.commit({.states = states}));
  const char* blobs = "SELECT count(*) FROM chip_states WHERE typeof(state) = 'blob'";
  EXPECT_EQ(*writer.database().number(blobs), 1);
  execute(path(), "UPDATE chip_states SET state = CAST(state AS TEXT)");
  EXPECT_EQ(*writer.database().number(blobs), 0);
  EXPECT_EQ(*read_states(writer.database()), states);
}

TEST_F(RunDb, a_reader_sees_a_run_that_is_still_going_on) {
  Writer writer = create(path());
  ASSERT_TRUE(writer.write_problem({{.name = "m"}}, {{}}));
  auto reader = Reader::open(path());
  ASSERT_TRUE(reader);
  ASSERT_TRUE(writer.commit({.fates = {{.search = 0, .chip = 0, .fate = "pruned", .level = "roofline"}}}));
  EXPECT_EQ(reader->fates(0)->size(), 1U);
  EXPECT_EQ(reader->summary()->status, RunStatus::kRunning);
}

TEST_F(RunDb, a_second_writer_is_refused_until_the_first_is_gone) {
  {
    const Writer writer = create(path());
    const auto second = Writer::open(path(), Writer::Mode::kResume, description());
    ASSERT_FALSE(second);
    EXPECT_THAT(second.error().message, HasSubstr("another process is working on it"));
  }
  EXPECT_TRUE(Writer::open(path(), Writer::Mode::kResume, description()));
}

TEST_F(RunDb, killed_without_warning_it_keeps_what_was_committed_and_can_be_resumed) {
  const int status = in_child([&] {
    Writer writer = create(path());
    if (!writer.write_problem({{.name = "m"}}, {{}, {}})) return 1;
    if (!writer.commit({.fates = {{.search = 0, .chip = 1, .fate = "pruned", .level = "roofline"}}})) return 1;
    std::raise(SIGKILL);
    return 0;
  });
  ASSERT_TRUE(WIFSIGNALED(status));
  auto writer = Writer::open(path(), Writer::Mode::kResume, description());
  ASSERT_TRUE(writer) << to_string(writer.error());
  EXPECT_FALSE(writer->fresh());
  EXPECT_EQ(read_fates(writer->database(), 0)->size(), 1U);
}

TEST_F(RunDb, a_run_that_is_there_is_written_over_by_nobody) {
  { const Writer writer = create(path()); }
  const auto again = Writer::open(path(), Writer::Mode::kNew, description());
  ASSERT_FALSE(again);
  EXPECT_EQ(to_string(again.error()),
            path() + ": holds a run already (give --resume to go on with it, or --out another name)");
}

TEST_F(RunDb, another_run_is_not_resumed) {
  { const Writer writer = create(path()); }
  const auto refused = [&](const Description& other) {
    const auto writer = Writer::open(path(), Writer::Mode::kResume, other);
    EXPECT_FALSE(writer);
    return writer ? std::string() : writer.error().message;
  };
  Description other = description();
  other.phaze_version = "0.2.0";
  EXPECT_EQ(refused(other), "was written by phaze 0.1.0, this is 0.2.0");
  other = description();
  other.settings["--devices"] = "16";
  EXPECT_EQ(refused(other), "is of another run: --devices was 8, is 16");
  other = description();
  other.settings["--exhaustive"] = "yes";
  EXPECT_EQ(refused(other), "is of another run: --exhaustive was not given, is yes");
  other = description();
  other.settings.erase("--objective");
  EXPECT_EQ(refused(other), "is of another run: --objective was throughput, is not given");
  other = description();
  other.inputs[0].name = "opt-350m";
  EXPECT_EQ(refused(other), "is of another run: model was bert-base, is opt-350m");
  other = description();
  other.inputs[0].hash = content_hash("another model");
  EXPECT_EQ(refused(other), "is of another run: the content of the model bert-base has changed since");
  other = description();
  other.arguments.emplace_back("--threads=3");  // says nothing about the answer
  EXPECT_TRUE(Writer::open(path(), Writer::Mode::kResume, other));
}

TEST_F(RunDb, other_files_are_refused_and_left_as_they_are) {
  for (const std::string& text : {std::string("notes\n"), std::string(5000, 'x')}) {
    std::ofstream(path()) << text;
    const auto writer = Writer::open(path(), Writer::Mode::kResume, description());
    ASSERT_FALSE(writer);
    EXPECT_EQ(to_string(writer.error()), path() + ": is not a run database");
    const auto reader = Reader::open(path());
    ASSERT_FALSE(reader);
    EXPECT_EQ(to_string(reader.error()), path() + ": is not a run database");
    EXPECT_EQ(std::filesystem::file_size(path()), text.size());
  }
  std::filesystem::remove(path());
  execute(path(), "CREATE TABLE recipes(name TEXT)");
  EXPECT_FALSE(Writer::open(path(), Writer::Mode::kResume, description()));
  EXPECT_FALSE(Reader::open(path()));
}

TEST_F(RunDb, another_format_is_refused) {
  { const Writer writer = create(path()); }
  execute(path(), "PRAGMA user_version = 7");
  const auto reader = Reader::open(path());
  ASSERT_FALSE(reader);
  EXPECT_EQ(reader.error().message, "is a run database of format 7, this program reads format 1");
  EXPECT_FALSE(Writer::open(path(), Writer::Mode::kResume, description()));
}

TEST_F(RunDb, a_file_that_is_not_there_or_has_no_run_yet_cannot_be_read) {
  const auto missing = Reader::open(path("none.db"));
  ASSERT_FALSE(missing);
  EXPECT_EQ(to_string(missing.error()), path("none.db") + ": cannot be read: No such file or directory");
  std::ofstream(path()).close();
  const auto empty = Reader::open(path());
  ASSERT_FALSE(empty);
  EXPECT_THAT(empty.error().message, HasSubstr("holds no run yet"));
  EXPECT_TRUE(Writer::open(path(), Writer::Mode::kNew, description()));
}

TEST_F(RunDb, a_folder_that_is_not_there_or_cannot_be_written_is_an_error) {
  const auto missing = Writer::open(path("none/run.db"), Writer::Mode::kNew, description());
  ASSERT_FALSE(missing);
  EXPECT_EQ(to_string(missing.error()), path("none/run.db") + ": cannot be written: No such file or directory");
  std::filesystem::create_directory(path("locked"));
  chmod(path("locked").c_str(), 0555);
  const int status = in_child([&] {
    if (geteuid() == 0 && setuid(65534) != 0) return 2;  // nothing is read-only to root
    const auto writer = Writer::open(path("locked/run.db"), Writer::Mode::kNew, description());
    return !writer && writer.error().message == "cannot be written: Permission denied" ? 0 : 1;
  });
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_TRUE(std::filesystem::is_empty(path("locked")));
}

TEST_F(RunDb, a_full_disk_is_an_error_and_leaves_what_was_there) {
  const std::vector<FateRow> first = {{.search = 0, .chip = 0, .fate = "pruned", .level = "roofline"}};
  const int status = in_child([&] {
    Writer writer = create(path());
    if (!writer.write_problem({{.name = "m"}}, {{}}) || !writer.commit({.fates = first})) return 1;
    // No file may grow beyond what is there now: the next commit finds no room.
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {std::filesystem::file_size(path() + "-wal"), RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &limit);
    Batch batch;
    for (std::int64_t chip = 0; chip < 50'000; ++chip)
      batch.fates.push_back({.search = 0, .chip = chip, .fate = "evaluated", .level = "roofline"});
    const auto full = writer.commit(batch);
    if (full) return 2;
    return full.error().message.find("disk") != std::string::npos ? 0 : 3;
  });
  EXPECT_EQ(WEXITSTATUS(status), 0);
  auto reader = Reader::open(path());
  ASSERT_TRUE(reader);
  EXPECT_EQ(*reader->fates(0), first);
}

TEST_F(RunDb, contents_have_names) {
  std::ofstream(path("a")) << "abc";
  EXPECT_EQ(*file_hash(path("a")), content_hash("abc"));
  EXPECT_EQ(content_hash("abc"), "06b05ab6733a618578af5f94892f3950");  // as xxh128sum prints it
  EXPECT_NE(content_hash("abd"), content_hash("abc"));
  EXPECT_FALSE(file_hash(path("none")));
}

}  // namespace
}  // namespace phaze::run_db
