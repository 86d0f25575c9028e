#include "phaze/schedule/milp.h"

// The engine's interface in C has no way to end a search from outside, but shows the model behind it to those who have
// included what that is made of.
// clang-format off
#include <coin/CbcEventHandler.hpp>
#include <coin/CbcModel.hpp>
#include <coin/CbcSolver.hpp>
#include <coin/OsiClpSolverInterface.hpp>
#define CBC_EXTERN_C
#include <coin/Cbc_C_Interface.h>
// clang-format on

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <limits>
#include <memory>
#include <mutex>
#include <string>

namespace phaze::schedule {
namespace {

// The engine takes Ctrl-C for itself, and at some moments forgets it. As long as this lives, one waits until it is let
// in, and then goes to whom it went before.
class Interrupts {
 public:
  Interrupts() {
    sigemptyset(&only_);
    sigaddset(&only_, SIGINT);
    sigaction(SIGINT, nullptr, &before_);
    pthread_sigmask(SIG_BLOCK, &only_, &mask_before_);
  }
  ~Interrupts() {
    sigaction(SIGINT, &before_, nullptr);
    pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
  }
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  void let_in() {
    sigset_t pending;
    if (sigpending(&pending) != 0 || sigismember(&pending, SIGINT) != 1) return;
    sigaction(SIGINT, &before_, nullptr);
    pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
    pthread_sigmask(SIG_BLOCK, &only_, nullptr);
    // What it goes to may want the next one to go elsewhere.
    sigaction(SIGINT, nullptr, &before_);
  }

 private:
  sigset_t only_{}, mask_before_{};
  struct sigaction before_ {};
};

// The engine makes copies of it for models of its own, and asks it after every node, cut and heuristic.
class Listener final : public CbcEventHandler {
 public:
  Listener(const std::function<bool()>& stopped, Interrupts& interrupts)
      : stopped_(&stopped), interrupts_(&interrupts) {}
  CbcEventHandler* clone() const override { return new Listener(*this); }
  CbcAction event(CbcEvent) override {
    interrupts_->let_in();
    if (!(*stopped_)()) return noAction;
    model_->sayEventHappened();
    return stop;
  }
  CbcAction event(CbcEvent which, void*) override { return event(which); }

 private:
  const std::function<bool()>* stopped_;
  Interrupts* interrupts_;
};

// All digits that matter, and no more.
std::string shortest_text(double value) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

}  // namespace

int Milp::add_column(double lower, double upper, double cost, bool integer) {
  lower_.push_back(lower);
  upper_.push_back(upper);
  cost_.push_back(cost);
  integer_.push_back(integer ? 1 : 0);
  return static_cast<int>(lower_.size() - 1);
}

void Milp::add_row(std::span<const Term> terms, double lower, double upper) {
  // The engine wants each column once per row.
  std::vector<Term> merged(terms.begin(), terms.end());
  std::ranges::sort(merged, {}, &Term::column);
  for (const Term& term : merged) {
    if (terms_.size() > row_begin_.back() && terms_.back().column == term.column)
      terms_.back().factor += term.factor;
    else
      terms_.push_back(term);
  }
  row_begin_.push_back(terms_.size());
  row_lower_.push_back(lower);
  row_upper_.push_back(upper);
}

Milp::Answer Milp::minimise(const Limits& limits) const {
  static std::mutex engine_in_use;
  const std::lock_guard lock(engine_in_use);
  if (limits.stopped()) return {};
  // The engine takes its matrix by columns.
  const int columns = static_cast<int>(lower_.size());
  const int rows = static_cast<int>(row_lower_.size());
  std::vector<int> begin(lower_.size() + 1, 0), index(terms_.size());
  std::vector<double> value(terms_.size());
  for (const Term& term : terms_) ++begin[static_cast<std::size_t>(term.column) + 1];
  for (std::size_t c = 0; c < lower_.size(); ++c) begin[c + 1] += begin[c];
  std::vector<int> next(begin.begin(), begin.end() - 1);
  for (std::size_t r = 0; r < row_lower_.size(); ++r)
    for (std::size_t t = row_begin_[r]; t < row_begin_[r + 1]; ++t) {
      const auto at = static_cast<std::size_t>(next[static_cast<std::size_t>(terms_[t].column)]++);
      index[at] = static_cast<int>(r);
      value[at] = terms_[t].factor;
    }

  const std::unique_ptr<Cbc_Model, decltype(&Cbc_deleteModel)> model(Cbc_newModel(), &Cbc_deleteModel);
  Cbc_setLogLevel(model.get(), 0);
  Cbc_setParameter(model.get(), "log", "0");
  Cbc_setParameter(model.get(), "slog", "0");
  Cbc_setParameter(model.get(), "printingOptions", "normal");
  Cbc_loadProblem(model.get(), columns, rows, begin.data(), index.data(), value.data(), lower_.data(), upper_.data(),
                  cost_.data(), row_lower_.data(), row_upper_.data());
  for (int c = 0; c < columns; ++c)
    if (integer_[static_cast<std::size_t>(c)] != 0) Cbc_setInteger(model.get(), c);
  Cbc_setObjSense(model.get(), 1);
  Cbc_setParameter(model.get(), "integerTolerance", "1e-9");
  Cbc_setParameter(model.get(), "primalTolerance", "1e-9");
  Cbc_setParameter(model.get(), "increment", "1e-7");
  Cbc_setParameter(model.get(), "ratioGap", shortest_text(limits.gap).c_str());
  Cbc_setParameter(model.get(), "allowableGap", "1e-9");
  Cbc_setParameter(model.get(), "randomSeed", "1");
  Cbc_setParameter(model.get(), "randomCbcSeed", "1");
  if (limits.seconds < kInfinity) {
    Cbc_setParameter(model.get(), "timeMode", "elapsed");
    Cbc_setParameter(model.get(), "seconds", std::to_string(std::max(0.01, limits.seconds)).c_str());
  }
  if (limits.nodes > 0)
    Cbc_setParameter(model.get(), "maxNodes",
                     std::to_string(std::min<std::int64_t>(limits.nodes, std::numeric_limits<int>::max() - 1)).c_str());
  Interrupts interrupts;
  Listener listener(limits.stopped, interrupts);
  model->model_->passInEventHandler(&listener);
  Cbc_solve(model.get());

  Answer answer;
  answer.proven_optimal = Cbc_isProvenOptimal(model.get()) != 0;
  answer.proven_infeasible = Cbc_isProvenInfeasible(model.get()) != 0;
  answer.nodes = static_cast<std::uint64_t>(std::max(0, Cbc_getNodeCount(model.get())));
  answer.bound = Cbc_getBestPossibleObjValue(model.get());
  const double* solution = Cbc_bestSolution(model.get());
  if (solution != nullptr && !answer.proven_infeasible) {
    answer.found = true;
    answer.values.assign(solution, solution + columns);
    answer.objective = 0;
    for (std::size_t c = 0; c < lower_.size(); ++c) answer.objective += cost_[c] * answer.values[c];
  }
  return answer;
}

}  // namespace phaze::schedule
