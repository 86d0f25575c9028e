#include "phaze/base/json_reader.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <vector>

namespace phaze {
namespace {

using Json = nlohmann::ordered_json;

std::string refusal(const std::string& text) {
  const auto plain = parse_json<nlohmann::json>(text);
  const auto ordered = parse_json<Json>(text);
  EXPECT_EQ(static_cast<bool>(plain), static_cast<bool>(ordered));
  if (ordered) return "";
  EXPECT_EQ(plain.error(), ordered.error());
  return to_string(ordered.error());
}

TEST(JsonReader, what_is_wrong_is_said_with_its_place) {
  EXPECT_EQ(refusal(R"({"a": [1, {"b": null}], "c": {"a": "a"}})"), "");
  EXPECT_EQ(refusal(""), "line 1, column 1: is not valid JSON");
  EXPECT_EQ(refusal("{\n \"a\": NaN}"), "line 2, column 7: is not valid JSON");
  EXPECT_EQ(refusal(R"({"a": 1, "a": 2})"), "key 'a' is there twice (leave one of them out)");
  EXPECT_EQ(refusal(R"({"a": {"b": 1, "c": 2, "b": 1}})"), "a: key 'b' is there twice (leave one of them out)");
  EXPECT_EQ(refusal(R"([[], {}, 3, {"a": [0, {"b": {}, "b": 1}]}])"),
            "[3].a[1]: key 'b' is there twice (leave one of them out)");
  EXPECT_EQ(refusal(R"({"a": 1, "\u0061": 2})"), "key 'a' is there twice (leave one of them out)");
  EXPECT_EQ(refusal(R"({"a": [1, {"b": 1e999}]})"),
            "a[1].b: holds a number that is too large (numbers end at 1.8e308)");
  EXPECT_EQ(refusal(R"({"a": 1, "a": 2)"), "key 'a' is there twice (leave one of them out)") << "the first error";
  EXPECT_EQ(refusal(std::string(64, '[') + std::string(64, ']')), "");
  EXPECT_EQ(refusal(std::string(65, '[') + std::string(65, ']')), "is nested more than 64 levels deep");
}

TEST(JsonReader, a_whole_number_is_one_that_comes_back_as_it_was_written) {
  for (const char* text : {"0", "-1", "9223372036854775807", "-9223372036854775808"}) {
    const Json value = *parse_json<Json>(text);
    EXPECT_TRUE(is_int64(value)) << text;
    EXPECT_EQ(std::to_string(value.get<std::int64_t>()), text);
  }
  for (const char* text : {"9223372036854775808", "18446744073709551615", "1.5", "1e3", "true", "\"1\"", "null"})
    EXPECT_FALSE(is_int64(*parse_json<Json>(text))) << text;
}

// A random document; `objects` counts those that have a key.
Json random_document(std::mt19937_64& random, int depth, std::vector<Json::json_pointer>& objects,
                     const Json::json_pointer& here) {
  const auto kind = depth == 0 ? 2 + random() % 2 : random() % 4;
  if (kind == 3) return static_cast<int>(random() % 10);
  if (kind == 2) return "text";
  Json document = kind == 0 ? Json::object() : Json::array();
  const std::size_t size = random() % 4;
  if (kind == 0 && size > 0) objects.push_back(here);
  for (std::size_t i = 0; i < size; ++i) {
    if (kind == 0) {
      const std::string key = "k" + std::to_string(i);
      document[key] = random_document(random, depth - 1, objects, here / key);
    } else {
      document.push_back(random_document(random, depth - 1, objects, here / i));
    }
  }
  return document;
}

TEST(JsonReader, every_document_is_read_as_written_and_none_with_a_key_twice) {
  std::mt19937_64 random(1);
  int doubled = 0;
  for (int i = 0; i < 500; ++i) {
    std::vector<Json::json_pointer> objects;
    Json document = random_document(random, 4, objects, Json::json_pointer());
    const auto read = parse_json<Json>(document.dump(i % 3 - 1));
    ASSERT_TRUE(read) << document;
    ASSERT_EQ(*read, document);
    if (objects.empty()) continue;
    // The reader knows keys by their text alone, so one that is renamed in the text is there twice.
    document[objects[random() % objects.size()]]["twice"] = 0;
    std::string text = document.dump();
    text.replace(text.find("\"twice\""), 7, "\"k0\"");
    const auto refused = parse_json<Json>(text);
    ASSERT_FALSE(refused) << text;
    ASSERT_EQ(refused.error().message, "key 'k0' is there twice") << text;
    ++doubled;
  }
  EXPECT_GT(doubled, 100);
}

}  // namespace
}  // namespace phaze
