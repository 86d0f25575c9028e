#include "phaze/workload/op.h"

#include <fmt/format.h>

#include "phaze/base/hash.h"

namespace phaze::workload {
namespace {

template <typename... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <typename... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

std::uint64_t word(std::int64_t value) { return static_cast<std::uint64_t>(value); }
template <typename Enum>
std::uint64_t code(Enum value) {
  return static_cast<std::uint64_t>(value);
}

}  // namespace

bool is_nop(const Work& work) {
  if (const auto* collective = std::get_if<Collective>(&work)) return collective->kind == CollectiveKind::kNone;
  return std::holds_alternative<View>(work);
}

double visible_keys(const Attention& attention) {
  const auto queries = static_cast<double>(attention.query_length);
  const auto keys = static_cast<double>(attention.key_length);
  double seen = keys;
  if (attention.causal) {
    // The last query sees all keys, each one before it one less, as long as there are any.
    const double first = std::max(0.0, keys - queries);
    const double blind = std::max(0.0, queries - keys);
    seen = (queries - blind) * (first + 1 + keys) / 2 / queries;
    if (queries <= keys) seen = (first + 1 + keys) / 2;
  }
  if (attention.window > 0) seen = std::min(seen, static_cast<double>(attention.window));
  return seen;
}

double useful_flops(const Work& work) {
  const auto* attention = std::get_if<Attention>(&work);
  if (attention == nullptr) return static_cast<double>(matrix_flops(work).value());
  const auto real = [](std::int64_t value) { return static_cast<double>(value); };
  const double products = attention->backward ? 4 : 2;
  return 2 * products * real(attention->batch) * real(attention->heads) * real(attention->query_length) *
         visible_keys(*attention) * real(attention->head_dim);
}

Flops matrix_flops(const Work& work) {
  if (const auto* gemm = std::get_if<Gemm>(&work))
    return Flops(saturating_product({2, gemm->batch, gemm->m, gemm->n, gemm->k}));
  if (const auto* attention = std::get_if<Attention>(&work)) {
    const std::int64_t products = attention->backward ? 5 : 2;
    return Flops(saturating_product({2 * products, attention->batch, attention->heads, attention->query_length,
                                     attention->key_length, attention->head_dim}));
  }
  return Flops(0);
}

std::string_view to_string(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kNone: return "none";
    case CollectiveKind::kAllReduce: return "all_reduce";
    case CollectiveKind::kAllGather: return "all_gather";
    case CollectiveKind::kReduceScatter: return "reduce_scatter";
  }
  return "?";
}

std::string_view kind_name(const Work& work) {
  if (is_nop(work)) return "nop";
  return std::visit(Overloaded{
                        [](const Gemm&) { return "gemm"; },
                        [](const VectorWork&) { return "vector"; },
                        [](const Attention&) { return "attention"; },
                        [](const Collective&) { return "collective"; },
                        [](const View&) { return "nop"; },
                    },
                    work);
}

std::string describe(const Work& work) {
  return std::visit(
      Overloaded{
          [](const Gemm& g) { return fmt::format("gemm {}x{}x{}x{}", g.batch, g.m, g.n, g.k); },
          [](const VectorWork& v) { return fmt::format("{}{}", to_string(v.op), v.backward ? "_backward" : ""); },
          [](const Attention& a) {
            return fmt::format("attention{} {}x{}x{}x{}x{}", a.backward ? "_backward" : "", a.batch, a.heads,
                               a.query_length, a.key_length, a.head_dim);
          },
          [](const Collective& c) {
            return std::string(c.kind == CollectiveKind::kNone ? "identity" : to_string(c.kind));
          },
          [](const View&) { return std::string("view"); },
      },
      work);
}

std::uint64_t hash(const Work& work) {
  const std::uint64_t seed = mix(work.index());
  return std::visit(
      Overloaded{
          [&](const Gemm& g) {
            return hash_words(seed, {word(g.batch), word(g.m), word(g.n), word(g.k), code(g.split)});
          },
          [&](const VectorWork& v) {
            return hash_words(seed, {code(v.op), code(v.backward), code(v.split), word(v.rows), word(v.cols)});
          },
          [&](const Attention& a) {
            return hash_words(seed,
                              {word(a.batch), word(a.heads), word(a.kv_heads), word(a.query_length), word(a.key_length),
                               word(a.head_dim), word(a.window), code(a.causal), code(a.dropout), code(a.backward)});
          },
          [&](const Collective& c) {
            return hash_words(seed, {code(c.kind), code(c.adjoint), word(c.group), word(c.bytes.value())});
          },
          [&](const View&) { return seed; },
      },
      work);
}

}  // namespace phaze::workload
