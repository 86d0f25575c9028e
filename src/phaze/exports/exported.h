// A plan or a chip in another tool's format.
#pragma once

#include <string>
#include <vector>

namespace phaze::exports {

struct Exported {
  std::string text;
  // What the other tool cannot express, in sentences; they also stand in the text as comments.
  std::vector<std::string> notes;
};

}  // namespace phaze::exports
