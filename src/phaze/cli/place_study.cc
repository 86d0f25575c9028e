#include "phaze/cli/place_study.h"

#include <optional>
#include <vector>

#include "phaze/base/check.h"
#include "phaze/cli/flags.h"
#include "phaze/cli/session.h"
#include "phaze/layer_times/study.h"
#include "phaze/placement/phaze2024/solve.h"
#include "phaze/report/placement_report.h"

namespace phaze::cli {

Status check_study_flags(const CLI::App& place) {
  const std::string study = "--options phaze";
  if (const Status none =
          none_given(place,
                     {"--pipeline", "--data-parallel", "--interleave", "--order", "--gradient-bits", "--no-overlap",
                      "--exhaustive", "--top", "--front", "--plan", "--trace", "--report"},
                     study);
      !none)
    return none;
  const auto must_be = [&](const char* name, std::initializer_list<std::string_view> allowed) -> Status {
    if (place.count(name) == 0) return Done{};
    const std::string& given = place.get_option(name)->results().back();
    std::string list;
    for (const std::string_view one : allowed) {
      if (one == given) return Done{};
      list += (list.empty() ? "" : ", ") + std::string(one);
    }
    return Error{"the problem of 2024 has no such choice", name, "leave it out, or give one of " + list};
  };
  if (const Status fine = must_be("--optimizer", {"sgd", "adam"}); !fine) return fine;
  if (const Status fine = must_be("--recompute", {"auto", "none", "full"}); !fine) return fine;
  if (const Status fine = must_be("--sequence-parallel", {"off", "auto"}); !fine) return fine;
  return must_be("--zero", {"auto", "0"});
}

void place_as_in_2024(const layer_times::PlanProblem& problem, const hardware::Cluster& cluster,
                      std::size_t stage_limit, Session& session) {
  namespace p2024 = placement::phaze2024;
  const auto cases = layer_times::study_cases(problem.request);
  check(!cases.empty(), "flags that leave the problem of 2024 no choice are refused");
  std::optional<std::size_t> best;
  std::vector<p2024::Solution> solutions;
  for (const layer_times::StudyCase& one : cases) {
    if (const Status valid = p2024::validate(one.instance); !valid) return session.fail(valid.error());
    solutions.push_back(p2024::solve(one.instance, {.stage_limit = stage_limit}, session.progress));
    const p2024::Solution& found = solutions.back();
    if (found.termination == p2024::Termination::kStopped) return session.fail({"stopped"});
    if (!found.plan) continue;
    if (!best || found.evaluation.time_per_batch < solutions[*best].evaluation.time_per_batch)
      best = solutions.size() - 1;
  }
  if (!best) session.exit_code = kInfeasible;
  const std::size_t chosen = best.value_or(0);
  const auto batch = static_cast<double>(problem.request.training.global_batch);
  const report::ModelFigures figures{.model = problem.model,
                                     .samples = batch,
                                     .tokens = batch * static_cast<double>(problem.sequence),
                                     .flops = batch * problem.flops_per_sample,
                                     .peak_flops = cluster.chip.peak_flops() * static_cast<double>(cluster.devices),
                                     .microbatch = cases[chosen].microbatch};
  session.answer(session.json ? report::placement_json(cases[chosen].instance, solutions[chosen], figures)
                              : report::placement_text(cases[chosen].instance, solutions[chosen]));
}

}  // namespace phaze::cli
