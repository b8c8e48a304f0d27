#include "lib/io/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <mutex>
#include <new>
#include <system_error>
#include <utility>

#include "lib/core/error.hpp"
#include "lib/io/file_kind.hpp"

namespace biogpu::io {

// A signal handler may neither lock nor allocate: entries are never freed, and one is in the list
// before it is live.
struct MappedFile::Entry {
  std::atomic<std::uintptr_t> begin{0};  // 0: not live
  std::uint64_t size = 0;
  int descriptor = -1;
  std::string path;
  Entry* next = nullptr;
};

namespace {

using Entry = MappedFile::Entry;

std::atomic<Entry*> mapped_files{nullptr};
std::mutex mapped_mutex;     // of what follows, and of whoever changes an entry
std::string shortened_path;  // of a file that became shorter and is no longer mapped

bool became_shorter(const Entry& entry) {
  struct stat status {};
  return ::fstat(entry.descriptor, &status) == 0 &&
         static_cast<std::uint64_t>(status.st_size) < entry.size;
}

// Keeps the descriptor.
Entry* note_mapping(const void* begin, std::uint64_t size, int descriptor,
                    const std::string& path) {
  const std::lock_guard lock(mapped_mutex);
  Entry* entry = mapped_files;
  while (entry != nullptr && entry->begin != 0) entry = entry->next;
  if (entry == nullptr) {
    entry = new Entry;
    entry->next = mapped_files;
    mapped_files = entry;
  }
  entry->size = size;
  entry->descriptor = descriptor;
  entry->path = path;
  entry->begin = reinterpret_cast<std::uintptr_t>(begin);
  return entry;
}

void forget_mapping(Entry& entry) {
  const std::lock_guard lock(mapped_mutex);
  if (shortened_path.empty() && became_shorter(entry)) shortened_path = entry.path;
  entry.begin = 0;
  ::close(entry.descriptor);
}

[[noreturn]] void throw_failed(const std::string& path, const std::string& why) {
  throw Error(ErrorCode::failed, path + ": " + why);
}

[[noreturn]] void throw_failed(const std::string& path, const std::string& what, int error) {
  if (error == ENOMEM) throw std::bad_alloc();
  throw_failed(path, what + ": " + std::generic_category().message(error));
}

}  // namespace

MappedFile::MappedFile(const std::string& path, Access access) {
  require_regular_file(path, "all of it is looked at in any order");
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) throw_failed(path, "cannot be opened", errno);
  struct stat status {};
  const bool regular = ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
  void* mapping = MAP_FAILED;
  if (regular && status.st_size > 0)
    mapping = ::mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_PRIVATE,
                     descriptor, 0);
  const int error = errno;
  if (mapping == MAP_FAILED) ::close(descriptor);
  if (!regular) throw_failed(path, "is no regular file");
  if (status.st_size == 0) return;
  if (mapping == MAP_FAILED) throw_failed(path, "cannot be mapped", error);
  data_ = static_cast<const std::uint8_t*>(mapping);
  size_ = static_cast<std::uint64_t>(status.st_size);
  (void)::madvise(mapping, size_, access == Access::whole ? MADV_WILLNEED : MADV_HUGEPAGE);
  try {
    entry_ = note_mapping(data_, size_, descriptor, path);
  } catch (...) {
    ::close(descriptor);
    (void)::munmap(mapping, size_);
    throw;
  }
}

MappedFile::~MappedFile() {
  if (entry_ != nullptr) forget_mapping(*entry_);
  if (data_ != nullptr) (void)::munmap(const_cast<std::uint8_t*>(data_), size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept { *this = std::move(other); }

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(entry_, other.entry_);
  return *this;
}

const char* mapped_file_at(const void* address) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  for (const Entry* entry = mapped_files; entry != nullptr; entry = entry->next) {
    const std::uintptr_t begin = entry->begin;
    if (begin != 0 && at >= begin && at - begin < entry->size) return entry->path.c_str();
  }
  return nullptr;
}

void check_mapped_files() {
  const std::lock_guard lock(mapped_mutex);
  for (const Entry* entry = mapped_files; entry != nullptr && shortened_path.empty();
       entry = entry->next)
    if (entry->begin != 0 && became_shorter(*entry)) shortened_path = entry->path;
  if (!shortened_path.empty()) throw_failed(shortened_path, std::string(kBecameShorter));
}

}  // namespace biogpu::io
