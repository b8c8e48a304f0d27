#include "lib/io/input/warnings.hpp"

#include <mutex>
#include <set>
#include <utility>

namespace biogpu::io {
namespace {

struct Warnings {
  std::mutex mutex;
  WarningListener listener;
  std::set<std::string> given;
};

// Never destroyed: threads may outlive main().
Warnings& warnings() {
  static auto* const all = new Warnings();
  return *all;
}

}  // namespace

void add_warning(const std::string& text) {
  Warnings& all = warnings();
  const std::lock_guard lock(all.mutex);
  if (all.listener && all.given.insert(text).second) all.listener(text);
}

WarningListener set_warning_listener(WarningListener listener) {
  Warnings& all = warnings();
  const std::lock_guard lock(all.mutex);
  return std::exchange(all.listener, std::move(listener));
}

}  // namespace biogpu::io
