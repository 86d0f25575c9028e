// JSON that people write, read strictly. Of a key that is there twice other readers take the last, and nobody learns
// that the first was in vain.
//
//   const auto document = parse_json<nlohmann::json>(text);
//   if (!document) return within(path, document.error());
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "phaze/base/result.h"

namespace phaze {

// For nlohmann::json and nlohmann::ordered_json. The place of an error is a line and column where the text is no JSON,
// and otherwise a path such as ops[3].modes[0].
template <typename Json>
Result<Json> parse_json(std::string_view text);

// Whether it is a whole number that std::int64_t holds: 2^63 and more would come back negative.
template <typename Json>
bool is_int64(const Json& value);

}  // namespace phaze
