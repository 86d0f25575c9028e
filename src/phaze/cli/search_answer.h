// From the outcomes of searches to the answer that is printed and kept: chips, their plans, simulated, and why this
// chip. Both `search` and `compare` end with it.
#pragma once

#include <deque>
#include <vector>

#include "phaze/base/result.h"
#include "phaze/cli/search_request.h"
#include "phaze/report/search_report.h"
#include "phaze/search/search.h"

namespace phaze::cli {

struct Session;

// Plans with what they point to. It must outlive the answer.
using PlanStore = std::deque<search::ChipSearch::Planned>;

// `outcomes` are those of `search`: over all models first, then, with several, for each alone, as far as they were
// reached.
Result<report::SearchAnswer> make_answer(search::Search& search, const search::Problem& problem,
                                         const SearchRequest& request, std::vector<search::Outcome> outcomes,
                                         PlanStore& store, Session& session);

// Whether every search was reached and left no chip open.
bool settled(const report::SearchAnswer& answer, std::size_t models);

}  // namespace phaze::cli
