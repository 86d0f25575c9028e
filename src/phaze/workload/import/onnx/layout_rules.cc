#include "phaze/workload/import/onnx/layout_rules.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace phaze::workload::onnx {

Shapes reshape(const NodeInputs& in) {
  const Shape* x = in.shape(0);
  auto target = in.integers(1);
  if (x == nullptr || !target) return unknown(in);
  const bool zero_is_zero = in.node().integer("allowzero", 0) != 0;
  std::int64_t known = 1;
  std::ptrdiff_t open = -1;
  for (std::size_t i = 0; i < target->size(); ++i) {
    std::int64_t& dim = (*target)[i];
    if (dim == 0 && !zero_is_zero) {
      if (i >= x->size()) return unknown(in);
      dim = (*x)[i];
    }
    if (dim == -1 && open < 0)
      open = static_cast<std::ptrdiff_t>(i);
    else if (dim < 0)
      return unknown(in);
    else
      known = saturating_multiply(known, dim);
  }
  const std::int64_t elements = count(*x);
  if (open >= 0) {
    if (known == 0 || elements % known != 0) return unknown(in);
    (*target)[static_cast<std::size_t>(open)] = elements / known;
  } else if (known != elements) {
    return unknown(in);
  }
  return all_outputs(in, *target);
}

Shapes transpose(const NodeInputs& in) {
  const Shape* x = in.shape(0);
  if (x == nullptr) return unknown(in);
  Shape out(x->rbegin(), x->rend());
  if (const Attribute* perm = in.node().find("perm")) {
    if (perm->integers.size() != x->size()) return unknown(in);
    for (std::size_t i = 0; i < out.size(); ++i) {
      const auto from = axis_of(perm->integers[i], x->size());
      if (!from) return unknown(in);
      out[i] = (*x)[*from];
    }
  }
  return all_outputs(in, out);
}

Shapes concat(const NodeInputs& in) {
  if (in.shape(0) == nullptr) return unknown(in);
  Shape out = *in.shape(0);
  const auto axis = axis_of(in.node().integer("axis", 0), out.size());
  if (!axis) return unknown(in);
  for (std::size_t i = 1; i < in.size(); ++i) {
    if (in.shape(i) == nullptr || in.shape(i)->size() != out.size()) return unknown(in);
    for (std::size_t d = 0; d < out.size(); ++d)
      if (d != *axis && out[d] != (*in.shape(i))[d]) return unknown(in);
    out[*axis] = saturating_add(out[*axis], (*in.shape(i))[*axis]);
  }
  return all_outputs(in, out);
}

Shapes split(const NodeInputs& in) {
  const Shape* x = in.shape(0);
  const std::size_t parts = in.node().outputs.size();
  if (x == nullptr || parts == 0) return unknown(in);
  const auto axis = axis_of(in.node().integer("axis", 0), x->size());
  if (!axis) return unknown(in);
  auto sizes = in.integers(1);
  if (!sizes) {
    const std::int64_t each = ceil_divide((*x)[*axis], static_cast<std::int64_t>(parts));
    sizes = Shape(parts, each);
    sizes->back() = (*x)[*axis] - each * (static_cast<std::int64_t>(parts) - 1);
  }
  if (sizes->size() != parts) return unknown(in);
  std::int64_t sum = 0;
  for (const std::int64_t size : *sizes) sum = saturating_add(sum, size);
  if (sum != (*x)[*axis]) return unknown(in);
  Shapes out;
  for (const std::int64_t size : *sizes) {
    if (size < 0 || size > (*x)[*axis]) return unknown(in);
    out.emplace_back(*x);
    (*out.back())[*axis] = size;
  }
  return out;
}

// A sequence is described by the shape of one element.
Shapes split_to_sequence(const NodeInputs& in) {
  const Shape* x = in.shape(0);
  if (x == nullptr) return unknown(in);
  const auto axis = axis_of(in.node().integer("axis", 0), x->size());
  const auto size = in.integers(1);
  if (!axis || !size || size->empty() || size->front() < 1) return unknown(in);
  Shape out = *x;
  out[*axis] = std::min(size->front(), out[*axis]);
  return all_outputs(in, out);
}

Shapes slice(const NodeInputs& in) {
  const Shape* x = in.shape(0);
  const auto starts = in.integers(1);
  const auto ends = in.integers(2);
  if (x == nullptr || !starts || !ends || starts->size() != ends->size()) return unknown(in);
  Shape axes(starts->size());
  std::iota(axes.begin(), axes.end(), std::int64_t{0});
  if (in.has(3)) {
    const auto given = in.integers(3);
    if (!given || given->size() != starts->size()) return unknown(in);
    axes = *given;
  }
  Shape steps(starts->size(), 1);
  if (in.has(4)) {
    const auto given = in.integers(4);
    if (!given || given->size() != starts->size()) return unknown(in);
    steps = *given;
  }
  Shape out = *x;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = axis_of(axes[i], x->size());
    if (!axis || steps[i] == 0 || steps[i] == std::numeric_limits<std::int64_t>::min()) return unknown(in);
    const std::int64_t dim = (*x)[*axis];
    const auto place = [&](std::int64_t at, std::int64_t low, std::int64_t high) {
      if (at < 0) at = std::max<std::int64_t>(at, -dim - 1) + dim;
      return std::clamp(at, low, high);
    };
    if (steps[i] > 0)
      out[*axis] =
          std::max<std::int64_t>(0, ceil_divide(place((*ends)[i], 0, dim) - place((*starts)[i], 0, dim), steps[i]));
    else
      out[*axis] = std::max<std::int64_t>(
          0, ceil_divide(place((*starts)[i], 0, dim - 1) - place((*ends)[i], -1, dim - 1), -steps[i]));
  }
  return all_outputs(in, out);
}

Shapes gather(const NodeInputs& in) {
  const Shape* x = in.shape(0);
  const Shape* indices = in.shape(1);
  if (x == nullptr || indices == nullptr) return unknown(in);
  const auto axis = axis_of(in.node().integer("axis", 0), x->size());
  if (!axis) return unknown(in);
  Shape out(x->begin(), x->begin() + static_cast<std::ptrdiff_t>(*axis));
  out.insert(out.end(), indices->begin(), indices->end());
  out.insert(out.end(), x->begin() + static_cast<std::ptrdiff_t>(*axis) + 1, x->end());
  return all_outputs(in, out);
}

Shapes gather_nd(const NodeInputs& in) {
  const Shape* x = in.shape(0);
  const Shape* indices = in.shape(1);
  const std::int64_t batch = in.node().integer("batch_dims", 0);
  if (x == nullptr || indices == nullptr || indices->empty() || batch < 0) return unknown(in);
  const std::int64_t from = batch + indices->back();
  if (from < 0 || from > static_cast<std::int64_t>(x->size())) return unknown(in);
  Shape out(indices->begin(), indices->end() - 1);
  out.insert(out.end(), x->begin() + static_cast<std::ptrdiff_t>(from), x->end());
  return all_outputs(in, out);
}

Shapes second_shape(const NodeInputs& in) {
  return in.shape(1) != nullptr ? all_outputs(in, *in.shape(1)) : unknown(in);
}

Shapes unsqueeze(const NodeInputs& in) {
  const Shape* x = in.shape(0);
  auto axes = in.axes(1);
  if (x == nullptr || !axes) return unknown(in);
  Shape out = *x;
  for (std::int64_t& axis : *axes)
    if (axis < 0) axis += static_cast<std::int64_t>(x->size() + axes->size());
  std::ranges::sort(*axes);
  for (const std::int64_t axis : *axes) {
    if (axis < 0 || axis > static_cast<std::int64_t>(out.size())) return unknown(in);
    out.insert(out.begin() + axis, 1);
  }
  return all_outputs(in, out);
}

Shapes squeeze(const NodeInputs& in) {
  const Shape* x = in.shape(0);
  if (x == nullptr) return unknown(in);
  std::set<std::size_t> gone;
  if (const auto axes = in.axes(1)) {
    for (const std::int64_t given : *axes) {
      const auto axis = axis_of(given, x->size());
      if (!axis) return unknown(in);
      gone.insert(*axis);
    }
  } else {
    if (in.has(1)) return unknown(in);
    for (std::size_t i = 0; i < x->size(); ++i)
      if ((*x)[i] == 1) gone.insert(i);
  }
  Shape out;
  for (std::size_t i = 0; i < x->size(); ++i)
    if (!gone.contains(i)) out.push_back((*x)[i]);
  return all_outputs(in, out);
}

Shapes expand(const NodeInputs& in) {
  const Shape* x = in.shape(0);
  const auto target = in.integers(1);
  if (x == nullptr || !target) return unknown(in);
  return all_outputs(in, broadcast(*x, *target));
}

Shapes tile(const NodeInputs& in) {
  const Shape* x = in.shape(0);
  const auto repeats = in.integers(1);
  if (x == nullptr || !repeats || repeats->size() != x->size()) return unknown(in);
  Shape out = *x;
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = saturating_multiply(out[i], std::max<std::int64_t>((*repeats)[i], 0));
  return all_outputs(in, out);
}

}  // namespace phaze::workload::onnx
