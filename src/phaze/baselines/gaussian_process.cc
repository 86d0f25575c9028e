#include "phaze/baselines/gaussian_process.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "phaze/base/check.h"

namespace phaze::baselines {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

const double kRoot5 = std::sqrt(5.0);

Index index(std::size_t i) { return static_cast<Index>(i); }

double distance(std::span<const double> a, std::span<const double> b, const std::vector<double>& lengths) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double step = (a[i] - b[i]) / lengths[i];
    sum += step * step;
  }
  return std::sqrt(sum);
}

double matern(double r) { return (1 + kRoot5 * r + 5.0 / 3 * r * r) * std::exp(-kRoot5 * r); }

VectorXd vector_of(std::span<const double> y) {
  return Eigen::Map<const VectorXd>(y.data(), static_cast<Index>(y.size()));
}

// Of the points among themselves, noise included.
MatrixXd covariance(const Points& x, const Hyperparameters& h) {
  const std::size_t n = x.size();
  MatrixXd k(index(n), index(n));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j)
      k(index(i), index(j)) = k(index(j), index(i)) =
          h.signal * h.signal * matern(distance(x.row(i), x.row(j), h.lengths));
    k(index(i), index(i)) = h.signal * h.signal + h.noise * h.noise;
  }
  return k;
}

Eigen::LLT<MatrixXd> factorised(const Points& x, const Hyperparameters& h) {
  Eigen::LLT<MatrixXd> factor(covariance(x, h));
  check(factor.info() == Eigen::Success, "a covariance with noise is positive definite");
  return factor;
}

// Hyperparameters as the logarithms that are searched over, in the order of the gradient.
using Logarithms = std::vector<double>;

Hyperparameters from(const Logarithms& logs) {
  Hyperparameters h{.signal = std::exp(logs[0]), .noise = std::exp(logs[1])};
  for (std::size_t i = 2; i < logs.size(); ++i) h.lengths.push_back(std::exp(logs[i]));
  return h;
}

struct Interval {
  double low, high;
};

// A length of 20 in the unit cube makes a dimension all but irrelevant; one of 0.05 tells nothing about a neighbour.
Interval interval(std::size_t i) {
  constexpr std::array<Interval, 3> kIntervals = {{{0.1, 10}, {1e-4, 0.1}, {0.05, 20}}};
  const Interval& bounds = kIntervals[std::min<std::size_t>(i, 2)];
  return {std::log(bounds.low), std::log(bounds.high)};
}

// Each coordinate has its own step, which grows while the sign of its derivative stays and shrinks when it turns.
std::pair<Logarithms, double> climb(const Points& x, std::span<const double> y, Logarithms at) {
  constexpr int kSteps = 60;
  constexpr double kGrow = 1.2, kShrink = 0.5, kFirst = 0.2, kLeast = 1e-4, kMost = 1;
  Logarithms best = at;
  double best_value = -1e300;
  std::vector<double> steps(at.size(), kFirst), before(at.size(), 0);
  for (int i = 0; i < kSteps; ++i) {
    const Likelihood here = marginal_likelihood(x, y, from(at));
    if (here.value > best_value) {
      best_value = here.value;
      best = at;
    }
    for (std::size_t d = 0; d < at.size(); ++d) {
      double slope = here.gradient[d];
      if (slope * before[d] > 0) steps[d] = std::min(kMost, steps[d] * kGrow);
      if (slope * before[d] < 0) {
        steps[d] = std::max(kLeast, steps[d] * kShrink);
        slope = 0;
      }
      before[d] = slope;
      const auto [low, high] = interval(d);
      if (slope != 0) at[d] = std::clamp(at[d] + std::copysign(steps[d], slope), low, high);
    }
  }
  return {best, best_value};
}

}  // namespace

Likelihood marginal_likelihood(const Points& x, std::span<const double> y, const Hyperparameters& h) {
  const Eigen::LLT<MatrixXd> factor = factorised(x, h);
  const VectorXd values = vector_of(y);
  const VectorXd alpha = factor.solve(values);
  const std::size_t n = x.size();
  Likelihood likelihood{.gradient = std::vector<double>(2 + x.dimensions, 0)};
  likelihood.value = -0.5 * values.dot(alpha) - factor.matrixLLT().diagonal().array().log().sum() -
                     0.5 * static_cast<double>(n) * std::log(2 * std::numbers::pi);
  const MatrixXd weights = alpha * alpha.transpose() - factor.solve(MatrixXd::Identity(index(n), index(n)));
  const double variance = h.signal * h.signal;
  for (std::size_t i = 0; i < n; ++i) {
    likelihood.gradient[0] += variance * weights(index(i), index(i));
    likelihood.gradient[1] += h.noise * h.noise * weights(index(i), index(i));
    for (std::size_t j = 0; j < i; ++j) {
      const double r = distance(x.row(i), x.row(j), h.lengths);
      const double weight = 2 * variance * weights(index(i), index(j));  // both triangles
      likelihood.gradient[0] += weight * matern(r);
      const double by_length = weight * 5.0 / 6 * (1 + kRoot5 * r) * std::exp(-kRoot5 * r);
      for (std::size_t d = 0; d < x.dimensions; ++d) {
        const double step = (x.row(i)[d] - x.row(j)[d]) / h.lengths[d];
        likelihood.gradient[2 + d] += by_length * step * step;
      }
    }
  }
  return likelihood;
}

Hyperparameters most_likely(const Points& x, std::span<const double> y) {
  std::pair<Logarithms, double> best{{}, -1e300};
  for (const double length : {0.3, 1.0, 3.0}) {
    Logarithms start(2 + x.dimensions, std::log(length));
    start[0] = 0;
    start[1] = std::log(1e-2);
    auto found = climb(x, y, std::move(start));
    if (found.second > best.second || best.first.empty()) best = std::move(found);
  }
  return from(best.first);
}

struct GaussianProcess::Factors {
  Points x;
  Hyperparameters hyperparameters;
  MatrixXd lower;  // of the covariance
  VectorXd alpha;
};

GaussianProcess::GaussianProcess(const Points& x, std::span<const double> y, Hyperparameters hyperparameters)
    : factors_(std::make_unique<Factors>()) {
  const Eigen::LLT<MatrixXd> factor = factorised(x, hyperparameters);
  factors_->x = x;
  factors_->hyperparameters = std::move(hyperparameters);
  factors_->lower = factor.matrixL();
  factors_->alpha = factor.solve(vector_of(y));
}

GaussianProcess::GaussianProcess(GaussianProcess&&) noexcept = default;
GaussianProcess& GaussianProcess::operator=(GaussianProcess&&) noexcept = default;
GaussianProcess::~GaussianProcess() = default;

Prediction GaussianProcess::predict(std::span<const double> point) const {
  Points one{.dimensions = point.size()};
  one.add(point);
  return predict(one).front();
}

// In blocks, so that a space of a million points needs no matrix of its size.
std::vector<Prediction> GaussianProcess::predict(const Points& points) const {
  constexpr std::size_t kBlock = 512;
  const Factors& f = *factors_;
  const double variance = f.hyperparameters.signal * f.hyperparameters.signal;
  std::vector<Prediction> predictions;
  predictions.reserve(points.size());
  MatrixXd cross;
  for (std::size_t begin = 0; begin < points.size(); begin += kBlock) {
    const std::size_t count = std::min(kBlock, points.size() - begin);
    cross.resize(index(f.x.size()), index(count));
    for (std::size_t j = 0; j < count; ++j)
      for (std::size_t i = 0; i < f.x.size(); ++i)
        cross(index(i), index(j)) =
            variance * matern(distance(f.x.row(i), points.row(begin + j), f.hyperparameters.lengths));
    const VectorXd means = cross.transpose() * f.alpha;
    f.lower.triangularView<Eigen::Lower>().solveInPlace(cross);
    for (std::size_t j = 0; j < count; ++j)
      predictions.push_back({means(index(j)), std::sqrt(std::max(0.0, variance - cross.col(index(j)).squaredNorm()))});
  }
  return predictions;
}

double expected_improvement(const Prediction& prediction, double best) {
  const double gain = prediction.mean - best;
  if (prediction.deviation <= 0) return std::max(0.0, gain);
  const double z = gain / prediction.deviation;
  const double density = std::exp(-0.5 * z * z) / std::sqrt(2 * std::numbers::pi);
  const double below = 0.5 * std::erfc(-z / std::numbers::sqrt2);
  return std::max(0.0, gain * below + prediction.deviation * density);
}

}  // namespace phaze::baselines
