// Progress of long work, and the request to stop it.
//
// A library function that may run for long takes a Progress&, tells it how far it is, and returns early when it says
// stop. The command line supplies one that draws a bar on a terminal and listens to Ctrl-C; NoProgress is for everyone
// else.
#pragma once

#include <cstdint>
#include <string_view>

namespace phaze {

class Progress {
 public:
  virtual ~Progress() = default;

  // `done` of `total` units of the work called `what`. Returns false when the work should stop.
  virtual bool advance(std::string_view what, std::int64_t done, std::int64_t total) = 0;

 protected:
  Progress() = default;
  Progress(const Progress&) = default;
  Progress& operator=(const Progress&) = default;
};

class NoProgress final : public Progress {
 public:
  bool advance(std::string_view, std::int64_t, std::int64_t) override { return true; }
};

}  // namespace phaze
