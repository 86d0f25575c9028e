// Runs the phaze binary on golden text cases.
//
// A case file holds any number of
//
//   $ phaze model show nosuch
//   exit 2
//   | phaze: error: ...            one line of standard error
//   > ...                          one line of standard output
//   >~ text                        standard output contains this text
//
// "#" starts a comment. The command runs through the shell in an empty folder, with the binary first on the path;
// "setup" lines run before it. Without ">" lines standard output is not compared, without "|" lines standard error must
// be empty.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

struct Case {
  std::string file, command;
  int line = 0;
  int exit_code = 0;
  std::vector<std::string> setup, output, contained, errors;
};

// Found by GoogleTest under this name.
// NOLINTNEXTLINE(readability-identifier-naming)
void PrintTo(const Case& test, std::ostream* out) { *out << test.command; }

std::vector<Case> read_cases() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(CASES_DIR)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<Case> cases;
  std::vector<std::string> setup;
  for (const auto& path : files) {
    std::ifstream file(path);
    std::string line;
    setup.clear();
    for (int number = 1; std::getline(file, line); ++number) {
      const auto rest = [&](std::size_t skip) { return line.size() > skip ? line.substr(skip) : std::string(); };
      if (line.starts_with("setup "))
        setup.push_back(rest(6));
      else if (line.starts_with("$ "))
        cases.push_back({path.stem().string(), rest(2), number, 0, setup, {}, {}, {}});
      else if (cases.empty() || line.empty() || line.starts_with("#"))
        continue;
      else if (line.starts_with("exit "))
        cases.back().exit_code = std::stoi(rest(5));
      else if (line.starts_with(">~ "))
        cases.back().contained.push_back(rest(3));
      else if (line.starts_with(">"))
        cases.back().output.push_back(rest(2));
      else if (line.starts_with("|"))
        cases.back().errors.push_back(rest(2));
      else
        ADD_FAILURE() << path << ":" << number << ": not understood: " << line;
    }
  }
  return cases;
}

std::string text_of(const fs::path& path) {
  const std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const auto& line : lines) text += line + "\n";
  return text;
}

// An empty folder, removed at the end, in which commands run.
class Scratch {
 public:
  Scratch() {
    std::string name = (fs::temp_directory_path() / "phaze-cli-XXXXXX").string();
    path_ = mkdtemp(name.data());
    fs::create_directory(path_ / "work");
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { fs::remove_all(path_); }

  int run(const std::string& command) const {
    const std::string shell = "cd '" + (path_ / "work").string() + "' && PATH='" +
                              fs::path(PHAZE_BINARY).parent_path().string() + "':\"$PATH\" && { " + command + "\n} >'" +
                              out().string() + "' 2>'" + err().string() + "' </dev/null";
    const int status = std::system(shell.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  fs::path out() const { return path_ / "out"; }
  fs::path err() const { return path_ / "err"; }

 private:
  fs::path path_;
};

class Cli : public ::testing::TestWithParam<Case> {};

TEST_P(Cli, answers_as_written) {
  const Case& expected = GetParam();
  const Scratch scratch;
  for (const std::string& setup : expected.setup) ASSERT_EQ(scratch.run(setup), 0) << setup << text_of(scratch.err());
  const int exit_code = scratch.run(expected.command);
  const std::string out = text_of(scratch.out());
  EXPECT_EQ(exit_code, expected.exit_code) << expected.command << "\n" << text_of(scratch.err());
  EXPECT_EQ(text_of(scratch.err()), joined(expected.errors)) << expected.command;
  if (!expected.output.empty()) {
    EXPECT_EQ(out, joined(expected.output)) << expected.command;
  }
  for (const std::string& part : expected.contained)
    EXPECT_NE(out.find(part), std::string::npos) << expected.command << "\n" << out;
  if (exit_code == 2) {
    EXPECT_EQ(out, "") << "bad input leaves standard output empty";
  }
}

std::string title(const ::testing::TestParamInfo<Case>& test) {
  return test.param.file + "_line_" + std::to_string(test.param.line);
}

INSTANTIATE_TEST_SUITE_P(Cases, Cli, ::testing::ValuesIn(read_cases()), title);

}  // namespace
