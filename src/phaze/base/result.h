// Result<T>: a value, or an Error that says what is wrong, where, and how to mend it.
//
// Bad input and a bad environment travel as Error; outcomes such as "infeasible" are fields of the value; bugs are
// check().
//
//   Result<Config> config = read_config(path);
//   if (!config) return config.error();
//   use(*config);
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "phaze/base/check.h"

namespace phaze {

struct Error {
  std::string message;     // what is wrong, one sentence without a full stop
  std::string place = {};  // file, key, flag or line: where it is wrong
  std::string hint = {};   // what would mend it

  bool operator==(const Error&) const = default;
};

// "place: message (hint)", the form in which people read it.
std::string to_string(const Error& error);

// The error seen from one level further out: `outer` becomes the first part of its place.
Error within(std::string outer, Error error);

// For borders that exceptions must not cross: what the one that is being handled says. To be called in a handler.
Error caught();

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}  // NOLINT(google-explicit-constructor): `return value;` is the point
  Result(Error error) : state_(std::move(error)) {}  // NOLINT(google-explicit-constructor): `return Error{...};` too

  explicit operator bool() const { return state_.index() == 0; }
  const T& operator*() const& { return value(); }
  T& operator*() & { return value(); }
  T&& operator*() && { return std::move(value()); }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }

  const Error& error() const {
    check(state_.index() == 1, "error() of a Result that holds a value");
    return std::get<1>(state_);
  }

 private:
  const T& value() const {
    check(state_.index() == 0, "value of a Result that holds an error");
    return std::get<0>(state_);
  }
  T& value() {
    check(state_.index() == 0, "value of a Result that holds an error");
    return std::get<0>(state_);
  }

  std::variant<T, Error> state_;
};

// Success without a value.
struct Done {
  bool operator==(const Done&) const = default;
};
using Status = Result<Done>;

}  // namespace phaze
