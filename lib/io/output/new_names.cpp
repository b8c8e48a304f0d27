#include "lib/io/output/new_names.hpp"

#include <unistd.h>

#include <cstdio>
#include <mutex>
#include <utility>

#include "lib/io/commit_guard.hpp"
#include "lib/io/output/temp_registry.hpp"

namespace biogpu::io::output {
namespace {

std::mutex mutex;
std::unique_ptr<NewName> last;

void settle_one(const NewName& name, bool keep) noexcept {
  if (!keep && !name.previous.empty())
    static_cast<void>(std::rename(name.previous.c_str(), name.path.c_str()));
  else if (!keep || !name.previous.empty())
    unlink(keep ? name.previous.c_str() : name.path.c_str());
}

// From the last to the first.
void settle_all(bool keep) noexcept {
  const std::lock_guard lock(mutex);
  while (last) {
    settle_one(*last, keep);
    unregister_temp(last->registered);
    last = std::move(last->before);
  }
}

}  // namespace

void add_name(std::unique_ptr<NewName> name) noexcept {
  const std::lock_guard lock(mutex);
  name->before = std::move(last);
  last = std::move(name);
  settle_names_by(settle_all);
}

}  // namespace biogpu::io::output
