// The same work on many things, on several threads of this process.
//
//   in_parallel(0, files.size(), [&](std::size_t i) { sizes[i] = size_of(files[i]); });
#pragma once

#include <cstddef>
#include <functional>

namespace phaze {

// Calls work(i) for all i < count, in ascending order as threads become free, the caller's among them; 0: as many
// threads as there are cores. What one of them throws is thrown here, when all have ended; what had not begun by then
// is left out.
void in_parallel(unsigned threads, std::size_t count, const std::function<void(std::size_t)>& work);

}  // namespace phaze
