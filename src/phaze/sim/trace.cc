#include "phaze/sim/trace.h"

#include <fmt/format.h>

#include <iterator>

namespace phaze::sim {
namespace {

enum Track : int { kPasses = 0, kMessagesForward = 1, kMessagesBackward = 2, kReplicas = 3 };

Track track(Activity activity) {
  switch (activity) {
    case Activity::kForward:
    case Activity::kBackward:
    case Activity::kStep: return kPasses;
    case Activity::kSendForward: return kMessagesForward;
    case Activity::kSendBackward: return kMessagesBackward;
    case Activity::kReduce:
    case Activity::kTied:
    case Activity::kGather: return kReplicas;
  }
  return kPasses;
}

std::string name(const Event& event, bool interleaved) {
  const std::string number =
      std::to_string(event.microbatch + 1) + (interleaved ? "." + std::to_string(event.chunk + 1) : std::string());
  switch (event.activity) {
    case Activity::kForward: return "forward " + number;
    case Activity::kBackward: return "backward " + number;
    case Activity::kSendForward: return "activations " + number;
    case Activity::kSendBackward: return "gradients " + number;
    case Activity::kReduce: return "reduce gradients";
    case Activity::kTied: return "reduce tied embeddings";
    case Activity::kStep: return "optimizer step";
    case Activity::kGather: return "gather parameters";
  }
  return "";
}

}  // namespace

std::string trace_json(const Run& run) {
  constexpr double kMicro = 1e6;
  constexpr const char* kTracks[] = {"passes", "messages forward", "messages backward", "replicas"};
  std::string text = "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [";
  auto out = std::back_inserter(text);
  bool first = true;
  const auto next = [&] {
    text += first ? "\n" : ",\n";
    first = false;
  };
  bool interleaved = false;
  for (const Event& event : run.events) interleaved = interleaved || event.chunk > 0;
  for (std::size_t d = 0; d < run.devices.size(); ++d) {
    next();
    fmt::format_to(out, R"({{"ph": "M", "pid": {}, "name": "process_name", "args": {{"name": "stage {}"}}}})", d,
                   d + 1);
    for (int t = kPasses; t <= kReplicas; ++t) {
      next();
      fmt::format_to(out, R"({{"ph": "M", "pid": {}, "tid": {}, "name": "thread_name", "args": {{"name": "{}"}}}})", d,
                     t, kTracks[t]);
    }
    for (const MemoryPoint& point : run.devices[d].memory) {
      next();
      fmt::format_to(out, R"({{"ph": "C", "pid": {}, "name": "memory", "ts": {:.3f}, "args": {{"bytes": {:.0f}}}}})", d,
                     point.seconds * kMicro, point.bytes);
    }
  }
  for (const Event& event : run.events) {
    next();
    fmt::format_to(out, R"({{"ph": "X", "pid": {}, "tid": {}, "name": "{}", "ts": {:.3f}, "dur": {:.3f}}})",
                   event.device, static_cast<int>(track(event.activity)), name(event, interleaved),
                   event.start * kMicro, (event.end - event.start) * kMicro);
  }
  text += "\n]}\n";
  return text;
}

}  // namespace phaze::sim
