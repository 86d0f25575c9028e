// The same problem as a mixed-integer program: an independent judge of the exact engine, selectable for real work.
//
// Formulation. Binaries y_im choose the mode. Time is compressed: an exclusive mode, one that no incomparable operator
// fits beside, is a barrier, so its duration is taken off the time axis and paid for in the objective instead. S_i are
// starts on that axis, d_i = Σ p_im y_im over modes that are not exclusive, D is the length of the axis:
//
//     minimise    D + Σ_{exclusive (i,m)} p_im y_im
//     subject to  Σ_m y_im = 1
//                 S_j ≥ S_i + d_i                            for the edges of the transitive reduction
//                 D ≥ S_i + d_i + tail_i
//                 S_j ≥ S_i + d_i − M_ij (1 − x_ij)          for ordered pairs of incomparable operators that may
//                 collide x_ij + x_ji ≤ 1 y_im + Σ_{m' collides with m} y_jm' ≤ 1 + x_ij + x_ji flow of each resource
//                 from operators to operators that start after they finish cap_k · D ≥ Σ p_im r_imk y_im
//
// Operators that are incomparable and can never collide need no binaries, and neither do two that both run exclusively.
// M_ij = H − tail_i − head_j, with H a known makespan and heads and tails on the compressed axis. Capacities of three
// and more operators: intervals that overlap pairwise have a moment in common, so it suffices that every set of
// incomparable operators, no two of which are ordered, fits. Where these sets are too many, a resource becomes a flow
// from operators to operators that start after them (Artigues, Michelon and Reusser 2003), with more variables and
// fewer rows. Neither is needed for a resource of which any two users collide or which suffices for all at once.
//
// What was tried: the flow alone took three times as long on moldable instances of seven operators; rows that carry
// x_ij along the order made no difference.
//
// With `antichain_cut`, one more row says that the makespan is at least what the chosen modes earn at the rates of
// antichain.h. It lifts the root bound from more than half below the optimum to a few per cent below, at the price of
// sharing code with the exact engine; tests that compare the two engines leave it out.
#pragma once

#include "phaze/base/stop.h"
#include "phaze/schedule/instance.h"

namespace phaze::schedule {

struct Solution;

struct IlpOptions {
  bool antichain_cut = true;
  // Bounds of the exact engine may end the work before the MILP engine is asked. Off: its proof alone counts, so that
  // an agreement of the two engines means something.
  bool own_bounds = true;
  // A valid schedule to beat, where one better than the lists' is at hand. The tighter horizon makes for smaller big-M
  // and a quicker proof, and takes nothing from it: whoever gives a schedule that is not optimal will hear so.
  const Schedule* known = nullptr;
};

// What the MILP engine claims is not taken on trust. Modes and order are read off its answer, starts are computed anew
// and validated; a claimed optimum counts only if it agrees with the schedule it came with, and with the simple bounds.
// Schedules that are shorter by no more than `gap`, a share, are not looked for. One unit of `stop` is a node of the
// MILP engine.
Solution solve_ilp(const Instance& instance, const IlpOptions& options, double gap, Stop& stop);

}  // namespace phaze::schedule
