// A file of rates from any text: nothing, or rates by which every prediction is a number.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "apps/biogpu/run/cost_tasks.hpp"
#include "lib/core/rate_cache.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n) {
  using namespace biogpu::cost;
  const std::string_view text(reinterpret_cast<const char*>(bytes), n);
  // As it is, and behind the lines that every file begins with.
  for (const std::string& whole :
       {std::string(text), "biogpu rates 1\nkey key\n" + std::string(text)}) {
    const auto machine = parse_rates(whole, "key");
    if (!machine) continue;
    for (const Task* const task : biogpu::app::works::kAll) {
      const Prediction predicted = predict(*machine, {task, 1e9, 1e9, 1e8, 2});
      if (!std::isfinite(predicted.cpu_s) || !std::isfinite(predicted.gpu_s)) std::abort();
      if (predicted.cpu_s < 0 || predicted.gpu_s < 0) std::abort();
    }
    if (!parse_rates(format_rates("key", *machine), "key")) std::abort();
  }
  return 0;
}
