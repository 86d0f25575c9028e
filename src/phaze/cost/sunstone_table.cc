#include "phaze/cost/sunstone_table.h"

namespace phaze::cost {

struct SunstoneTable::Row {
  std::once_flag filled;
  std::vector<double> cycles;
};

SunstoneTable::SunstoneTable(const std::vector<hardware::Chip>& chips) {
  for (const hardware::Chip& chip : chips)
    for (const std::int64_t cores : {std::int64_t{1}, chip.tensor_cores.count})
      arrays_.try_emplace(Array{cores, chip.tensor_cores.rows, chip.tensor_cores.cols, chip.global_buffer.value()}, 0);
  std::size_t place = 0;
  for (auto& [array, where] : arrays_) where = place++;
}

SunstoneTable::~SunstoneTable() = default;

SunstoneTable::Row& SunstoneTable::row(const Product& product) const {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Row>& row = rows_[product];
  if (row == nullptr) row = std::make_unique<Row>();
  return *row;
}

std::optional<double> SunstoneTable::least_cycles(std::int64_t n, std::int64_t c, std::int64_t k,
                                                  const hardware::Chip& chip, std::int64_t cores) const {
  const auto found = arrays_.find({cores, chip.tensor_cores.rows, chip.tensor_cores.cols, chip.global_buffer.value()});
  if (found == arrays_.end()) return std::nullopt;
  Row& answers = row({n, c, k});
  std::call_once(answers.filled, [&] {
    SunstoneMapper mapper(n, c, k);
    answers.cycles.reserve(arrays_.size());
    for (const auto& [array, where] : arrays_)
      answers.cycles.push_back(mapper.least_cycles({array[0], array[1], array[2], array[3]}));
  });
  return answers.cycles[found->second];
}

}  // namespace phaze::cost
