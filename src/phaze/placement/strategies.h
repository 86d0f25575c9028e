// The strategies of a request, in groups that share a bound.
//
// A Family is a table, a pipeline depth and an interleaving. Within it, strategies differ in their replicas; those with
// equally many microbatches m form groups. Costs of a group are bounded together (StageCosts with `fewest`):
// collectives among more replicas take no less time than among fewer that lie as well as they can, and more replicas
// never have larger shares of the states. The first half needs care: in a torus, a group that fills another side gains
// links, and where an outer level is faster than an inner one, a group that is torn apart may gain, so there every
// number of replicas is a group of its own; and neighbouring stages that move apart may reach each other over another
// level of the network, so a group ends where they do.
#pragma once

#include <cstdint>
#include <vector>

#include "phaze/placement/plan.h"
#include "phaze/placement/training.h"

namespace phaze::placement {

struct Family {
  std::size_t table = 0;
  std::int64_t pipeline = 1;
  std::int64_t interleave = 1;
};

// From `fewest` to `most` replicas, with equally many microbatches.
struct Replicas {
  std::int64_t fewest = 1;
  std::int64_t most = 1;
  std::int64_t microbatches = 1;
};

class Strategies {
 public:
  explicit Strategies(const Request& request);

  const std::vector<Family>& families() const { return families_; }

  // The group with the most replicas, at most `limit` of them; false where the family has none.
  bool group(const Family& family, std::int64_t limit, Replicas& found) const;
  std::int64_t most_replicas(const Family& family) const;

  // Of all families.
  std::int64_t count() const;

  // Whether it can matter which of data and pipeline groups are neighbours.
  bool order_matters(const Family& family) const { return family.pipeline > 1 && !flat_; }

 private:
  std::int64_t groups_of(const LayerTable& table) const;
  bool alike(const Family& family, std::int64_t fewest, std::int64_t most) const;

  const Request* request_;
  bool flat_ = false;    // one level, a switch: all groups of a size are alike
  bool grouped_ = true;  // more replicas never communicate faster
  std::vector<Family> families_;
};

}  // namespace phaze::placement
