// One function per family: the keys of its config.json, in the vocabulary of TransformerConfig.
#pragma once

#include <span>
#include <string_view>

#include "phaze/workload/import/hf/config_reader.h"
#include "phaze/workload/transformer/config.h"

namespace phaze::workload::hf {

struct Family {
  std::string_view model_type;
  void (*read)(ConfigReader&, TransformerConfig&);
};

std::span<const Family> families();

}  // namespace phaze::workload::hf
