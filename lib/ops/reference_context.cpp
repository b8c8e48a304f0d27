#include "lib/ops/reference_context.hpp"

#include "lib/tensor/host_context.hpp"

namespace biogpu::ops {
namespace {

class ReferenceContext final : public tensor::HostContext {
 public:
  Kind kind() const override { return Kind::reference; }
  std::string name() const override { return "reference"; }
};

}  // namespace

std::unique_ptr<tensor::Context> make_reference_context() {
  return std::make_unique<ReferenceContext>();
}

}  // namespace biogpu::ops
