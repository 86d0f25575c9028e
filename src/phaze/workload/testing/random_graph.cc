#include "phaze/workload/testing/random_graph.h"

#include <array>
#include <random>

namespace phaze::workload::testing {

OpGraph random_layer(std::uint64_t seed, int most_ops) {
  std::mt19937_64 random(seed);
  const auto pick = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  constexpr std::int64_t kRows = 8;
  constexpr std::int64_t kCols = 16;
  constexpr std::int64_t kElements = kRows * kCols;
  OpGraphBuilder builder;
  std::vector<TensorId> made = {builder.tensor({.elements = kElements, .role = TensorRole::kInput})};
  const auto any = [&] { return made[static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(made.size()) - 1))]; };
  const auto weight = [&](std::int64_t elements) {
    return builder.tensor({.elements = elements, .role = TensorRole::kParameter});
  };
  const std::int64_t ops = pick(1, most_ops);
  for (std::int64_t i = 0; i < ops; ++i) {
    const std::string name = "op" + std::to_string(i);
    const auto vector = [&](VectorOp op) { return Work(VectorWork{.op = op, .rows = kRows, .cols = kCols}); };
    const Tensor result{.elements = kElements};
    switch (pick(0, 8)) {
      case 0:
        made.push_back(
            builder.emit(name, Work(Gemm{.m = kRows, .n = kCols, .k = kCols}), {any(), weight(kCols * kCols)}, result));
        break;
      case 1:
        made.push_back(builder.emit(name, Work(Gemm{.m = kRows, .n = kCols, .k = kCols}),
                                    {any(), weight(kCols * kCols), weight(kCols)}, result));
        break;
      case 2: {  // rows x rows scores, then back
        const TensorId scores = builder.emit(name + ".scores", Work(Gemm{.m = kRows, .n = kRows, .k = kCols}),
                                             {any(), any()}, {.elements = kRows * kRows});
        made.push_back(
            builder.emit(name + ".back", Work(Gemm{.m = kRows, .n = kCols, .k = kRows}), {scores, any()}, result));
        break;
      }
      case 3: made.push_back(builder.emit(name, vector(VectorOp::kGelu), {any()}, result)); break;
      case 4: made.push_back(builder.emit(name, vector(VectorOp::kAdd), {any(), any()}, result)); break;
      case 5: made.push_back(builder.emit(name, vector(VectorOp::kMul), {any(), any()}, result)); break;
      case 6:
        made.push_back(builder.emit(name, vector(VectorOp::kLayerNorm), {any(), weight(kCols), weight(kCols)}, result));
        break;
      case 7: {
        const std::array outputs = {builder.tensor(result),
                                    builder.tensor({.elements = kElements, .type = ElementType::kBool})};
        builder.op(name, Op{.work = vector(VectorOp::kDropout)}, std::array{any()}, outputs);
        made.push_back(outputs[0]);
        break;
      }
      default: made.push_back(builder.emit(name, Work(View{}), {any()}, result)); break;
    }
  }
  builder.edit(made.back()).output = true;
  return std::move(builder).build();
}

std::vector<std::vector<bool>> reachability(const OpGraph& graph) {
  std::vector<std::vector<bool>> reach(graph.size(), std::vector<bool>(graph.size()));
  for (std::size_t i = graph.size(); i-- > 0;)
    for (const OpId next : graph.successors(OpId(i))) {
      reach[i][next.index()] = true;
      for (std::size_t j = 0; j < graph.size(); ++j)
        if (reach[next.index()][j]) reach[i][j] = true;
    }
  return reach;
}

}  // namespace phaze::workload::testing
