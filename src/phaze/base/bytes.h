// Plain values as bytes and back: messages between processes of one program on machines of one kind.
//
//   ByteWriter writer;
//   writer.put(1.5);
//   writer.put_text("abc");
//   ByteReader reader(writer.bytes());
//   reader.get<double>();
//   reader.get_text();
//   reader.whole();  // true: nothing was missing and nothing is left
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace phaze {

class ByteWriter {
 public:
  template <typename T>
    requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void put(T value) {
    const std::size_t size = bytes_.size();
    bytes_.resize(size + sizeof(T));
    std::memcpy(bytes_.data() + size, &value, sizeof(T));
  }
  void put_text(std::string_view text) {
    put(static_cast<std::uint64_t>(text.size()));
    bytes_ += text;
  }

  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// What is missing reads as zero.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

  template <typename T>
    requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  T get() {
    T value = {};
    if (bytes_.size() < sizeof(T)) {
      missing_ = true;
      bytes_ = {};
      return value;
    }
    std::memcpy(&value, bytes_.data(), sizeof(T));
    bytes_.remove_prefix(sizeof(T));
    return value;
  }
  std::string_view get_text() {
    const auto size = get<std::uint64_t>();
    if (size > bytes_.size()) {
      missing_ = true;
      bytes_ = {};
      return {};
    }
    const std::string_view text = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return text;
  }

  bool missing() const { return missing_; }
  bool whole() const { return !missing_ && bytes_.empty(); }

 private:
  std::string_view bytes_;
  bool missing_ = false;
};

}  // namespace phaze
