#pragma once

#include <cfenv>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <string_view>

#include "lib/core/error.hpp"
#include "lib/tensor/context.hpp"

// What the functions of the C library have in common.
namespace biogpu::c_api {

inline constexpr int kMaxThreads = 1024;  // as the program has it

// The message of the calling thread's last call that failed: one line.
const char* last_error();
// Keeps the message; gives the code that the call returns.
int fail(ErrorCode code, const std::string& what) noexcept;

inline void require(bool condition, const char* what) {
  if (!condition) throw Error(ErrorCode::usage, what);
}

// The floating-point environment that results are made in: a program may trap exceptions, round
// another way or flush small numbers to 0. Restores the caller's, with its flags. Threads of oneTBB
// get that of the thread which gives them work.
class DefaultFloatingPoint {
 public:
  DefaultFloatingPoint() {
    std::fegetenv(&callers_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultFloatingPoint() { std::fesetenv(&callers_); }
  DefaultFloatingPoint(const DefaultFloatingPoint&) = delete;
  DefaultFloatingPoint& operator=(const DefaultFloatingPoint&) = delete;

 private:
  std::fenv_t callers_;
};

// No exception leaves a function of C.
template <class Body>
int guarded(const Body& body) noexcept {
  const DefaultFloatingPoint environment;
  try {
    body();
    return 0;
  } catch (const Error& error) {
    return fail(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::host_memory, "out of memory");
  } catch (const std::exception& error) {
    return fail(ErrorCode::failed, error.what());
  } catch (...) {
    return fail(ErrorCode::failed, "an unknown failure");
  }
}

// A context for a device ("cpu", "gpu", a GPU's number), with as many threads of the CPU (0: all).
// precision: "auto" is fp32; "fp64" is the reference on the CPU; "fp16", "bf16" and "tf32" are for
// a GPU, where the caller has them. precisions: those that the caller has, for the message.
std::unique_ptr<tensor::Context> open_context(const std::string& device,
                                              const std::string& precision, int n_threads,
                                              std::string_view precisions);

}  // namespace biogpu::c_api
