#include "lib/lab/kernel_report.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

namespace biogpu::lab {
namespace {

// The text without the parentheses that end it.
std::string without_parameters(std::string text) {
  if (text.empty() || text.back() != ')') return text;
  int depth = 0;
  for (std::size_t i = text.size(); i-- > 0;) {
    depth += text[i] == ')' ? 1 : text[i] == '(' ? -1 : 0;
    if (depth == 0) return text.substr(0, i);
  }
  return text;
}

}  // namespace

std::string kernel_name(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> known(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  std::string name = without_parameters(status == 0 ? known.get() : symbol);
  if (name.starts_with("void ")) name.erase(0, 5);  // of a template
  for (const std::string_view shared : {"(anonymous namespace)::", "biogpu::gpu::"})
    for (std::size_t at = name.find(shared); at != std::string::npos; at = name.find(shared, at))
      name.erase(at, shared.size());
  return name;
}

LongestKernel longest_kernel(const std::vector<tensor::KernelUse>& kernels) {
  std::map<std::string, std::pair<double, const tensor::KernelUse*>> by_symbol;
  double all = 0;
  for (const tensor::KernelUse& kernel : kernels) {
    auto& [seconds, longest] = by_symbol[kernel.symbol];
    seconds += kernel.seconds;
    all += kernel.seconds;
    if (longest == nullptr || kernel.seconds > longest->seconds) longest = &kernel;
  }
  LongestKernel found;
  double most = -1;
  for (const auto& [symbol, kernel] : by_symbol) {
    if (kernel.first <= most) continue;
    most = kernel.first;
    found = {kernel.second, all > 0 ? most / all : 0};
  }
  return found;
}

}  // namespace biogpu::lab
