#include "lib/io/output/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <system_error>
#include <utility>

#include "lib/core/error.hpp"
#include "lib/io/mapped_file.hpp"
#include "lib/io/output/output_target.hpp"

namespace biogpu::io::output {
namespace {

// A copy of a descriptor that the program was started with. Such a one is kept over exec; others
// are those of files that this run opened.
int copy_inherited(int descriptor) {
  const int flags = fcntl(descriptor, F_GETFD);
  if (flags >= 0 && (flags & FD_CLOEXEC) == 0) return fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
  errno = EBADF;
  return -1;
}

}  // namespace

std::atomic<int>& AtomicFile::Unfinished::count() {
  static std::atomic<int> n{0};
  return n;
}

AtomicFile::AtomicFile(const std::string& given) : label_(given) {
  const auto [inherited, path] = resolve_target(given);
  is_stream_ = inherited >= 0;
  if (is_stream_) {
    if (inherited == STDOUT_FILENO) label_ = "standard output";
    descriptor_ = copy_inherited(inherited);
    if (descriptor_ < 0) fail("cannot be opened", errno);
    // One that was closed when the program began: found out before the work, not after it.
    if ((fcntl(descriptor_, F_GETFL) & O_ACCMODE) == O_RDONLY) {
      close(descriptor_);
      fail("cannot be written", EBADF);
    }
    return;
  }
  struct stat status {};
  const bool exists = stat(path.c_str(), &status) == 0;
  // A name too long, say: found out now, as the file has no name or another until it is whole.
  if (!exists && errno != ENOENT) fail("cannot be written", errno);
  if (exists && S_ISDIR(status.st_mode)) fail("cannot be written", EISDIR);
  if (exists && !S_ISREG(status.st_mode)) {
    descriptor_ = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail("cannot be opened", errno);
    return;
  }
  if (exists && access(path.c_str(), W_OK) != 0) fail("cannot be written", errno);
  temporary_.emplace(path);
  if (const int error = temporary_->open(); error != 0) fail("cannot be written", error);
  if (exists)  // best effort
    static_cast<void>(fchmod(temporary_->descriptor(), status.st_mode & 0777));
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

bool AtomicFile::can_seek() const {
  return temporary_ || (!is_stream_ && lseek(descriptor_, 0, SEEK_CUR) >= 0);
}

int AtomicFile::descriptor() const { return temporary_ ? temporary_->descriptor() : descriptor_; }

void AtomicFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(descriptor(), bytes.data(), bytes.size());
    if (n >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno != EINTR) {
      fail("cannot be written", errno);
    }
  }
}

void AtomicFile::write_at(std::uint64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n =
        ::pwrite(descriptor(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(n));
      offset += static_cast<std::uint64_t>(n);
    } else if (errno != EINTR) {
      fail("cannot be written", errno);
    }
  }
}

void AtomicFile::seek(std::uint64_t offset) {
  if (lseek(descriptor(), static_cast<off_t>(offset), SEEK_SET) < 0)
    fail("cannot be written", errno);
}

int AtomicFile::release_descriptor() {
  if (!temporary_) return std::exchange(descriptor_, -1);
  const int released = temporary_->descriptor();
  if (const int error = temporary_->share_descriptor(); error != 0)
    fail("cannot be written", error);
  return released;
}

void AtomicFile::finish() {
  check_mapped_files();
  if (temporary_) {
    if (const int error = temporary_->finish(); error != 0) fail("cannot be written", error);
  } else if (descriptor_ >= 0 && close(std::exchange(descriptor_, -1)) != 0) {
    fail("cannot be written", errno);
  }
}

void AtomicFile::commit() {
  finish();
  if (temporary_) {
    if (const int error = temporary_->commit(); error != 0) fail("cannot be renamed", error);
    temporary_.reset();
  }
  unfinished_.reset();
}

void AtomicFile::fail(const char* what, int error) const {
  if (error == EPIPE && Unfinished::count() > 1)
    throw Error(ErrorCode::failed,
                label_ + ": its reader closed it before the other outputs were written");
  if (error == EPIPE) throw ClosedPipe();
  if (error == ENOMEM) throw std::bad_alloc();
  throw Error(ErrorCode::failed,
              fmt::format("{}: {}: {}", label_, what, std::generic_category().message(error)));
}

}  // namespace biogpu::io::output
