// Parts that documents of plans and of runs share.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace phaze::report {

inline constexpr const char* kDocumentFormat = "phaze-report/1";

// From the keys of `phaze chip show --json`. The area is that of `area_um2` if given, by whichever model it comes from.
nlohmann::ordered_json chip_part(const nlohmann::ordered_json& chip, std::optional<double> area_um2);

// "29,360".
std::string grouped(std::int64_t number);

// Without indentation; bytes that are not UTF-8 are replaced.
std::string compact(const nlohmann::ordered_json& json);

}  // namespace phaze::report
