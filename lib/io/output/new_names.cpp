#include "lib/io/output/new_names.hpp"

#include <unistd.h>

#include <cstdio>
#include <mutex>
#include <utility>

#include "lib/io/commit_guard.hpp"
#include "lib/io/output/temp_registry.hpp"

namespace biogpu::io::output {
namespace {

std::mutex names_mutex;
std::unique_ptr<NewName> last_name;

void settle_one(const NewName& name, bool keep) noexcept {
  if (!keep && !name.previous.empty())
    static_cast<void>(std::rename(name.previous.c_str(), name.path.c_str()));
  else if (!keep || !name.previous.empty())
    unlink(keep ? name.previous.c_str() : name.path.c_str());
}

// From the last to the first.
void settle_all(bool keep) noexcept {
  const std::lock_guard lock(names_mutex);
  while (last_name) {
    settle_one(*last_name, keep);
    unregister_temp(last_name->registered);
    last_name = std::move(last_name->before);
  }
}

}  // namespace

void add_name(std::unique_ptr<NewName> name) noexcept {
  const std::lock_guard lock(names_mutex);
  name->before = std::move(last_name);
  last_name = std::move(name);
  settle_names_by(settle_all);
}

}  // namespace biogpu::io::output
