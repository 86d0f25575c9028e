#include "phaze/exports/quote.h"

#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <random>

namespace phaze::exports {
namespace {

const std::vector<std::string> kHostile = {"",
                                           "plain",
                                           "two words",
                                           "it's",
                                           "$(touch /tmp/x)",
                                           "`id`",
                                           "a;b&c|d>e<f",
                                           "\"quoted\"",
                                           "\\",
                                           "new\nline",
                                           "-n",
                                           "--json",
                                           "*?[a]",
                                           "~",
                                           "#hash",
                                           "'; rm -rf / #",
                                           "tab\t",
                                           "\x7f",
                                           "名前",
                                           "a'b\"c$d`e\\f!g",
                                           "<script>alert(1)</script>",
                                           "[x]\ny = 1"};

// What the shell makes of a word.
std::string through_the_shell(const std::string& word) {
  const std::string command = "printf %s " + word;
  std::string text;
  FILE* pipe = popen(command.c_str(), "r");
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) text += static_cast<char>(c);
  pclose(pipe);
  return text;
}

TEST(Quote, a_shell_reads_back_every_word) {
  for (const std::string& text : kHostile) {
    if (text == "-n" || text == "--json") continue;  // printf's own; as arguments of another program they are data
    EXPECT_EQ(through_the_shell(shell_word(text)), text);
  }
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    std::string text = "x";
    for (int i = 0; i < 12; ++i) text += static_cast<char>(1 + random() % 255);
    EXPECT_EQ(through_the_shell(shell_word(text)), text) << "round " << round;
  }
}

TEST(Quote, a_yaml_reader_reads_back_every_text) {
  for (const std::string& text : kHostile)
    EXPECT_EQ(YAML::Load("k: " + quoted_text(text))["k"].as<std::string>(), text);
}

TEST(Quote, a_quoted_text_holds_no_raw_control_character_and_no_open_quote) {
  for (const std::string& text : kHostile) {
    const std::string word = quoted_text(text);
    EXPECT_EQ(nlohmann::json::parse(word).get<std::string>(), text);
    for (const char c : word) EXPECT_FALSE(static_cast<unsigned char>(c) < 0x20 || c == '\x7f') << word;
  }
  EXPECT_TRUE(nlohmann::json::accept(quoted_text("not \xff UTF-8")));
}

TEST(Quote, a_comment_stays_on_its_line) {
  EXPECT_EQ(one_line("a\nb\r\tc"), "a b  c");
  EXPECT_EQ(one_line("a\xe2\x80\xa8\x62"), "a b");
  EXPECT_EQ(one_line("x\xff"), "x\xef\xbf\xbd");
}

TEST(Quote, a_field_of_csv_is_quoted_only_where_it_must_be) {
  EXPECT_EQ(csv_field("plain"), "plain");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("say \"hi\"\n"), "\"say \"\"hi\"\"\n\"");
}

}  // namespace
}  // namespace phaze::exports
