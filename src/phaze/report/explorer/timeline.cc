#include "phaze/report/explorer/timeline.h"

#include <algorithm>
#include <utility>

#include "phaze/report/explorer/packed.h"
#include "phaze/report/json_text.h"

namespace phaze::report {
namespace {

using sim::Activity;
using sim::Event;

bool is_pass(const Event& event) {
  return event.activity == Activity::kForward || event.activity == Activity::kBackward;
}
bool is_message(const Event& event) {
  return event.activity == Activity::kSendForward || event.activity == Activity::kSendBackward;
}

// Microbatches first..last-1 that must go so that the passes of the others fit; empty where all fit.
std::pair<std::int64_t, std::int64_t> left_out(std::size_t passes, std::int64_t microbatches, std::size_t most) {
  if (passes <= most || microbatches < 3) return {0, 0};
  const std::size_t per_microbatch =
      (passes + static_cast<std::size_t>(microbatches) - 1) / static_cast<std::size_t>(microbatches);
  const auto kept = std::clamp<std::int64_t>(static_cast<std::int64_t>(most / per_microbatch), 2, microbatches);
  // More of the start, where the reader begins.
  const std::int64_t first = kept - kept / 3;
  return {first, microbatches - kept / 3};
}

}  // namespace

Json timeline_json(const sim::Pipeline& pipeline, const sim::Run& run, std::size_t most_events) {
  const auto passes = static_cast<std::size_t>(std::ranges::count_if(run.events, is_pass));
  const bool messages = run.events.size() <= most_events;
  const auto [first, last] = left_out(passes, pipeline.microbatches, most_events);
  std::vector<std::uint8_t> activity, chunk;
  std::vector<std::uint16_t> device, microbatch;
  std::vector<double> start, end;
  for (const Event& event : run.events) {
    if (event.end <= event.start || (is_message(event) && !messages)) continue;
    if ((is_pass(event) || is_message(event)) && event.microbatch >= first && event.microbatch < last) continue;
    activity.push_back(static_cast<std::uint8_t>(event.activity));
    device.push_back(static_cast<std::uint16_t>(event.device));
    microbatch.push_back(static_cast<std::uint16_t>(event.microbatch));
    chunk.push_back(static_cast<std::uint8_t>(event.chunk));
    start.push_back(event.start);
    end.push_back(event.end);
  }
  return {{"seconds", run.seconds},
          {"bubble_fraction", run.bubble_fraction},
          {"devices", pipeline.devices.size()},
          {"microbatches", pipeline.microbatches},
          {"chunks", pipeline.devices.empty() ? 1 : pipeline.devices.front().chunks.size()},
          {"activities", {"forward", "backward", "send_forward", "send_backward", "reduce", "tied", "step", "gather"}},
          {"left_out", last > first ? Json::array({first, last}) : Json(nullptr)},
          {"messages", messages},
          {"events", activity.size()},
          {"activity", packed_u8(activity)},
          {"device", packed_u16(device)},
          {"microbatch", packed_u16(microbatch)},
          {"chunk", packed_u8(chunk)},
          {"start", packed_f32(start)},
          {"end", packed_f32(end)}};
}

}  // namespace phaze::report
