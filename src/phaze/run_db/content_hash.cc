#include "phaze/run_db/content_hash.h"

#include <xxhash.h>

#include <array>
#include <fstream>
#include <memory>
#include <vector>

namespace phaze::run_db {
namespace {

std::string hexadecimal(XXH128_hash_t hash) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, hash);
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : canonical.digest) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace

std::string content_hash(std::string_view text) { return hexadecimal(XXH3_128bits(text.data(), text.size())); }

Result<std::string> file_hash(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{"cannot be read", path};
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(), &XXH3_freeState);
  XXH3_128bits_reset(state.get());
  std::vector<char> piece(std::size_t{1} << 20);
  while (file) {
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    XXH3_128bits_update(state.get(), piece.data(), static_cast<std::size_t>(file.gcount()));
  }
  if (file.bad()) return Error{"cannot be read", path};
  return hexadecimal(XXH3_128bits_digest(state.get()));
}

}  // namespace phaze::run_db
