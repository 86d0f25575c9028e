#include "phaze/schedule/testing/brute_force.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace phaze::schedule::testing {
namespace {

class Enumeration {
 public:
  explicit Enumeration(const Instance& instance)
      : instance_(instance), placed_(instance.size()), behind_(instance.size(), 0) {
    // As many rounds as the longest path can have edges.
    for (std::size_t round = 0; round < instance.size(); ++round)
      for (const Edge& edge : instance.edges) {
        double fastest = instance.duration(edge.to, 0);
        for (std::size_t m = 1; m < instance.mode_count(edge.to); ++m)
          fastest = std::min(fastest, instance.duration(edge.to, m));
        double& behind = behind_[edge.from.index()];
        behind = std::max(behind, fastest + behind_[edge.to.index()]);
      }
  }

  double run() {
    place_next();
    return best_;
  }

 private:
  struct Run {
    bool placed = false;
    std::size_t mode = 0;
    double start = 0, finish = 0;
  };

  bool free_to_start(std::size_t op, double& earliest) const {
    earliest = 0;
    for (const Edge& edge : instance_.edges) {
      if (edge.to.index() != op) continue;
      if (!placed_[edge.from.index()].placed) return false;
      earliest = std::max(earliest, placed_[edge.from.index()].finish);
    }
    return true;
  }

  // Nothing is overdrawn if `op` runs from `start` on: demand can only rise at its start and at starts within it.
  bool fits(std::size_t op, std::size_t mode, double start) const {
    const double finish = start + instance_.duration(OpId(op), mode);
    const auto overdrawn_at = [&](double moment) {
      for (std::size_t k = 0; k < instance_.resources.size(); ++k) {
        double held = instance_.demand(OpId(op), mode)[k];
        for (std::size_t j = 0; j < placed_.size(); ++j)
          if (placed_[j].placed && placed_[j].start <= moment && placed_[j].finish > moment)
            held += instance_.demand(OpId(j), placed_[j].mode)[k];
        if (held > instance_.resources[k].capacity * (1 + kCapacityTolerance)) return true;
      }
      return false;
    };
    if (overdrawn_at(start)) return false;
    for (const Run& run : placed_)
      if (run.placed && run.start > start && run.start < finish && overdrawn_at(run.start)) return false;
    return true;
  }

  // No resource can do its work in less time than this: chosen modes where chosen, the thriftiest ones elsewhere.
  double least_work() const {
    double most = 0;
    for (std::size_t k = 0; k < instance_.resources.size(); ++k) {
      if (instance_.resources[k].capacity <= 0) continue;
      double work = 0;
      for (std::size_t op = 0; op < placed_.size(); ++op) {
        const auto needs = [&](std::size_t mode) {
          return instance_.duration(OpId(op), mode) * instance_.demand(OpId(op), mode)[k];
        };
        double least = needs(placed_[op].mode);
        for (std::size_t mode = 0; mode < instance_.mode_count(OpId(op)) && !placed_[op].placed; ++mode)
          least = std::min(least, needs(mode));
        work += least;
      }
      most = std::max(most, work / instance_.resources[k].capacity);
    }
    // A hair less, so that rounding cannot cut off an optimum.
    return most * (1 - 1e-12);
  }

  void place_next() {
    bool complete = true;
    double makespan = 0;
    for (std::size_t op = 0; op < placed_.size(); ++op) {
      complete = complete && placed_[op].placed;
      // What is placed cannot end before the longest path behind it has been run.
      if (placed_[op].placed) makespan = std::max(makespan, placed_[op].finish + behind_[op]);
    }
    if (makespan >= best_ || least_work() >= best_) return;
    if (complete) {
      best_ = makespan;
      return;
    }
    for (std::size_t op = 0; op < placed_.size(); ++op) {
      double earliest = 0;
      if (placed_[op].placed || !free_to_start(op, earliest)) continue;
      for (std::size_t mode = 0; mode < instance_.mode_count(OpId(op)); ++mode) {
        double start = std::numeric_limits<double>::infinity();
        const double duration = instance_.duration(OpId(op), mode);
        if (duration == 0 || fits(op, mode, earliest)) start = earliest;
        for (const Run& run : placed_)
          if (run.placed && run.finish > earliest && run.finish < start && fits(op, mode, run.finish))
            start = run.finish;
        placed_[op] = {true, mode, start, start + duration};
        place_next();
        placed_[op] = {};
      }
    }
  }

  const Instance& instance_;
  std::vector<Run> placed_;
  std::vector<double> behind_;
  double best_ = std::numeric_limits<double>::infinity();
};

}  // namespace

double least_makespan(const Instance& instance) { return instance.size() == 0 ? 0 : Enumeration(instance).run(); }

}  // namespace phaze::schedule::testing
