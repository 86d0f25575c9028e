#include "phaze/base/in_parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <new>
#include <vector>

namespace phaze {
namespace {

TEST(InParallel, everything_is_done_once_by_any_number_of_threads) {
  for (const unsigned threads : {0U, 1U, 2U, 7U})
    for (const std::size_t count : {0U, 1U, 5U, 1000U}) {
      std::vector<std::atomic<int>> done(count);
      in_parallel(threads, count, [&](std::size_t i) { ++done[i]; });
      for (const auto& times : done) EXPECT_EQ(times, 1) << threads << " threads, " << count;
    }
}

TEST(InParallel, what_one_thread_throws_the_caller_catches_and_the_rest_is_left_out) {
  for (const unsigned threads : {1U, 2U, 7U}) {
    constexpr std::size_t kCount = 100'000;
    std::atomic<std::size_t> done = 0;
    const auto work = [&](std::size_t i) {
      if (i == 10) throw std::bad_alloc();
      ++done;
    };
    EXPECT_THROW(in_parallel(threads, kCount, work), std::bad_alloc) << threads << " threads";
    EXPECT_GE(done, threads == 1 ? 10U : 0U);
    EXPECT_LT(done, kCount);
  }
}

}  // namespace
}  // namespace phaze
