#include "phaze/schedule/block_memo.h"

namespace phaze::schedule {

BlockMemo::Question::Question(BlockMemo& memo, const Digest& key)
    : memo_(memo), shard_(memo.shards_[key.high % kShards]), key_(key) {
  std::unique_lock lock(shard_.mutex);
  while (true) {
    const auto [found, fresh] = shard_.results.try_emplace(key_);
    if (fresh) {
      ours_ = true;
      return;
    }
    if (found->second) {
      answer_ = found->second;
      return;
    }
    shard_.settled.wait(lock);
  }
}

void BlockMemo::Question::settle(const BlockResult& result) {
  answer_ = result;
  {
    const std::scoped_lock lock(shard_.mutex);
    if (shard_.answers >= memo_.most_each_) {
      std::erase_if(shard_.results, [](const auto& entry) { return entry.second.has_value(); });
      shard_.answers = 0;
    }
    shard_.results[key_] = result;
    ++shard_.answers;
  }
  ours_ = false;
  shard_.settled.notify_all();
}

BlockMemo::Question::~Question() {
  if (!ours_) return;
  {
    const std::scoped_lock lock(shard_.mutex);
    shard_.results.erase(key_);
  }
  shard_.settled.notify_all();
}

}  // namespace phaze::schedule
