// Typed access to the keys of a Hugging Face config.json, with errors that name the key.
//
// Reading goes on after the first error so that callers stay flat; the first error is kept and asked for at the end:
//
//   ConfigReader read(document);
//   config.hidden = read.size("hidden_size");
//   config.tied_embeddings = read.flag("tie_word_embeddings", true);
//   if (read.error()) return *read.error();
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "phaze/base/result.h"

namespace phaze::workload::hf {

class ConfigReader {
 public:
  explicit ConfigReader(const nlohmann::json& document) : document_(document) {}

  // A positive integer of at most 2^31. Several keys are alternatives, of which the first present counts.
  std::int64_t size(std::initializer_list<std::string_view> keys);
  std::int64_t size(std::string_view key) { return size({key}); }
  // The same, with a value for "absent or null".
  std::int64_t size(std::initializer_list<std::string_view> keys, std::int64_t otherwise);
  std::int64_t size(std::string_view key, std::int64_t otherwise) { return size({key}, otherwise); }

  // A number of layers: at most 65,536, because each becomes a node of the graph.
  std::int64_t layers(std::initializer_list<std::string_view> keys);

  bool flag(std::string_view key, bool otherwise);
  std::string text(std::string_view key, std::string_view otherwise);
  // A probability in [0, 1).
  double probability(std::string_view key, double otherwise);
  // A number in (0, 1].
  double fraction(std::string_view key, double otherwise);

  bool present(std::string_view key) const;  // and not null
  bool is_null(std::string_view key) const;  // written as null, which turns a default off
  // A reader of the object behind `key`; nothing if there is none. Its errors are its own.
  std::optional<ConfigReader> inside(std::string_view key) const;
  std::vector<std::string> texts(std::string_view key);
  std::size_t entries(std::string_view key) const;  // of an object or array; 0 if absent

  void fail(std::string_view key, std::string message, std::string hint = {});
  // `divisor_key` must divide `key`; both are already read.
  void must_divide(std::string_view key, std::int64_t value, std::string_view divisor_key, std::int64_t divisor);
  const std::optional<Error>& error() const { return error_; }

 private:
  const nlohmann::json* find(std::string_view key) const;
  std::int64_t checked_size(std::string_view key, const nlohmann::json& value);

  const nlohmann::json& document_;
  std::optional<Error> error_;
};

}  // namespace phaze::workload::hf
