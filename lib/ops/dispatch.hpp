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
      return reference(args);
    case Context::Kind::cpu:
      return cpu(static_cast<CpuContext&>(context), args);
    case Context::Kind::gpu:
      return context.gpu_op(name)(context, &args);
  }
}

}  // namespace biogpu::ops

// Defines the functions of a list of operations. Before it is included: BIOGPU_OP is this.
#define BIOGPU_DEFINE_OP(name, Args)                                         \
  void name(Context& context, const Args& args) {                            \
    ::biogpu::ops::dispatch(context, args, #name, &name##_ref, &name##_cpu); \
  }
