// The work of a search as messages: the least times of many chips at once, and one chip up a level.
//
// A chip's progress for a model is a value (ModelState) that travels with the task and comes back with the answer, so
// that any process can go on where another one stopped.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "phaze/search/chip_search.h"
#include "phaze/search/search.h"

namespace phaze::search {

// How far the search for one model on one chip has come.
struct ModelState {
  double least_seconds = 0;
  Level level = Level::kRoofline;
  bool infeasible = false;
  std::optional<Evaluation> evaluation;
  Standing standing;
  std::string saved;  // by ChipSearch; empty: it has not begun

  bool ended() const { return infeasible || evaluation.has_value(); }
};

// Rooflines of the chips [begin, end) for one model.
struct BoundTask {
  std::size_t model = 0;
  std::size_t begin = 0;
  std::size_t end = 0;
};
std::string encode(const BoundTask& task);
// Least seconds per batch, chip by chip.
std::vector<double> decode_bounds(const std::string& answer);

// One chip, until the bounds of all models are at the level, or it is clear that its score is below what is of use.
// With effort, where all of them have been evaluated, that is asked of all of them together (joint_goals.h).
struct RaiseTask {
  std::size_t chip = 0;
  Level level = Level::kRoofline;
  double least_useful = 0;  // score
  std::uint32_t effort = 0;
  std::vector<std::size_t> models;
  std::vector<const ModelState*> states;  // of the models
  std::vector<double> least_seconds;      // of the models, by what is known beside their states
};
std::string encode(const RaiseTask& task);
std::vector<ModelState> decode_states(const std::string& answer);

// Does the work. Threads may share it.
class ChipWorker {
 public:
  // The problem must outlive it.
  explicit ChipWorker(const Problem& problem);
  ~ChipWorker();

  std::string operator()(const std::string& task);

  // In full, whatever the bounds, from where it stands.
  ModelState evaluate(std::size_t chip, std::size_t model, const ModelState& state);
  // The plans of a chip that has one, the best first.
  ChipSearch::Planned plans(std::size_t chip, std::size_t model, const ModelState& state, std::size_t keep);
  // Why no plan of the model fits a chip with this memory; empty where one does.
  std::string reason(std::size_t chip, std::size_t model);
  // Restores what a database holds; nothing where it is damaged.
  std::optional<ModelState> restore(std::size_t chip, std::size_t model, std::string_view saved);

 private:
  hardware::Cluster cluster(std::size_t chip) const;
  ChipSearch search(const hardware::Cluster& devices, std::size_t model, std::string_view saved);
  std::string bounds(const std::string& task);
  std::string raise(const std::string& task);
  void raise_in_turn(const RaiseTask& task, std::vector<ChipSearch>& searches) const;
  void raise_with_effort(const RaiseTask& task, std::vector<ChipSearch>& searches) const;

  const Problem* problem_;
  cost::Memo memo_{std::size_t{1} << 22};
  std::shared_ptr<const cost::SunstoneTable> sunstone_;  // where a workload has the 2024 profile
  std::vector<ModelProfile> profiles_;
};

}  // namespace phaze::search
