// Names by which a GPU context finds operations: family.name.
#include <cstring>
#include <set>

#include "lib/core/error.hpp"
#include "lib/models/proteinmpnn/ops/decode.hpp"
#include "lib/ops/dispatch.hpp"
#include "lib/ops/gather/embed.hpp"
#include "tests/ops/op_bed.hpp"

namespace {

constexpr const char* kAll[] = {
#define BIOGPU_FAMILY_OP(family, space, name, Args) #family "." #name,
#include "lib/gpu_backend/all_ops.def"
#undef BIOGPU_FAMILY_OP
};

// Two families with an operation of one name. Neither exists on a GPU.
struct Tint {
  int* ran;
};
void tint_ref(const Tint& op) { *op.ran = 1; }
void tint_cpu(biogpu::ops::CpuContext&, const Tint& op) { *op.ran = 2; }

// A GPU that lists what it is asked for.
class AskedContext : public biogpu::tensor::Context {
 public:
  std::vector<std::string> asked;

  Kind kind() const override { return Kind::gpu; }
  std::string name() const override { return "asked"; }
  biogpu::tensor::Precision precision() const override { return biogpu::tensor::Precision::fp32; }
  void* allocate(std::size_t) override { return nullptr; }
  void release(void*) override {}
  std::uint64_t free_bytes() override { return 0; }
  biogpu::tensor::Tensor upload(const biogpu::tensor::Tensor& host,
                                biogpu::tensor::DType) override {
    return host;
  }
  biogpu::tensor::Linear upload_linear(const biogpu::tensor::Tensor&,
                                       const biogpu::tensor::Tensor&) override {
    return {};
  }
  biogpu::tensor::Ragged upload_ragged(const std::vector<std::int32_t>&,
                                       biogpu::tensor::Arena&) override {
    return {};
  }
  void copy_in(const biogpu::tensor::Tensor&, const void*) override {}
  void copy_out(float*, const biogpu::tensor::Tensor&) override {}
  void copy_out(std::int32_t*, const biogpu::tensor::Tensor&) override {}
  void synchronize() override {}
  biogpu::tensor::GpuOp gpu_op(std::string_view name) override {
    asked.emplace_back(name);
    return [](biogpu::tensor::Context&, const void*) {};
  }
};

using biogpu::ops::Context;
namespace painter {
BIOGPU_DEFINE_OP(painter, tint, Tint)
}
namespace dyer {
BIOGPU_DEFINE_OP(dyer, tint, Tint)
}

}  // namespace

using namespace biogpu;

TEST_CASE("ops.names: each operation has one unique name", "[ops]") {
  std::set<std::string> names;
  for (const char* const name : kAll) {
    CAPTURE(name);
    CHECK(names.insert(name).second);
    CHECK(std::strchr(name, '.') != nullptr);
  }
  CHECK(names.count("ops.embed") == 1);
  CHECK(names.count("proteinmpnn.decode") == 1);
  CHECK(names.count("decode") == 0);
}

TEST_CASE("ops.names: operations of two families may share a name", "[ops]") {
  AskedContext context;
  int ran = 0;
  painter::tint(context, {&ran});
  dyer::tint(context, {&ran});
  CHECK(context.asked == std::vector<std::string>{"painter.tint", "dyer.tint"});
}

TEST_CASE("ops.names: a GPU has each operation under its family's name alone", "[ops]") {
  const auto subject = GENERATE(from_range(test::subjects()));
  if (subject.instruction_set != 0) return;  // the CPU's are called without a name
  test::Bed bed(subject);
  for (const char* const name : kAll) CHECK(bed.device().gpu_op(name) != nullptr);
  CHECK_THROWS_AS(bed.device().gpu_op("embed"), Error);
  CHECK_THROWS_AS(bed.device().gpu_op("proteinmpnn.embed"), Error);
}
