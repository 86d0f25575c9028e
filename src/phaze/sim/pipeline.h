// One training iteration of a pipeline, event by event.
//
//   const Pipeline pipeline = pipeline_of(request, plan);   // from_plan.h, or read from a plan's file
//   const Run run = simulate(pipeline);
//
// Every device works through its list of passes in the order that 1F1B prescribes (interleaved where it has several
// chunks); a pass starts when the device is free and its input has arrived. A message takes the link between two
// neighbouring devices in one direction, one message at a time, and leaves both devices free. Gradients are reduced
// layer by layer behind a device's last backward pass, or after it; then come tied embeddings, which first and last
// device reduce together, the optimizer step, and new parameters.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "phaze/base/result.h"

namespace phaze::sim {

// Seconds and bytes of one microbatch.
struct Chunk {
  double forward = 0;
  double backward = 0;       // recompute included
  double send_forward = 0;   // to the device of the next chunk
  double send_backward = 0;  // to the device of the chunk before
  double kept_bytes = 0;     // from the start of its forward pass to the end of its backward pass
  std::int64_t layers = 1;
  bool operator==(const Chunk&) const = default;
};

struct Device {
  std::vector<Chunk> chunks;
  double reduce = 0;  // all its gradients
  double tied = 0;    // with the other end of the pipeline
  double step = 0;
  double gather = 0;           // new parameters, as far as the next iteration does not hide them
  double resident_bytes = 0;   // parameters, gradients, optimizer states
  double workspace_bytes = 0;  // while a pass runs
  bool operator==(const Device&) const = default;
};

struct Pipeline {
  std::vector<Device> devices;
  std::int64_t microbatches = 1;
  std::int64_t samples = 1;       // in a batch, of all replicas
  bool overlap_gradients = true;  // reduce behind the last backward pass
  bool operator==(const Pipeline&) const = default;
};

// Every pass is an event of its own, and every layer a step of the reduction: more would take minutes and all memory.
inline constexpr std::int64_t kMostPasses = 10'000'000;  // forward: microbatches x devices x chunks
inline constexpr std::int64_t kMostLayers = 1'000'000;   // of all chunks

// Devices with equally many chunks, times and sizes that are amounts (amount.h), some pass that takes time and a sample
// at least; interleaved: a multiple of the devices in microbatches. No more passes and layers than those.
Status validate(const Pipeline& pipeline);

enum class Activity : std::uint8_t { kForward, kBackward, kSendForward, kSendBackward, kReduce, kTied, kStep, kGather };

struct Event {
  Activity activity = Activity::kForward;
  std::int64_t device = 0;
  std::int64_t chunk = 0;
  std::int64_t microbatch = 0;
  double start = 0;
  double end = 0;
};

struct MemoryPoint {
  double seconds = 0;
  double bytes = 0;  // from then on
};

struct DeviceRun {
  double busy = 0;  // forward and backward passes
  double end = 0;
  double peak_bytes = 0;
  std::vector<MemoryPoint> memory;
};

struct Run {
  double seconds = 0;
  double pipeline_seconds = 0;  // up to the last backward pass
  double bubble_fraction = 0;   // of the devices' time up to there that no pass fills
  std::vector<DeviceRun> devices;
  std::vector<Event> events;  // in the order in which they were set off
};

// `pipeline` must pass validate().
Run simulate(const Pipeline& pipeline);

// The passes of one device in order: forward passes have `backward` false.
struct Pass {
  bool backward = false;
  std::int64_t chunk = 0;
  std::int64_t microbatch = 0;
  bool operator==(const Pass&) const = default;
};
std::vector<Pass> schedule(std::int64_t device, std::int64_t devices, std::int64_t chunks, std::int64_t microbatches);

}  // namespace phaze::sim
