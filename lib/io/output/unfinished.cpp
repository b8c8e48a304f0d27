#include "lib/io/output/unfinished.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <memory>
#include <mutex>

#include "lib/io/output_file.hpp"

namespace biogpu::io {
namespace output {

// A signal handler may neither lock nor allocate, and may come at any moment: names are never
// freed, their storage never moves, and one is in the list before it is live.
struct UnfinishedName {
  explicit UnfinishedName(std::size_t n_bytes) : room(n_bytes), path(new char[n_bytes]) {}

  std::atomic<bool> live{false};
  const std::size_t room;
  const std::unique_ptr<char[]> path;
  UnfinishedName* next = nullptr;       // in the handler's list, for good
  UnfinishedName* next_free = nullptr;  // of those to be used again
};

namespace {

constexpr std::size_t kLeastRoom = 256;

std::atomic<UnfinishedName*> all{nullptr};
std::mutex mutex;  // of what follows, and of whoever adds to the list
UnfinishedName* free_names = nullptr;

static_assert(std::atomic<UnfinishedName*>::is_always_lock_free);
static_assert(std::atomic<bool>::is_always_lock_free);

UnfinishedName* take_free(std::size_t n_bytes) {
  UnfinishedName* const name = free_names;
  if (name == nullptr || name->room < n_bytes) return nullptr;
  free_names = name->next_free;
  return name;
}

UnfinishedName* add_name(std::size_t n_bytes) {
  auto* const name = new UnfinishedName(std::max(kLeastRoom, std::bit_ceil(n_bytes)));
  name->next = all;
  all = name;
  return name;
}

}  // namespace

UnfinishedName* register_unfinished(const std::string& path) {
  const std::size_t n_bytes = path.size() + 1;
  const std::lock_guard lock(mutex);
  UnfinishedName* name = take_free(n_bytes);
  if (name == nullptr) name = add_name(n_bytes);
  std::memcpy(name->path.get(), path.c_str(), n_bytes);
  name->live = true;
  return name;
}

void forget_unfinished(UnfinishedName* name) noexcept {
  if (name == nullptr) return;
  name->live = false;
  const std::lock_guard lock(mutex);
  name->next_free = free_names;
  free_names = name;
}

}  // namespace output

void remove_unfinished_outputs() noexcept {
  for (const output::UnfinishedName* name = output::all; name != nullptr; name = name->next)
    if (name->live) unlink(name->path.get());
}

}  // namespace biogpu::io
