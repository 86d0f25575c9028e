// One chip at a time, in full: what the exact search spends only on chips that its bounds cannot rule out.
//
//   ChipEvaluator evaluator(problem);
//   evaluator.throughput(chip, 0);
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "phaze/search/search.h"

namespace phaze::search {

class ChipEvaluator {
 public:
  // The problem must outlive it. Of its chips, which need not be those that are asked about, only their kind matters,
  // and with the 2024 profile a table that makes them fast.
  explicit ChipEvaluator(const Problem& problem);
  ~ChipEvaluator();

  // Samples per second of a model with its best plan on the chip; 0 where no plan fits.
  double throughput(const hardware::Chip& chip, std::size_t model);
  // What the problem is to maximise, over these models; 0 where one of them has no plan.
  double score(const hardware::Chip& chip, const std::vector<std::size_t>& models);
  // At least so much, at a fraction of the effort: to compare many chips.
  double quick_score(const hardware::Chip& chip, const std::vector<std::size_t>& models);
  // The best plan and the request behind it.
  std::optional<ChipSearch::Planned> plan(const hardware::Chip& chip, std::size_t model);

 private:
  ChipSearch evaluated(const hardware::Cluster& cluster, std::size_t model);
  template <typename Evaluate>
  double score(const hardware::Chip& chip, const std::vector<std::size_t>& models, Evaluate&& evaluate);

  const Problem* problem_;
  cost::Memo memo_{std::size_t{1} << 19};
  std::shared_ptr<const cost::SunstoneTable> sunstone_;
  std::vector<ModelProfile> profiles_;
  std::vector<ModelProfile> quick_profiles_;  // empty before they are needed
};

}  // namespace phaze::search
