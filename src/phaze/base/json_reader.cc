#include "phaze/base/json_reader.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

namespace phaze {
namespace {

// No file needs more, and nesting is cut off before memory is at its mercy.
constexpr std::size_t kDeepest = 64;

// Follows the parser through the document, and keeps the first error.
template <typename Json>
class Walk {
 public:
  // Whether to go on keeping what is read.
  bool step(typename Json::parse_event_t event, const Json& value) {
    using Event = typename Json::parse_event_t;
    if (error_) return false;  // what is not kept is not followed to its end either
    switch (event) {
      case Event::object_start: enter(false); break;
      case Event::array_start: enter(true); break;
      case Event::key: name(value.template get_ref<const std::string&>()); break;
      case Event::object_end:
      case Event::array_end:
        path_.pop_back();
        pass();
        break;
      case Event::value: pass(); break;
    }
    return !error_;
  }

  const std::optional<Error>& error() const { return error_; }

  std::string place() const { return place(path_.size()); }

 private:
  struct Level {
    bool list = false;
    std::size_t index = 0;  // of a list's next element
    std::string key;        // of an object's next value
    std::unordered_set<std::string> keys;
  };

  void enter(bool list) {
    if (path_.size() == kDeepest) fail("is nested more than " + std::to_string(kDeepest) + " levels deep", "", "");
    path_.push_back({.list = list});
  }

  void name(const std::string& key) {
    Level& object = path_.back();
    if (!object.keys.insert(key).second)
      fail("key '" + key + "' is there twice", place(path_.size() - 1), "leave one of them out");
    object.key = key;
  }

  void pass() {
    if (!path_.empty() && path_.back().list) ++path_.back().index;
  }

  std::string place(std::size_t levels) const {
    std::string text;
    for (std::size_t i = 0; i < levels; ++i)
      text += path_[i].list ? "[" + std::to_string(path_[i].index) + "]" : (text.empty() ? "" : ".") + path_[i].key;
    return text;
  }

  void fail(std::string message, std::string place, std::string hint) {
    if (!error_) error_ = Error{std::move(message), std::move(place), std::move(hint)};
  }

  std::vector<Level> path_;
  std::optional<Error> error_;
};

// `byte` counts from 1.
std::string line_and_column(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(text.size(), byte > 0 ? byte - 1 : 0));
  const auto line_start = before.rfind('\n') + 1;  // of what is not found, 0
  return "line " + std::to_string(1 + std::ranges::count(before, '\n')) + ", column " +
         std::to_string(before.size() - line_start + 1);
}

}  // namespace

template <typename Json>
Result<Json> parse_json(std::string_view text) {
  Walk<Json> walk;
  try {
    Json document = Json::parse(text.begin(), text.end(), [&](int, typename Json::parse_event_t event, Json& value) {
      return walk.step(event, value);
    });
    if (walk.error()) return *walk.error();
    return document;
  } catch (const typename Json::parse_error& error) {
    if (walk.error()) return *walk.error();
    return Error{"is not valid JSON", line_and_column(text, error.byte)};
  } catch (const typename Json::out_of_range&) {
    if (walk.error()) return *walk.error();
    return Error{"holds a number that is too large", walk.place(), "numbers end at 1.8e308"};
  }
}

template <typename Json>
bool is_int64(const Json& value) {
  return value.is_number_integer() && (!value.is_number_unsigned() || value.template get<std::int64_t>() >= 0);
}

template Result<nlohmann::json> parse_json<nlohmann::json>(std::string_view text);
template Result<nlohmann::ordered_json> parse_json<nlohmann::ordered_json>(std::string_view text);
template bool is_int64(const nlohmann::json& value);
template bool is_int64(const nlohmann::ordered_json& value);

}  // namespace phaze
