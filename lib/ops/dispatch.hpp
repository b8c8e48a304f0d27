#pragma once

#include "lib/ops/checks.hpp"
#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/ops/declare.hpp"
#include "lib/tensor/context.hpp"

namespace biogpu::ops {

// Runs an operation by the implementation of the context's kind.
template <class Args>
void dispatch(Context& context, const Args& args, const char* name, void (*reference)(const Args&),
              void (*cpu)(CpuContext&, const Args&)) {
  check(args);
  switch (context.kind()) {
    case Context::Kind::dry_run:
      return;
    case Context::Kind::reference:
      check_on_host(args);
      return reference(args);
    case Context::Kind::cpu:
      check_on_host(args);
      return cpu(static_cast<CpuContext&>(context), args);
    case Context::Kind::gpu:
      return context.gpu_op(name)(context, &args);
  }
}

}  // namespace biogpu::ops

// Defines the function that models call. A GPU finds its version by the family and the name, so
// that operations of two families may share a name. The build writes a use of it for every
// operation (third_party/cmake/BiogpuOps.cmake).
#define BIOGPU_DEFINE_OP(family, name, Args)                                             \
  void name(Context& context, const Args& args) {                                        \
    ::biogpu::ops::dispatch(context, args, #family "." #name, &name##_ref, &name##_cpu); \
  }
