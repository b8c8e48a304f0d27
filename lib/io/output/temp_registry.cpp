#include "lib/io/output/temp_registry.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <memory>
#include <mutex>

namespace biogpu::io::output {

// A signal handler may neither lock nor allocate, and may come at any moment: names are never
// freed, their storage never moves, and one is in the list before it is live.
struct TempName {
  explicit TempName(std::size_t n_bytes) : room(n_bytes), path(new char[n_bytes]) {}

  std::atomic<bool> live{false};
  const std::size_t room;
  const std::unique_ptr<char[]> path;
  TempName* next = nullptr;       // in the handler's list, for good
  TempName* next_free = nullptr;  // of those to be used again
};

namespace {

constexpr std::size_t kMinRoom = 256;

std::atomic<TempName*> all{nullptr};
std::mutex mutex;  // of what follows, and of whoever adds to the list
TempName* free_names = nullptr;

static_assert(std::atomic<TempName*>::is_always_lock_free);
static_assert(std::atomic<bool>::is_always_lock_free);

TempName* take_free(std::size_t n_bytes) {
  TempName* const name = free_names;
  if (name == nullptr || name->room < n_bytes) return nullptr;
  free_names = name->next_free;
  return name;
}

TempName* add_name(std::size_t n_bytes) {
  auto* const name = new TempName(std::max(kMinRoom, std::bit_ceil(n_bytes)));
  name->next = all;
  all = name;
  return name;
}

}  // namespace

TempName* register_temp(const std::string& path) {
  const std::size_t n_bytes = path.size() + 1;
  const std::lock_guard lock(mutex);
  TempName* name = take_free(n_bytes);
  if (name == nullptr) name = add_name(n_bytes);
  std::memcpy(name->path.get(), path.c_str(), n_bytes);
  name->live = true;
  return name;
}

void unregister_temp(TempName* name) noexcept {
  if (name == nullptr) return;
  name->live = false;
  const std::lock_guard lock(mutex);
  name->next_free = free_names;
  free_names = name;
}

void remove_registered_files() noexcept {
  for (const TempName* name = all; name != nullptr; name = name->next)
    if (name->live) unlink(name->path.get());
}

}  // namespace biogpu::io::output
