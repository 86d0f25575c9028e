#include "phaze/schedule/heaviest_antichain.h"

#include <algorithm>

namespace phaze::schedule {
namespace {

constexpr std::uint32_t kNobody = static_cast<std::uint32_t>(-1);
// Shares of the total weight below this are rounding errors.
constexpr double kNothing = 1e-13;

}  // namespace

template <std::size_t Words>
void HeaviestAntichain<Words>::prepare(const Block& block) {
  after_.resize(block.size);
  for (std::size_t i = 0; i < block.size; ++i) after_[i] = block.template set_of<Words>(block.after_row(i));
  joined_.assign(block.size * block.size, 0);
  joined_to_.assign(block.size, {});
  from_end_.resize(block.size);
  from_begin_.resize(block.size);
  work_ = 0;
}

template <std::size_t Words>
double HeaviestAntichain<Words>::find(std::span<const double> weights) {
  const std::size_t n = after_.size();
  ends_.assign(weights.begin(), weights.end());
  begins_.assign(weights.begin(), weights.end());
  heavy_ = {};
  double cover = 0;
  for (std::size_t i = 0; i < n; ++i) {
    joined_to_[i].for_each([&](std::size_t from) { joined_[from * n + i] = 0; });
    joined_to_[i] = {};
    cover += weights[i];
  }
  const double nothing = kNothing * cover;
  for (std::size_t i = 0; i < n; ++i)
    if (weights[i] > nothing) heavy_.insert(i);
  open_begins_ = heavy_;
  const auto join = [&](std::size_t from, std::size_t to, double amount) {
    joined_[from * n + to] += amount;
    joined_to_[to].insert(from);
  };
  const auto use_begin = [&](std::size_t to, double amount) {
    begins_[to] -= amount;
    if (begins_[to] <= nothing) open_begins_.erase(to);
  };
  // What can be joined at once.
  heavy_.for_each([&](std::size_t i) {
    (after_[i] & open_begins_).for_each([&](std::size_t j) {
      const double amount = std::min(ends_[i], begins_[j]);
      if (amount <= nothing) return;
      join(i, j, amount);
      ends_[i] -= amount;
      use_begin(j, amount);
      cover -= amount;
    });
  });
  // More, by joining others differently: breadth first from all ends that are left.
  double lost = static_cast<double>(n) * nothing;
  for (;;) {
    work_ += n;
    reached_ends_ = {};
    reached_begins_ = {};
    queue_.clear();
    heavy_.for_each([&](std::size_t i) {
      if (ends_[i] <= nothing) return;
      reached_ends_.insert(i);
      from_end_[i] = kNobody;
      queue_.push_back(static_cast<std::uint32_t>(i));
    });
    std::uint32_t found = kNobody;
    for (std::size_t at = 0; at < queue_.size() && found == kNobody; ++at) {
      const std::uint32_t i = queue_[at];
      const OpSet<Words> fresh = (after_[i] & heavy_) - reached_begins_;
      reached_begins_ = reached_begins_ | fresh;
      fresh.for_each([&](std::size_t j) {
        from_begin_[j] = i;
        if (open_begins_.contains(j)) {
          found = static_cast<std::uint32_t>(j);
          return;
        }
        (joined_to_[j] - reached_ends_).for_each([&](std::size_t other) {
          reached_ends_.insert(other);
          from_end_[other] = static_cast<std::uint32_t>(j);
          queue_.push_back(static_cast<std::uint32_t>(other));
        });
      });
    }
    if (found == kNobody) break;
    // How much the way back allows for.
    double amount = begins_[found];
    for (std::uint32_t j = found;;) {
      const std::uint32_t i = from_begin_[j];
      if (from_end_[i] == kNobody) {
        amount = std::min(amount, ends_[i]);
        break;
      }
      amount = std::min(amount, joined_[i * n + from_end_[i]]);
      j = from_end_[i];
    }
    use_begin(found, amount);
    for (std::uint32_t j = found;;) {
      const std::uint32_t i = from_begin_[j];
      join(i, j, amount);
      if (from_end_[i] == kNobody) {
        ends_[i] -= amount;
        break;
      }
      j = from_end_[i];
      double& back = joined_[i * n + j];
      back -= amount;
      if (back <= nothing) {
        back = 0;
        joined_to_[j].erase(i);
      }
    }
    cover -= amount;
    lost += nothing * static_cast<double>(n);
  }
  members_ = (heavy_ & reached_ends_) - reached_begins_;
  return cover + lost;
}

template class HeaviestAntichain<1>;
template class HeaviestAntichain<2>;
template class HeaviestAntichain<4>;

}  // namespace phaze::schedule
