#include "phaze/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace phaze {

void check_failed(std::string_view what, const std::source_location& where) {
  std::fprintf(stderr, "phaze: internal error at %s:%u: %.*s\n", where.file_name(), where.line(),
               static_cast<int>(what.size()), what.data());
  std::abort();
}

}  // namespace phaze
