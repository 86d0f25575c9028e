// Gaussian-process regression: what is known of a function everywhere, from its values at a few points.
//
// The function is taken as a draw from a Gaussian process of mean zero with covariance
//
//   k(x, x') = s²·(1 + √5·r + 5/3·r²)·exp(−√5·r) + n²·[x = x'],     r² = Σ ((x_i − x'_i)/l_i)²
//
// (Matérn 5/2: twice differentiable, with a length for each dimension.) Given values y, with
// K = k over their points and α = K⁻¹·y, the value at x is normal with mean k(x)·α and variance k(x, x) −
// k(x)·K⁻¹·k(x). s, n and the lengths maximise the marginal likelihood of y,
//
//   log p(y) = −½·y·α − ½·log|K| − ½·N·log 2π,     ∂/∂θ = ½·tr((α·αᵀ − K⁻¹)·∂K/∂θ),
//
// over their logarithms, between bounds, by resilient steps (Rprop, which Blum and Riedmiller 2013 found to do as well
// as conjugate gradients here). Rasmussen and Williams 2006, chapters 2 and 5.
//
//   const Points x = ...; const std::vector<double> y = ...;
//   const GaussianProcess process(x, y, most_likely(x, y));
//   process.predict(somewhere).mean;
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace phaze::baselines {

// Rows of equal length.
struct Points {
  std::size_t dimensions = 0;
  std::vector<double> values;

  std::size_t size() const { return dimensions == 0 ? 0 : values.size() / dimensions; }
  std::span<const double> row(std::size_t i) const {
    return std::span<const double>(values).subspan(i * dimensions, dimensions);
  }
  void add(std::span<const double> row) { values.insert(values.end(), row.begin(), row.end()); }
};

struct Hyperparameters {
  double signal = 1;    // s
  double noise = 1e-3;  // n
  std::vector<double> lengths;
  bool operator==(const Hyperparameters&) const = default;
};

struct Likelihood {
  double value = 0;              // of the logarithm
  std::vector<double> gradient;  // by log s, log n, log l_1, ...
};
Likelihood marginal_likelihood(const Points& x, std::span<const double> y, const Hyperparameters& hyperparameters);

// For points of the unit cube and values of mean 0 and variance 1. Always the same for the same points and values.
Hyperparameters most_likely(const Points& x, std::span<const double> y);

struct Prediction {
  double mean = 0;
  double deviation = 0;  // the root of the variance, of the function itself, without noise
};

class GaussianProcess {
 public:
  GaussianProcess(const Points& x, std::span<const double> y, Hyperparameters hyperparameters);
  GaussianProcess(GaussianProcess&&) noexcept;
  GaussianProcess& operator=(GaussianProcess&&) noexcept;
  ~GaussianProcess();

  Prediction predict(std::span<const double> point) const;
  std::vector<Prediction> predict(const Points& points) const;

 private:
  struct Factors;
  std::unique_ptr<Factors> factors_;
};

// By how much a normal variable exceeds `best` on average, counting only where it does.
double expected_improvement(const Prediction& prediction, double best);

}  // namespace phaze::baselines
