// Solutions of hard blocks, shared between threads: chips that differ in little ask for the same ones.
//
// What is found does not depend on who asked first, since a solution depends on the block, the goal and the budget
// alone; all are part of the key. Who asks for what another thread is about to solve waits for it.
//
//   BlockMemo::Question question(memo, key);
//   if (!question.answer()) question.settle(solve(...));
//   use(*question.answer());
#pragma once

#include <array>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "phaze/base/digest.h"
#include "phaze/schedule/block.h"

namespace phaze::schedule {

struct BlockResult {
  BlockSchedule schedule;
  Ticks lower_bound = 0;
  bool optimal = false;    // no schedule is shorter by more than was worth looking for (goal.h)
  std::uint64_t work = 0;  // that the search took, in units of a Stop; 0 where none was needed
};

class BlockMemo {
  struct Shard;

 public:
  // About a kilobyte per entry. A part that is full begins anew.
  explicit BlockMemo(std::size_t entries = std::size_t{1} << 16) : most_each_(1 + entries / kShards) {}

  // One who asks. Without an answer it is theirs to find; others wait until they have settled it, or gone.
  class Question {
   public:
    Question(BlockMemo& memo, const Digest& key);
    ~Question();
    Question(const Question&) = delete;
    Question& operator=(const Question&) = delete;

    const std::optional<BlockResult>& answer() const { return answer_; }
    void settle(const BlockResult& result);

   private:
    BlockMemo& memo_;
    Shard& shard_;
    Digest key_;
    std::optional<BlockResult> answer_;
    bool ours_ = false;
  };

 private:
  struct Shard {
    std::mutex mutex;
    std::condition_variable settled;
    std::unordered_map<Digest, std::optional<BlockResult>, Digest::Hash> results;  // empty while somebody looks for it
    std::size_t answers = 0;
  };
  static constexpr std::size_t kShards = 16;

  std::size_t most_each_;
  std::array<Shard, kShards> shards_;
};

}  // namespace phaze::schedule
