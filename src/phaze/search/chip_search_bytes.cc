// A search as bytes, and back.
#include "phaze/search/chip_search.h"

namespace phaze::search {

void put(ByteWriter& writer, const std::optional<Evaluation>& evaluation) {
  writer.put(evaluation.has_value());
  if (!evaluation) return;
  writer.put(evaluation->seconds);
  writer.put(evaluation->least_seconds);
  writer.put(evaluation->configuration);
  writer.put(evaluation->strategy.table);
  writer.put(evaluation->strategy.pipeline);
  writer.put(evaluation->strategy.data_parallel);
  writer.put(evaluation->strategy.interleave);
  writer.put(evaluation->strategy.zero);
  writer.put(evaluation->strategy.order);
  writer.put(evaluation->peak_memory);
  writer.put(evaluation->effort);
}

std::optional<Evaluation> get_evaluation(ByteReader& reader) {
  if (reader.get<std::uint8_t>() == 0) return std::nullopt;
  Evaluation evaluation;
  evaluation.seconds = reader.get<double>();
  evaluation.least_seconds = reader.get<double>();
  evaluation.configuration = reader.get<std::size_t>();
  evaluation.strategy.table = reader.get<std::size_t>();
  evaluation.strategy.pipeline = reader.get<std::int64_t>();
  evaluation.strategy.data_parallel = reader.get<std::int64_t>();
  evaluation.strategy.interleave = reader.get<std::int64_t>();
  evaluation.strategy.zero = reader.get<int>();
  evaluation.strategy.order = reader.get<placement::Order>();
  evaluation.peak_memory = reader.get<double>();
  evaluation.effort = reader.get<std::uint32_t>();
  return evaluation;
}

// Every member that changes after construction belongs here: the tests end searches after a detour over bytes.
std::string ChipSearch::save() const {
  ByteWriter writer;
  writer.put(begun_);
  for (const std::vector<Entry>* entries : {&queue_, &unproven_}) {
    writer.put(entries->size());
    for (const Entry& entry : *entries) {
      writer.put(entry.seconds);
      writer.put(entry.configuration);
      writer.put(entry.level);
    }
  }
  put(writer, best_);
  writer.put(effort_);
  writer.put(again_);
  writer.put(failed_);
  writer.put(least_best_);
  writer.put(floor_);
  writer.put(level_);
  writer.put(least_seconds_);
  writer.put(infeasible_);
  put(writer, evaluation_);
  return writer.bytes();
}

std::optional<ChipSearch> ChipSearch::restore(const ModelProfile& profile, const hardware::Cluster& cluster,
                                              cost::Memo& memo, std::string_view saved) {
  ChipSearch search(profile, cluster, memo);
  ByteReader reader(saved);
  search.begun_ = reader.get<std::uint8_t>() != 0;
  for (std::vector<Entry>* entries : {&search.queue_, &search.unproven_}) {
    const auto size = reader.get<std::size_t>();
    if (size > profile.size()) return std::nullopt;
    for (std::size_t i = 0; i < size; ++i) {
      Entry entry;
      entry.seconds = reader.get<double>();
      entry.configuration = reader.get<std::uint32_t>();
      entry.level = reader.get<Level>();
      if (entry.configuration >= profile.size() || entry.level > Level::kSchedules) return std::nullopt;
      entries->push_back(entry);
    }
  }
  search.best_ = get_evaluation(reader);
  search.effort_ = reader.get<std::uint32_t>();
  search.again_ = reader.get<std::uint8_t>() != 0;
  search.failed_ = reader.get<double>();
  search.least_best_ = reader.get<double>();
  search.floor_ = reader.get<double>();
  search.level_ = reader.get<Level>();
  search.least_seconds_ = reader.get<double>();
  search.infeasible_ = reader.get<std::uint8_t>() != 0;
  search.evaluation_ = get_evaluation(reader);
  if (!reader.whole() || search.level_ > Level::kSchedules) return std::nullopt;
  for (const auto& evaluation : {search.best_, search.evaluation_})
    if (evaluation && evaluation->configuration >= profile.size()) return std::nullopt;
  return search;
}

}  // namespace phaze::search
