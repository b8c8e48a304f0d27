#include "lib/io/output/target_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <system_error>
#include <utility>

#include "lib/core/error.hpp"
#include "lib/io/output/unfinished.hpp"

namespace biogpu::io::output {
namespace {

constexpr int kMaxAttempts = 1000;
std::atomic<unsigned> n_temporaries{0};

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash + 1);
}

std::string resolve(const std::string& path) {
  struct Free {
    void operator()(char* text) const { std::free(text); }
  };
  const std::unique_ptr<char, Free> resolved(realpath(path.c_str(), nullptr));
  return resolved ? std::string(resolved.get()) : path;
}

}  // namespace

TargetFile::TargetFile(const std::string& path) : label_(path) {
  if (path == "-" || path == "/dev/stdout") {
    label_ = "standard output";
    descriptor_ = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (descriptor_ < 0) fail("cannot be opened", errno);
    return;
  }
  struct stat status {};
  const bool exists = stat(path.c_str(), &status) == 0;
  // A name too long, say: found out now, as the temporary name is another.
  if (!exists && errno != ENOENT) fail("cannot be written", errno);
  if (exists && S_ISDIR(status.st_mode)) fail("cannot be written", EISDIR);
  if (exists && !S_ISREG(status.st_mode)) {
    descriptor_ = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail("cannot be opened", errno);
    return;
  }
  if (exists && access(path.c_str(), W_OK) != 0) fail("cannot be written", errno);
  open_temporary(exists ? resolve(path) : path);
  if (exists) static_cast<void>(fchmod(descriptor_, status.st_mode & 0777));  // best effort
}

TargetFile::~TargetFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!temporary_.empty()) {
    unlink(temporary_.c_str());
    forget_temporary();
  }
}

void TargetFile::open_temporary(const std::string& path) {
  final_ = path;
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    // Not made from the final name, which may already be as long as names can be.
    std::string name =
        fmt::format("{}.biogpu-{}-{}.tmp", folder_of(path), getpid(), ++n_temporaries);
    // In the list before it exists: a signal in between must not leave it behind.
    unfinished_ = register_unfinished(name);
    descriptor_ = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ >= 0) {
      temporary_ = std::move(name);
      return;
    }
    const int error = errno;
    forget_unfinished(std::exchange(unfinished_, nullptr));
    if (error != EEXIST) fail("cannot be written", error);
  }
  fail("cannot be written", EEXIST);
}

void TargetFile::forget_temporary() {
  forget_unfinished(std::exchange(unfinished_, nullptr));
  temporary_.clear();
}

void TargetFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(descriptor_, bytes.data(), bytes.size());
    if (n >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno != EINTR) {
      fail("cannot be written", errno);
    }
  }
}

int TargetFile::release_descriptor() { return std::exchange(descriptor_, -1); }

void TargetFile::finish() {
  // Some file systems report a full disk or quota only when a file is closed.
  if (descriptor_ >= 0 && close(std::exchange(descriptor_, -1)) != 0) {
    fail("cannot be written", errno);
  }
}

void TargetFile::publish() {
  finish();
  if (temporary_.empty()) return;
  if (exchange_names()) {
    if (unlink(temporary_.c_str()) != 0) {  // a folder, say: it gets its name back
      const int error = errno;
      exchange_names();
      fail("cannot be renamed", error);
    }
  } else if (std::rename(temporary_.c_str(), final_.c_str()) != 0) {
    fail("cannot be renamed", errno);
  }
  forget_temporary();
}

// Swaps the temporary file with the one that bears the final name. False where there is none, or
// where the file system cannot. A rename onto a file makes ext4 bring what was written to the disk
// first, which for a large output takes longer than writing it did. As with every new file, what a
// power cut leaves is then up to the file system; who needs more calls sync.
bool TargetFile::exchange_names() const {
#ifdef RENAME_EXCHANGE
  return renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, final_.c_str(), RENAME_EXCHANGE) == 0;
#else
  return false;
#endif
}

void TargetFile::fail(const char* what, int error) const {
  if (error == EPIPE) throw ClosedPipe();
  if (error == ENOMEM) throw std::bad_alloc();
  throw Error(ErrorCode::failed,
              fmt::format("{}: {}: {}", label_, what, std::generic_category().message(error)));
}

}  // namespace biogpu::io::output
