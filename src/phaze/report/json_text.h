// JSON documents as the command line prints them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace phaze::report {

using Json = nlohmann::ordered_json;  // keys in the order they are written

// Indented, ending in a line break; bytes that are not UTF-8 (file names may hold any) are replaced, not thrown on.
inline std::string text_of(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

}  // namespace phaze::report
