#include "apps/biogpu/run/process_end.hpp"

#include <unistd.h>

#include <cstdio>
#include <new>
#include <vector>

#include "apps/biogpu/run/sanitized.hpp"

namespace biogpu::app {
namespace {

#ifdef BIOGPU_SANITIZED
constexpr bool kKeeps = false;
#else
constexpr bool kKeeps = true;
#endif

// Never destroyed.
std::vector<std::shared_ptr<void>>& kept() {
  static auto* const all = new std::vector<std::shared_ptr<void>>();
  return *all;
}

bool is_any_kept = false;

}  // namespace

void keep_until_end(std::shared_ptr<void> run) noexcept {
  if (!kKeeps) return;
  const io::AllocationMayFail may_fail;
  try {
    kept().push_back(std::move(run));
    is_any_kept = true;
  } catch (const std::bad_alloc&) {
    // Its outputs have their names: it is freed here instead.
  }
}

void end_if_kept(int exit_code) {
  if (!is_any_kept) return;
  std::fflush(nullptr);
  _exit(exit_code);
}

}  // namespace biogpu::app
