// check(): an internal invariant. A failure is a bug in Phaze, never bad input, so it stops the program and says where.
#pragma once

#include <source_location>
#include <string_view>

namespace phaze {

[[noreturn]] void check_failed(std::string_view what, const std::source_location& where);

inline void check(bool holds, std::string_view what,
                  const std::source_location& where = std::source_location::current()) {
  if (!holds) [[unlikely]]
    check_failed(what, where);
}

}  // namespace phaze
