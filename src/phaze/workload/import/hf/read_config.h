// Hugging Face config.json, read as published, into a TransformerConfig.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "phaze/base/result.h"
#include "phaze/workload/transformer/config.h"

namespace phaze::workload::hf {

// The text of a config.json. Errors name the key; `name` becomes the model's name.
Result<TransformerConfig> parse_config(std::string_view text, std::string name);

// Errors also name the file. The model is named after the file's folder or stem.
Result<TransformerConfig> read_config(const std::filesystem::path& path);

// The values of "model_type" that are understood.
std::vector<std::string> known_families();

}  // namespace phaze::workload::hf
