#include "phaze/base/result.h"

namespace phaze {

std::string to_string(const Error& error) {
  std::string text = error.place.empty() ? error.message : error.place + ": " + error.message;
  if (!error.hint.empty()) text += " (" + error.hint + ")";
  return text;
}

Error within(std::string outer, Error error) {
  error.place = error.place.empty() ? std::move(outer) : std::move(outer) + ": " + error.place;
  return error;
}

}  // namespace phaze
