#include "phaze/report/explorer/document_parts.h"

#include <cmath>

#include "phaze/report/explorer/document.h"
#include "phaze/report/json_text.h"

namespace phaze::report {

Json chip_part(const Json& chip, std::optional<double> area_um2) {
  Json part = Json::object();
  for (const char* key : {"name", "tensor_cores", "vector_cores", "glb_bytes", "hbm_bytes", "hbm_bandwidth", "clock_hz",
                          "process_nm", "peak_flops", "tdp_w", "tdp_by_part_w", "published"})
    part[key] = chip.contains(key) ? chip.at(key) : Json(nullptr);
  // Both models are in the chip's document; the one that the search counted with is known by its number.
  const double study = chip.value("area_um2", 0.0);
  const bool physical = !area_um2 || std::abs(*area_um2 - study) > 1e-9 * study;
  const std::string prefix = physical ? "physical_" : "";
  part["area_model"] = physical ? "physical" : "phaze22";
  part["area_um2"] = chip.value(prefix + "area_um2", 0.0);
  part["area_by_part_um2"] = chip.value(prefix + "area_by_part_um2", Json::object());
  return part;
}

std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3 && digits[at - 4] != '-';) digits.insert(at -= 3, ",");
  return digits;
}

std::string compact(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string command_text(const std::vector<std::string>& arguments) {
  std::string text = "phaze";
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    const bool plain = !argument.empty() && argument.find_first_of(" \t\n'\"\\$`*?(){}[]<>|&;!#~") == std::string::npos;
    text += ' ';
    if (plain) {
      text += argument;
      continue;
    }
    // Inside single quotes nothing is special but the single quote itself.
    text += '\'';
    for (const char letter : argument) letter == '\'' ? text += "'\\''" : text += letter;
    text += '\'';
  }
  return text;
}

}  // namespace phaze::report
