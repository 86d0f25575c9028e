#include "phaze/base/text_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace phaze {
namespace {

class TextFile : public testing::Test {
 protected:
  ~TextFile() override { std::filesystem::remove(path_); }
  const std::filesystem::path path_ =
      std::filesystem::temp_directory_path() / ("phaze_text_file_" + std::to_string(getpid()));
};

TEST_F(TextFile, is_read_to_its_last_byte) {
  for (const std::size_t size : {0UL, 1UL, 65535UL, 65536UL, 65537UL, 1000000UL}) {
    std::string text(size, '\0');
    for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i % 251);
    std::ofstream(path_, std::ios::binary) << text;
    const auto read = read_text_file(path_);
    ASSERT_TRUE(read);
    EXPECT_EQ(*read, text);
  }
}

TEST_F(TextFile, one_that_is_no_text_is_refused_by_name) {
  EXPECT_EQ(to_string(read_text_file("/nowhere/x").error()), "/nowhere/x: cannot be read: No such file or directory");
  EXPECT_EQ(to_string(read_text_file("/").error()), "/: is a folder, not a file");
  std::ofstream(path_).close();
  std::filesystem::resize_file(path_, kLargestTextFile);
  EXPECT_TRUE(read_text_file(path_));
  std::filesystem::resize_file(path_, kLargestTextFile + 1);
  EXPECT_EQ(to_string(read_text_file(path_).error()), path_.string() + ": is larger than 64 MiB (name another file)");
}

}  // namespace
}  // namespace phaze
