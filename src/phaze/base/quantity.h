// Quantities as people write them: "128MiB", "1200GB/s", "1.05GHz", "2us".
#pragma once

#include <string>
#include <string_view>

#include "phaze/base/result.h"
#include "phaze/base/units.h"

namespace phaze {

// Errors say what was expected, with an example; the caller adds the place.
Result<Bytes> parse_bytes(std::string_view text);              // B KiB MiB GiB TiB KB MB GB TB
Result<double> parse_bytes_per_second(std::string_view text);  // the same with /s
Result<double> parse_hertz(std::string_view text);             // Hz kHz MHz GHz
Result<double> parse_seconds(std::string_view text);           // s ms us ns
Result<double> parse_watts(std::string_view text);             // W kW
Result<double> parse_positive(std::string_view text);          // a plain number above zero
Result<std::int64_t> parse_count(std::string_view text);       // a positive whole number

}  // namespace phaze
