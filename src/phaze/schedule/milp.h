// A mixed-integer program and the engine behind it (CBC of COIN-OR). Only milp.cc knows which engine that is.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace phaze::schedule {

class Milp {
 public:
  struct Term {
    int column;
    double factor;
  };
  static constexpr double kInfinity = 1e30;

  int add_continuous(double lower, double upper, double cost = 0) { return add_column(lower, upper, cost, false); }
  int add_binary(double cost = 0) { return add_column(0, 1, cost, true); }
  void add_row(std::span<const Term> terms, double lower, double upper);
  void at_least(std::span<const Term> terms, double lower) { add_row(terms, lower, kInfinity); }
  void at_most(std::span<const Term> terms, double upper) { add_row(terms, -kInfinity, upper); }
  void equal(std::span<const Term> terms, double value) { add_row(terms, value, value); }

  std::size_t columns() const { return lower_.size(); }
  std::size_t rows() const { return row_lower_.size(); }

  struct Limits {
    double seconds = kInfinity;  // the engine looks at the clock between its steps, so it may take longer
    std::int64_t nodes = 0;      // 0: no limit
    double gap = 0;              // a solution that is dearer than the best one by no more than this share will do
    std::function<bool()> stopped = [] { return false; };  // asked between the engine's steps; true means end
  };
  struct Answer {
    bool found = false;           // `values` holds a solution
    bool proven_optimal = false;  // according to the engine, which is not always right: check what depends on it
    bool proven_infeasible = false;
    double objective = 0;
    double bound = -kInfinity;  // no solution costs less, according to the engine
    std::uint64_t nodes = 0;
    std::vector<double> values;
  };
  // Minimises. Prints nothing. The engine has process-wide state: one call at a time.
  Answer minimise(const Limits& limits) const;

 private:
  int add_column(double lower, double upper, double cost, bool integer);

  std::vector<double> lower_, upper_, cost_;
  std::vector<std::uint8_t> integer_;
  std::vector<std::size_t> row_begin_{0};
  std::vector<Term> terms_;
  std::vector<double> row_lower_, row_upper_;
};

}  // namespace phaze::schedule
