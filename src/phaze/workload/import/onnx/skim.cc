#include "phaze/workload/import/onnx/skim.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace phaze::workload::onnx {
namespace {

// Wire types of the protobuf encoding.
enum class WireType : std::uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// Which message a field belongs to, as far as skimming cares.
enum class Message : std::uint8_t { kModel, kGraph, kFunction, kNode, kAttribute, kTensor, kOpaque };

Message message_of_field(Message parent, std::uint64_t field) {
  // Field numbers of onnx.proto.
  if (parent == Message::kModel && field == 7) return Message::kGraph;
  if (parent == Message::kModel && field == 25) return Message::kFunction;
  if (parent == Message::kGraph && field == 1) return Message::kNode;
  if (parent == Message::kFunction && field == 7) return Message::kNode;
  if (parent == Message::kGraph && field == 5) return Message::kTensor;
  if (parent == Message::kNode && field == 5) return Message::kAttribute;
  if (parent == Message::kAttribute && field == 5) return Message::kTensor;
  return Message::kOpaque;
}

// float_data, int32_data, string_data, int64_data, raw_data, double_data and uint64_data of a TensorProto.
bool is_payload(Message parent, std::uint64_t field) {
  return parent == Message::kTensor &&
         (field == 4 || field == 5 || field == 6 || field == 7 || field == 9 || field == 10 || field == 11);
}

// Documentation and metadata, which exporters fill with stack traces.
bool is_remark(Message parent, std::uint64_t field) {
  switch (parent) {
    case Message::kModel: return field == 6 || field == 14 || field == 20;
    case Message::kGraph: return field == 10 || field == 14 || field == 16;
    case Message::kNode: return field == 6 || field == 9;
    default: return false;
  }
}

class Skimmer {
 public:
  Skimmer(std::istream& file, std::uint64_t size, Progress& progress) : file_(file), size_(size), progress_(progress) {}

  Result<std::string> run() {
    std::string out;
    if (!copy_message(Message::kModel, size_, out, 0)) return *error_;
    return out;
  }

 private:
  bool fail(std::string message, std::string hint = {}) {
    if (!error_) error_ = Error{std::move(message), fmt::format("byte {}", position_), std::move(hint)};
    return false;
  }
  bool truncated() { return fail("the file ends in the middle of a field", "it is truncated or not an ONNX file"); }

  bool read_byte(std::uint8_t& byte) {
    const int next = file_.get();
    if (next == std::char_traits<char>::eof()) return truncated();
    byte = static_cast<std::uint8_t>(next);
    ++position_;
    return true;
  }

  bool read_varint(std::uint64_t& value, std::string& out) {
    value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
      std::uint8_t byte = 0;
      if (!read_byte(byte) || !keep(1)) return false;
      out.push_back(static_cast<char>(byte));
      if (shift < 64) value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
      if ((byte & 0x80U) == 0) return true;
    }
    return fail("a number is longer than ten bytes", "it is not an ONNX file");
  }

  // Counts what will be handed to the parser.
  bool keep(std::uint64_t count) {
    kept_ += count;
    if (kept_ <= kLargestSkimmed) return true;
    return fail(fmt::format("more than {} bytes are left without the weights", kLargestSkimmed),
                "export with the weights as initializers or in a side file, not as constants");
  }

  bool copy_bytes(std::uint64_t count, std::string& out) {
    if (!keep(count)) return false;
    const std::size_t start = out.size();
    out.resize(start + count);
    file_.read(out.data() + start, static_cast<std::streamsize>(count));
    if (static_cast<std::uint64_t>(file_.gcount()) != count) return truncated();
    position_ += count;
    return true;
  }

  bool skip_bytes(std::uint64_t count) {
    file_.seekg(static_cast<std::streamoff>(count), std::ios::cur);
    if (!file_.good()) return truncated();
    position_ += count;
    return true;
  }

  static void append_varint(std::uint64_t value, std::string& out) {
    for (; value >= 0x80; value >>= 7U) out.push_back(static_cast<char>((value & 0x7fU) | 0x80U));
    out.push_back(static_cast<char>(value));
  }

  bool copy_message(Message kind, std::uint64_t length, std::string& out, int depth) {
    const std::uint64_t end = position_ + length;
    while (position_ < end) {
      std::string key;
      std::uint64_t tag = 0;
      if (!read_varint(tag, key)) return false;
      if (kind <= Message::kFunction && ++entries_ > kMostEntries)
        return fail(fmt::format("has more than {} nodes and values", kMostEntries));
      if (!copy_field(kind, tag, key, end, out, depth)) return false;
      if (depth <= 1 &&
          !progress_.advance("reading", static_cast<std::int64_t>(position_), static_cast<std::int64_t>(size_)))
        return fail("stopped");
    }
    return position_ == end ||
           fail("a field reaches beyond the message that holds it", "it is truncated or not an ONNX file");
  }

  bool copy_field(Message kind, std::uint64_t tag, const std::string& key, std::uint64_t end, std::string& out,
                  int depth) {
    const std::uint64_t field = tag >> 3U;
    if (field == 0) return fail("a field has number zero", "it is not an ONNX file");
    std::uint64_t value = 0;
    switch (static_cast<WireType>(tag & 7U)) {
      case WireType::kVarint: out += key; return read_varint(value, out);
      case WireType::kFixed64: out += key; return copy_bytes(8, out);
      case WireType::kFixed32: out += key; return copy_bytes(4, out);
      case WireType::kBytes: break;
      default: return fail(fmt::format("a field has the unknown wire type {}", tag & 7U), "it is not an ONNX file");
    }
    std::string prefix;
    if (!read_varint(value, prefix)) return false;
    if (value > end - std::min(position_, end))
      return fail("a field reaches beyond the message that holds it", "it is truncated or not an ONNX file");
    if (is_remark(kind, field) || (is_payload(kind, field) && value > kLargestPayload)) return skip_bytes(value);
    const Message child = message_of_field(kind, field);
    out += key;
    if (child == Message::kOpaque) {
      out += prefix;
      return copy_bytes(value, out);
    }
    std::string inner;
    if (!copy_message(child, value, inner, depth + 1)) return false;
    append_varint(inner.size(), out);
    out += inner;
    return true;
  }

  std::istream& file_;
  std::uint64_t size_;
  Progress& progress_;
  std::uint64_t position_ = 0;
  std::uint64_t kept_ = 0;
  std::uint64_t entries_ = 0;
  std::optional<Error> error_;
};

}  // namespace

Result<::onnx::ModelProto> skim(std::istream& file, Progress& progress) {
  file.seekg(0, std::ios::end);
  const auto size = static_cast<std::uint64_t>(std::max<std::streamoff>(file.tellg(), 0));
  file.seekg(0, std::ios::beg);
  if (size == 0) return Error{"is empty"};
  auto skimmed = Skimmer(file, size, progress).run();
  if (!skimmed) return skimmed.error();
  ::onnx::ModelProto model;
  if (!model.ParseFromString(*skimmed)) return Error{"is not an ONNX file", "", "the protobuf message does not parse"};
  return model;
}

Result<::onnx::ModelProto> skim(const std::filesystem::path& path, Progress& progress) {
  std::error_code failure;
  if (!std::filesystem::is_regular_file(path, failure))
    return Error{failure ? "cannot be read: " + failure.message() : "is not a file"};
  std::ifstream file(path, std::ios::binary);
  if (!file.good()) return Error{"cannot be opened"};
  return skim(file, progress);
}

}  // namespace phaze::workload::onnx
