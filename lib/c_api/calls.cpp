#include "lib/c_api/calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <thread>

#include "lib/core/device.hpp"
#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/ops/reference_context.hpp"

namespace biogpu::c_api {
namespace {

thread_local std::string message;

// Whether a list "a, b, c" has the word.
bool lists(std::string_view list, const std::string& word) {
  return !word.empty() &&
         fmt::format(", {},", list).find(fmt::format(" {},", word)) != std::string::npos;
}

tensor::Precision precision_of(const std::string& name) {
  if (name == "fp16") return tensor::Precision::fp16;
  if (name == "bf16") return tensor::Precision::bf16;
  if (name == "tf32") return tensor::Precision::tf32;
  return tensor::Precision::fp32;
}

}  // namespace

const char* last_error() { return message.c_str(); }

// Messages of the program name its options: without the dashes they are this library's arguments.
int fail(ErrorCode code, const std::string& what) noexcept {
  try {
    message.clear();
    for (std::size_t i = 0; i < what.size(); ++i)
      if (what.compare(i, 2, "--") == 0 && i + 2 < what.size() &&
          std::islower(static_cast<unsigned char>(what[i + 2])) != 0)
        ++i;
      else
        message += what[i];
  } catch (...) {
    message.clear();
  }
  return static_cast<int>(code);
}

std::unique_ptr<tensor::Context> open_context(const std::string& device,
                                              const std::string& precision, int n_threads,
                                              std::string_view precisions) {
  if (!lists(precisions, precision))
    throw Error(ErrorCode::usage, fmt::format("a precision that is none of {}", precisions));
  const DeviceChoice choice = choose_device(parse_device_request(device), false, 1);
  if (precision == "fp64") {
    require(!choice.on_gpu(), "fp64 is computed on the CPU: give the device cpu");
    return ops::make_reference_context();
  }
  require(n_threads >= 0 && n_threads <= kMaxThreads, "n_threads below 0 or above 1024");
  if (n_threads == 0)
    n_threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  if (!choice.on_gpu()) {
    require(precision_of(precision) == tensor::Precision::fp32,
            "a precision of GPUs on the CPU, which has fp32 and fp64");
    return ops::make_cpu_context(n_threads);
  }
  tensor::ContextOptions options;
  options.n_threads = n_threads;
  options.precision = precision_of(precision);
  return tensor::make_gpu_context(choice.gpus.front(), options);
}

}  // namespace biogpu::c_api
