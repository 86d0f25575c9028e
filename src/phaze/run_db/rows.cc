#include "phaze/run_db/rows.h"

namespace phaze::run_db {

const char* to_string(RunStatus status) {
  switch (status) {
    case RunStatus::kRunning: return "running";
    case RunStatus::kStopped: return "stopped";
    case RunStatus::kFinished: return "finished";
  }
  return "";
}

}  // namespace phaze::run_db
