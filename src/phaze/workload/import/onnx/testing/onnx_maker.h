// ONNX models written in a few lines, for tests.
#pragma once

#include <onnx/onnx_pb.h>

#include <initializer_list>
#include <string>
#include <vector>

namespace phaze::workload::onnx::testing {

class OnnxMaker {
 public:
  OnnxMaker() {
    model.set_ir_version(8);
    model.add_opset_import()->set_version(17);
  }

  ::onnx::NodeProto& node(const std::string& op, std::initializer_list<std::string> inputs,
                          std::initializer_list<std::string> outputs, const std::string& name = {}) {
    auto& made = *model.mutable_graph()->add_node();
    made.set_op_type(op);
    made.set_name(name.empty() ? "n" + std::to_string(model.graph().node_size()) : name);
    for (const auto& input : inputs) made.add_input(input);
    for (const auto& output : outputs) made.add_output(output);
    return made;
  }

  static void attribute(::onnx::NodeProto& node, const std::string& name, std::int64_t value) {
    auto& made = *node.add_attribute();
    made.set_name(name);
    made.set_type(::onnx::AttributeProto::INT);
    made.set_i(value);
  }
  static void attribute(::onnx::NodeProto& node, const std::string& name, std::initializer_list<std::int64_t> values) {
    auto& made = *node.add_attribute();
    made.set_name(name);
    made.set_type(::onnx::AttributeProto::INTS);
    for (const std::int64_t value : values) made.add_ints(value);
  }
  static void attribute(::onnx::NodeProto& node, const std::string& name, const std::string& value) {
    auto& made = *node.add_attribute();
    made.set_name(name);
    made.set_type(::onnx::AttributeProto::STRING);
    made.set_s(value);
  }

  // A weight without its data, as in a file with a side file.
  void weight(const std::string& name, std::initializer_list<std::int64_t> dims,
              int type = ::onnx::TensorProto::BFLOAT16) {
    auto& made = *model.mutable_graph()->add_initializer();
    made.set_name(name);
    made.set_data_type(type);
    for (const std::int64_t dim : dims) made.add_dims(dim);
  }
  void integers(const std::string& name, std::initializer_list<std::int64_t> values) {
    auto& made = *model.mutable_graph()->add_initializer();
    made.set_name(name);
    made.set_data_type(::onnx::TensorProto::INT64);
    made.add_dims(static_cast<std::int64_t>(values.size()));
    for (const std::int64_t value : values) made.add_int64_data(value);
  }
  void number(const std::string& name, float value) {
    auto& made = *model.mutable_graph()->add_initializer();
    made.set_name(name);
    made.set_data_type(::onnx::TensorProto::FLOAT);
    made.add_float_data(value);
  }

  // Dimensions of -1 are open.
  void input(const std::string& name, std::initializer_list<std::int64_t> dims,
             int type = ::onnx::TensorProto::BFLOAT16) {
    describe(*model.mutable_graph()->add_input(), name, dims, type);
  }
  void output(const std::string& name) { model.mutable_graph()->add_output()->set_name(name); }

  std::string bytes() const { return model.SerializeAsString(); }

  ::onnx::ModelProto model;

 private:
  static void describe(::onnx::ValueInfoProto& info, const std::string& name, std::initializer_list<std::int64_t> dims,
                       int type) {
    info.set_name(name);
    auto& tensor = *info.mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(type);
    auto& shape = *tensor.mutable_shape();
    for (const std::int64_t dim : dims) {
      auto& made = *shape.add_dim();
      if (dim >= 0) made.set_dim_value(dim);
    }
  }
};

// Writes the shape of an intermediate value into the file.
inline void describe(OnnxMaker& maker, const std::string& name, std::initializer_list<std::int64_t> dims) {
  auto& info = *maker.model.mutable_graph()->add_value_info();
  info.set_name(name);
  info.mutable_type()->mutable_tensor_type()->set_elem_type(::onnx::TensorProto::BFLOAT16);
  for (const std::int64_t dim : dims)
    info.mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(dim);
}

}  // namespace phaze::workload::onnx::testing
