#include "lib/io/input/raw_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <htslib/hfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <new>
#include <system_error>
#include <utility>

#include "lib/core/error.hpp"
#include "lib/io/mapped_file.hpp"

namespace biogpu::io::input {

std::string label_of(const std::string& path) { return path == "-" ? "standard input" : path; }

namespace {

bool has_gzip_name(std::string name) {
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name.ends_with(".gz") || name.ends_with(".bgz") || name.ends_with(".bgzf");
}

}  // namespace

RawFile::RawFile(const std::string& path) : label_(label_of(path)) {
  // The file is opened here and not by htslib, which takes some names for URLs.
  descriptor_ = path == "-" ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                            : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) fail("cannot be opened");
  struct stat status {};
  const bool known = fstat(descriptor_, &status) == 0;
  if (known && S_ISDIR(status.st_mode)) {
    close(descriptor_);
    throw Error(ErrorCode::failed, fmt::format("{}: is a folder; expected a file", label_));
  }
  if (known && S_ISREG(status.st_mode)) {
    file_bytes_ = static_cast<std::uint64_t>(status.st_size);
    const off_t begin = lseek(descriptor_, 0, SEEK_CUR);  // standard input may be read from within
    if (begin > 0) begin_ = static_cast<std::uint64_t>(begin);
  }
  file_ = hdopen(descriptor_, "r");
  if (file_ == nullptr) {
    close(descriptor_);
    throw std::bad_alloc();
  }
}

RawFile::~RawFile() {
  if (file_ != nullptr) hclose_abruptly(file_);
}

std::string RawFile::peek(std::size_t n) {
  std::string head(n, '\0');
  const ssize_t got = hpeek(file_, head.data(), n);
  if (got < 0) fail("cannot be read");
  check_not_empty(got == 0);
  head.resize(static_cast<std::size_t>(got));
  return head;
}

std::size_t RawFile::read(char* to, std::size_t n) {
  const ssize_t got = hread(file_, to, n);
  if (got < 0) fail("cannot be read");
  bytes_read_ += static_cast<std::uint64_t>(got);
  check_not_empty(n > 0 && bytes_read_ == 0);
  if (static_cast<std::size_t>(got) < n) check_end(begin_ + bytes_read_);
  return static_cast<std::size_t>(got);
}

// Compressed text has a header and a trailer even where there is no text.
void RawFile::check_not_empty(bool is_empty) const {
  if (is_empty && has_gzip_name(label_))
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: has 0 bytes; expected gzip, as its name says; the file may be cut "
                            "short",
                            label_));
}

std::size_t RawFile::read_at(std::uint64_t offset, char* to, std::size_t n) const {
  std::size_t done = 0;
  while (done < n) {
    const ssize_t got = pread(descriptor_, to + done, n - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("cannot be read");
    if (got == 0) {
      check_end(offset + done);
      break;
    }
    done += static_cast<std::size_t>(got);
  }
  return done;
}

void RawFile::seek(std::uint64_t offset) {
  if (hseek(file_, static_cast<off_t>(offset), SEEK_SET) < 0) fail("cannot be read");
  set_position(offset);
}

// Some file systems give sizes that reading does not bear out: only a size that changed counts.
void RawFile::check_end(std::uint64_t end) const {
  struct stat status {};
  if (end < file_bytes_ && fstat(descriptor_, &status) == 0 &&
      static_cast<std::uint64_t>(status.st_size) < file_bytes_)
    throw Error(ErrorCode::failed, fmt::format("{}: {}", label_, kBecameShorter));
}

hFILE* RawFile::release() { return std::exchange(file_, nullptr); }

void RawFile::fail(const char* what) const {
  if (errno == ENOMEM) throw std::bad_alloc();
  throw Error(ErrorCode::failed,
              fmt::format("{}: {}: {}", label_, what, std::generic_category().message(errno)));
}

}  // namespace biogpu::io::input
