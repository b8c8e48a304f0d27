#include "lib/pipeline/resume_log.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <libdeflate.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "lib/core/error.hpp"

namespace biogpu::pipeline {
namespace {

constexpr char kMagic[] = {'B', 'G', 'I', 'J', 4, 0, 0, 0};
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 40;

template <class T>
void put(std::string& to, const T& value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}
void put_text(std::string& to, const std::string& text) {
  put(to, static_cast<std::uint64_t>(text.size()));
  to += text;
}

// A chunk of the file: the size of what follows, what Decoder reads, its checksum.
std::string encode(const RecordOutputs& result) {
  constexpr std::size_t kSize = sizeof(std::uint64_t);
  std::size_t n_bytes = result.text.size();
  for (const io::NamedArray& array : result.arrays)
    n_bytes += 64 + array.key.size() + array.values.size() * sizeof(float);
  std::string bytes;
  bytes.reserve(n_bytes + 64);
  put(bytes, std::uint64_t{0});
  put(bytes, result.n_records);
  put(bytes, result.n_residues);
  put(bytes, result.n_unknown);
  put_text(bytes, result.text);
  put(bytes, static_cast<std::uint64_t>(result.arrays.size()));
  for (const io::NamedArray& array : result.arrays) {
    put_text(bytes, array.key);
    put(bytes, static_cast<std::uint64_t>(array.kind_bytes));
    put(bytes, static_cast<std::uint64_t>(array.shape.size()));
    for (const std::int64_t n : array.shape) put(bytes, n);
    put(bytes, static_cast<std::uint64_t>(array.values.size()));
    bytes.append(reinterpret_cast<const char*>(array.values.data()),
                 array.values.size() * sizeof(float));
  }
  put(bytes, static_cast<std::uint64_t>(result.warnings.size()));
  for (const std::string& warning : result.warnings) put_text(bytes, warning);
  put(bytes, static_cast<std::uint64_t>(result.positions.size()));
  for (const RecordOutputs::Position& position : result.positions) {
    put(bytes, position.contig);
    put(bytes, position.begin);
  }
  const std::uint64_t size = bytes.size() - kSize;
  std::memcpy(bytes.data(), &size, kSize);
  put(bytes, libdeflate_crc32(0, bytes.data() + kSize, size));
  return bytes;
}

// Reads what encode() wrote. A right checksum says that a chunk is whole, not that we wrote it:
// every count is held against what is left of it before anything is sized by it.
class Decoder {
 public:
  Decoder(const std::string& bytes, std::string place)
      : at_(bytes.data()), end_(bytes.data() + bytes.size()), place_(std::move(place)) {}

  RecordOutputs decode() {
    RecordOutputs result;
    result.n_records = count();
    result.n_residues = count();
    result.n_unknown = count();
    if (result.n_unknown > result.n_residues) fail("more unknown residues than residues");
    result.text = text();
    const std::uint64_t n_arrays = count(kMinArrayBytes);
    if (n_arrays > 0 && (result.n_records == 0 || n_arrays % result.n_records != 0))
      fail(fmt::format("{} arrays of {} records", n_arrays, result.n_records));
    result.arrays.resize(n_arrays);
    for (io::NamedArray& array : result.arrays) read_array(array);
    result.warnings.resize(count(sizeof(std::uint64_t)));
    for (std::string& warning : result.warnings) warning = text();
    result.positions.resize(count(2 * sizeof(std::uint64_t)));
    if (!result.positions.empty() && result.positions.size() != n_arrays)
      fail(fmt::format("{} positions of {} arrays", result.positions.size(), n_arrays));
    for (RecordOutputs::Position& position : result.positions) {
      position.contig = count();
      position.begin = static_cast<std::int64_t>(count());
    }
    if (at_ != end_) fail(fmt::format("{} bytes after the last position", end_ - at_));
    return result;
  }

 private:
  static constexpr std::uint64_t kMinArrayBytes = 4 * sizeof(std::uint64_t);
  static constexpr std::uint64_t kMaxRank = 3;

  void read_array(io::NamedArray& array) {
    array.key = text();
    array.kind_bytes = count();
    if (array.kind_bytes > array.key.size()) fail("a kind longer than the key");
    array.shape.resize(count(sizeof(std::int64_t)));
    if (array.shape.empty() || array.shape.size() > kMaxRank)
      fail(fmt::format("an array of {} dimensions", array.shape.size()));
    std::uint64_t n_numbers = 1;
    for (std::int64_t& n : array.shape) {
      const std::uint64_t size = count();
      if (size > INT64_MAX || __builtin_mul_overflow(n_numbers, size, &n_numbers))
        fail("an array of too many numbers");
      n = static_cast<std::int64_t>(size);
    }
    const std::uint64_t n_values = count(sizeof(float));
    if (n_values != n_numbers) fail(fmt::format("{} numbers of {}", n_values, n_numbers));
    array.values = io::SharedArray::unset(n_values);
    if (n_values > 0) std::memcpy(array.values.data(), at_, n_values * sizeof(float));
    at_ += n_values * sizeof(float);
  }

  std::uint64_t left() const { return static_cast<std::uint64_t>(end_ - at_); }

  std::uint64_t count() {
    std::uint64_t value = 0;
    if (left() < sizeof value) fail("a batch that ends in a number");
    std::memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  // Of items of at least this many bytes each, which follow.
  std::uint64_t count(std::uint64_t item_bytes) {
    const std::uint64_t n = count();
    if (n > left() / item_bytes)
      fail(fmt::format("{} items of {} bytes or more in {} bytes", n, item_bytes, left()));
    return n;
  }
  std::string text() {
    const std::uint64_t n = count(1);
    std::string value(at_, n);
    at_ += n;
    return value;
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: {}; remove the file to start again", place_, what));
  }

  const char* at_;
  const char* end_;
  std::string place_;
};

}  // namespace

ResumeLog::ResumeLog(std::string path, const std::string& fingerprint) : path_(std::move(path)) {
  open_locked();
  try {
    begin(fingerprint);
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

// A run that ends removes its file: one that opened the file before has a lock on no name, and
// opens again.
void ResumeLog::open_locked() {
  for (;;) {
    descriptor_ =
        ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (descriptor_ < 0 && errno == ELOOP)
      throw Error(ErrorCode::failed,
                  path_ + ": is a symbolic link, which is not followed; expected a file or none");
    if (descriptor_ < 0) fail("cannot be opened", errno);
    struct stat opened {};
    struct stat named {};
    const bool is_file = ::fstat(descriptor_, &opened) == 0 && S_ISREG(opened.st_mode);
    const int lock_error = is_file && ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 ? errno : 0;
    const bool is_ours = is_file && ::lstat(path_.c_str(), &named) == 0 &&
                         named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
    // Some file systems of networks have no locks.
    const bool is_locked = lock_error == 0 || lock_error == ENOLCK || lock_error == EOPNOTSUPP;
    if (is_ours && is_locked) return;
    ::close(std::exchange(descriptor_, -1));
    if (!is_file) throw Error(ErrorCode::failed, path_ + ": is no plain file");
    if (lock_error == EWOULDBLOCK)
      throw Error(ErrorCode::failed, path_ + ": another run is writing it; wait for its end");
    if (!is_locked) fail("cannot be locked", lock_error);
  }
}

void ResumeLog::begin(const std::string& fingerprint) {
  std::string head(kMagic, sizeof kMagic);
  put_text(head, fingerprint);
  const off_t size = ::lseek(descriptor_, 0, SEEK_END);
  if (size < 0 || ::lseek(descriptor_, 0, SEEK_SET) < 0) fail("cannot be read", errno);
  std::string found(std::min(head.size(), static_cast<std::size_t>(size)), '\0');
  if (!read_exactly(found.data(), found.size())) fail("cannot be read", EIO);
  if (head.starts_with(found) && found.size() < head.size()) {  // new, or cut short in its head
    if (::ftruncate(descriptor_, 0) != 0 || ::lseek(descriptor_, 0, SEEK_SET) < 0)
      fail("cannot be written", errno);
    write_all(head);
  } else if (found != head) {
    throw Error(
        ErrorCode::failed,
        path_ + ": is of a run with other inputs, model or options; remove it to start again");
  }
}

ResumeLog::~ResumeLog() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void ResumeLog::replay(const std::function<void(const RecordOutputs&)>& consume) {
  off_t whole = ::lseek(descriptor_, 0, SEEK_CUR);
  const off_t end = ::lseek(descriptor_, 0, SEEK_END);
  ::lseek(descriptor_, whole, SEEK_SET);
  std::uint64_t size = 0;
  std::string payload;
  std::uint32_t crc = 0;
  std::uint64_t n_batches = 0;
  while (read_exactly(&size, sizeof size) && size < kMaxBytes &&
         static_cast<std::uint64_t>(end - whole) >= size) {
    payload.resize(size);
    if (!read_exactly(payload.data(), size) || !read_exactly(&crc, sizeof crc) ||
        crc != libdeflate_crc32(0, payload.data(), size))
      break;
    consume(Decoder(payload, fmt::format("{}: batch {}", path_, ++n_batches)).decode());
    whole = ::lseek(descriptor_, 0, SEEK_CUR);
  }
  if (::ftruncate(descriptor_, whole) != 0 || ::lseek(descriptor_, whole, SEEK_SET) < 0)
    fail("cannot be written", errno);
}

void ResumeLog::append(const RecordOutputs& result) { write_all(encode(result)); }

void ResumeLog::remove() { ::unlink(path_.c_str()); }

void ResumeLog::fail(const char* what, int error) const {
  throw Error(ErrorCode::failed,
              path_ + ": " + what + ": " + std::generic_category().message(error));
}

bool ResumeLog::read_exactly(void* to, std::size_t bytes) {
  auto* at = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t n = ::read(descriptor_, at, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("cannot be read", errno);
    if (n == 0) return false;
    at += n;
    bytes -= static_cast<std::size_t>(n);
  }
  return true;
}

void ResumeLog::write_all(const std::string& bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = ::write(descriptor_, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno != EINTR) fail("cannot be written", errno);
    if (n > 0) done += static_cast<std::size_t>(n);
  }
}

}  // namespace biogpu::pipeline
