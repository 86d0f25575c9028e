#include "phaze/base/result.h"

#include <exception>
#include <new>

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

Error caught() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return {"not enough memory for this input"};
  } catch (const std::exception& exception) {
    return {std::string("cannot go on: ") + exception.what()};
  } catch (...) {
    return {"cannot go on"};
  }
}

}  // namespace phaze
