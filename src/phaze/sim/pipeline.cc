#include "phaze/sim/pipeline.h"

#include <algorithm>
#include <queue>

#include "phaze/base/check.h"

namespace phaze::sim {
namespace {

std::size_t at(std::int64_t value) { return static_cast<std::size_t>(value); }

class Simulation {
 public:
  explicit Simulation(const Pipeline& pipeline)
      : pipeline_(pipeline),
        p_(static_cast<std::int64_t>(pipeline.devices.size())),
        v_(static_cast<std::int64_t>(pipeline.devices.front().chunks.size())),
        m_(pipeline.microbatches) {
    states_.resize(at(p_));
    run_.devices.resize(at(p_));
    for (std::int64_t d = 0; d < p_; ++d) {
      states_[at(d)].passes = schedule(d, p_, v_, m_);
      states_[at(d)].memory = pipeline.devices[at(d)].resident_bytes + pipeline.devices[at(d)].workspace_bytes;
      states_[at(d)].arrived.assign(at(2 * v_ * m_), false);
      run_.devices[at(d)].memory.push_back({0, states_[at(d)].memory});
      run_.devices[at(d)].peak_bytes = states_[at(d)].memory;
    }
    for (std::int64_t i = 0; i < m_; ++i) arrived(0, {false, 0, i}) = true;
  }

  Run run() {
    for (std::int64_t d = 0; d < p_; ++d) start_next(d, 0);
    while (!queue_.empty()) {
      const Happening next = queue_.top();
      queue_.pop();
      if (next.message)
        arrive(next);
      else
        finish(next);
    }
    for (const State& state : states_)
      check(state.next == state.passes.size(), "a simulated pipeline came to a standstill");
    end();
    return std::move(run_);
  }

 private:
  struct State {
    std::vector<Pass> passes;
    std::size_t next = 0;
    bool working = false;
    double memory = 0;
    double link_free[2] = {0, 0};  // forward, backward
    std::vector<bool> arrived;     // by direction, chunk, microbatch
    double last_pass_end = 0;
    std::vector<std::size_t> last_backward;  // events of the last microbatch, by chunk as they came
  };
  struct Happening {
    double time = 0;
    std::int64_t number = 0;  // of equal times the earlier made comes first
    bool message = false;
    std::int64_t device = 0;
    Pass pass;
    bool operator>(const Happening& other) const {
      return time != other.time ? time > other.time : number > other.number;
    }
  };

  std::vector<bool>::reference arrived(std::int64_t device, const Pass& pass) {
    return states_[at(device)].arrived[at(((pass.backward ? 1 : 0) * v_ + pass.chunk) * m_ + pass.microbatch)];
  }
  void happen(double time, bool message, std::int64_t device, const Pass& pass) {
    queue_.push({time, number_++, message, device, pass});
  }
  void record(Activity activity, std::int64_t device, const Pass& pass, double start, double end) {
    run_.events.push_back({activity, device, pass.chunk, pass.microbatch, start, end});
  }
  void remember(std::int64_t device, double time, double change) {
    State& state = states_[at(device)];
    state.memory += change;
    DeviceRun& seen = run_.devices[at(device)];
    seen.memory.push_back({time, state.memory});
    seen.peak_bytes = std::max(seen.peak_bytes, state.memory);
  }

  void start_next(std::int64_t device, double now) {
    State& state = states_[at(device)];
    if (state.working || state.next == state.passes.size()) return;
    const Pass pass = state.passes[state.next];
    if (!arrived(device, pass)) return;
    const Chunk& chunk = pipeline_.devices[at(device)].chunks[at(pass.chunk)];
    const double seconds = pass.backward ? chunk.backward : chunk.forward;
    ++state.next;
    state.working = true;
    if (!pass.backward) remember(device, now, chunk.kept_bytes);
    if (pass.backward && pass.microbatch == m_ - 1) state.last_backward.push_back(run_.events.size());
    record(pass.backward ? Activity::kBackward : Activity::kForward, device, pass, now, now + seconds);
    run_.devices[at(device)].busy += seconds;
    happen(now + seconds, false, device, pass);
  }

  void finish(const Happening& done) {
    State& state = states_[at(done.device)];
    state.working = false;
    state.last_pass_end = done.time;
    const Chunk& chunk = pipeline_.devices[at(done.device)].chunks[at(done.pass.chunk)];
    if (done.pass.backward) remember(done.device, done.time, -chunk.kept_bytes);
    send(done, chunk);
    start_next(done.device, done.time);
  }

  // Results go to the neighbour; from the last chunk the loss turns round at once.
  void send(const Happening& done, const Chunk& chunk) {
    const Pass& pass = done.pass;
    const bool first = done.device == 0 && pass.chunk == 0;
    const bool last = done.device == p_ - 1 && pass.chunk == v_ - 1;
    if (!pass.backward && last) {
      arrived(done.device, {true, pass.chunk, pass.microbatch}) = true;
      return;
    }
    if (pass.backward && first) return;
    std::int64_t to = done.device + (pass.backward ? -1 : 1);
    std::int64_t to_chunk = pass.chunk;
    if (to == p_) {
      to = 0;
      ++to_chunk;
    } else if (to < 0) {
      to = p_ - 1;
      --to_chunk;
    }
    const double seconds = pass.backward ? chunk.send_backward : chunk.send_forward;
    double& link = states_[at(done.device)].link_free[pass.backward ? 1 : 0];
    const double start = std::max(link, done.time);
    link = start + seconds;
    if (to != done.device && seconds > 0)
      record(pass.backward ? Activity::kSendBackward : Activity::kSendForward, done.device, pass, start, link);
    happen(link, true, to, {pass.backward, to_chunk, pass.microbatch});
  }

  void arrive(const Happening& message) {
    arrived(message.device, message.pass) = true;
    start_next(message.device, message.time);
  }

  // Reduction of gradients: in equal parts for all layers, each part when its layer's last backward pass is over.
  double reduce_end(std::int64_t d) {
    const Device& device = pipeline_.devices[at(d)];
    if (device.reduce == 0) return states_[at(d)].last_pass_end;
    double layers = 0;
    for (const Chunk& chunk : device.chunks) layers += static_cast<double>(chunk.layers);
    const double part = device.reduce / layers;
    double free = 0, start = -1;
    for (const std::size_t number : states_[at(d)].last_backward) {
      const Event& event = run_.events[number];
      const auto own = static_cast<double>(device.chunks[at(event.chunk)].layers);
      for (double done = 1; done <= own; ++done) {
        const double ready = pipeline_.overlap_gradients ? event.start + (event.end - event.start) * done / own
                                                         : states_[at(d)].last_pass_end;
        if (start < 0) start = ready;
        free = std::max(free, ready) + part;
      }
    }
    record(Activity::kReduce, d, {}, start, free);
    return std::max(free, states_[at(d)].last_pass_end);
  }

  void end() {
    for (const State& state : states_) run_.pipeline_seconds = std::max(run_.pipeline_seconds, state.last_pass_end);
    double busy = 0;
    for (const DeviceRun& device : run_.devices) busy += device.busy;
    run_.bubble_fraction = 1 - busy / (static_cast<double>(p_) * run_.pipeline_seconds);
    std::vector<double> free(at(p_));
    for (std::int64_t d = 0; d < p_; ++d) free[at(d)] = reduce_end(d);
    const auto step = [&](Activity activity, std::int64_t d, double seconds) {
      if (seconds == 0) return;
      record(activity, d, {}, free[at(d)], free[at(d)] + seconds);
      free[at(d)] += seconds;
    };
    // Both ends wait for each other.
    if (p_ > 1 && pipeline_.devices.front().tied > 0) free.front() = free.back() = std::max(free.front(), free.back());
    for (std::int64_t d = 0; d < p_; ++d) {
      const Device& device = pipeline_.devices[at(d)];
      step(Activity::kTied, d, device.tied);
      step(Activity::kStep, d, device.step);
      step(Activity::kGather, d, device.gather);
      run_.devices[at(d)].end = free[at(d)];
      run_.seconds = std::max(run_.seconds, free[at(d)]);
    }
  }

  const Pipeline& pipeline_;
  std::int64_t p_, v_, m_;
  std::vector<State> states_;
  std::priority_queue<Happening, std::vector<Happening>, std::greater<>> queue_;
  std::int64_t number_ = 0;
  Run run_;
};

}  // namespace

std::vector<Pass> schedule(std::int64_t device, std::int64_t devices, std::int64_t chunks, std::int64_t microbatches) {
  const std::int64_t total = microbatches * chunks;
  const std::int64_t behind = devices - 1 - device;
  // Interleaved (Narayanan et al. 2021): rounds of one microbatch per device and chunk.
  const std::int64_t ahead = std::min(total, chunks == 1 ? behind : 2 * behind + (chunks - 1) * devices);
  const auto pass = [&](bool backward, std::int64_t number) {
    if (chunks == 1) return Pass{backward, 0, number};
    const std::int64_t round = devices * chunks;
    const std::int64_t chunk = number % round / devices;
    return Pass{backward, backward ? chunks - 1 - chunk : chunk, number / round * devices + number % devices};
  };
  std::vector<Pass> passes;
  passes.reserve(at(2 * total));
  for (std::int64_t i = 0; i < ahead; ++i) passes.push_back(pass(false, i));
  for (std::int64_t i = ahead; i < total; ++i) {
    passes.push_back(pass(false, i));
    passes.push_back(pass(true, i - ahead));
  }
  for (std::int64_t i = total - ahead; i < total; ++i) passes.push_back(pass(true, i));
  return passes;
}

Run simulate(const Pipeline& pipeline) { return Simulation(pipeline).run(); }

}  // namespace phaze::sim
