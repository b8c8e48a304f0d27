#include "lib/infer/journal.hpp"

#include <fcntl.h>
#include <libdeflate.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "lib/core/error.hpp"

namespace biogpu::infer {
namespace {

constexpr char kMagic[] = {'B', 'G', 'I', 'J', 2, 0, 0, 0};
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 40;

template <class T>
void put(std::string& to, const T& value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}
void put_text(std::string& to, const std::string& text) {
  put(to, static_cast<std::uint64_t>(text.size()));
  to += text;
}

// A chunk of the file: the size of what follows, what Decoder reads, its checksum.
std::string encode(const BatchResult& result) {
  constexpr std::size_t kSize = sizeof(std::uint64_t);
  std::size_t n_bytes = result.text.size();
  for (const NamedArray& array : result.arrays)
    n_bytes += 64 + array.key.size() + array.values.size() * sizeof(float);
  std::string bytes;
  bytes.reserve(n_bytes + 64);
  put(bytes, std::uint64_t{0});
  put(bytes, result.n_records);
  put(bytes, result.n_residues);
  put(bytes, result.n_unknown);
  put_text(bytes, result.text);
  put(bytes, static_cast<std::uint64_t>(result.arrays.size()));
  for (const NamedArray& array : result.arrays) {
    put_text(bytes, array.key);
    put(bytes, static_cast<std::uint64_t>(array.kind_bytes));
    put(bytes, static_cast<std::uint64_t>(array.shape.size()));
    for (const std::int64_t n : array.shape) put(bytes, n);
    put(bytes, static_cast<std::uint64_t>(array.values.size()));
    bytes.append(reinterpret_cast<const char*>(array.values.data()),
                 array.values.size() * sizeof(float));
  }
  const std::uint64_t size = bytes.size() - kSize;
  std::memcpy(bytes.data(), &size, kSize);
  put(bytes, libdeflate_crc32(0, bytes.data() + kSize, size));
  return bytes;
}

// Reads what encode() wrote; the checksum vouches for it.
class Decoder {
 public:
  explicit Decoder(const std::string& bytes) : at_(bytes.data()) {}

  BatchResult decode() {
    BatchResult result;
    result.n_records = count();
    result.n_residues = count();
    result.n_unknown = count();
    result.text = text();
    result.arrays.resize(count());
    for (NamedArray& array : result.arrays) {
      array.key = text();
      array.kind_bytes = count();
      array.shape.resize(count());
      for (std::int64_t& n : array.shape) n = static_cast<std::int64_t>(count());
      array.values = Values::unset(count());
      const std::size_t bytes = array.values.size() * sizeof(float);
      if (bytes > 0) std::memcpy(array.values.data(), at_, bytes);
      at_ += bytes;
    }
    return result;
  }

 private:
  std::uint64_t count() {
    std::uint64_t value = 0;
    std::memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  std::string text() {
    const std::uint64_t n = count();
    std::string value(at_, n);
    at_ += n;
    return value;
  }
  const char* at_;
};

}  // namespace

Journal::Journal(const std::string& path, const std::string& fingerprint) : path_(path) {
  descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail("cannot be opened", errno);
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
    ::close(descriptor_);
    throw Error(
        ErrorCode::failed,
        path + ": is of a run with other inputs, model or options; remove it to begin anew");
  }
}

Journal::~Journal() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void Journal::replay(const std::function<void(const BatchResult&)>& consume) {
  off_t whole = ::lseek(descriptor_, 0, SEEK_CUR);
  const off_t end = ::lseek(descriptor_, 0, SEEK_END);
  ::lseek(descriptor_, whole, SEEK_SET);
  std::uint64_t size = 0;
  std::string payload;
  std::uint32_t crc = 0;
  while (read_exactly(&size, sizeof size) && size < kMostBytes &&
         static_cast<std::uint64_t>(end - whole) >= size) {
    payload.resize(size);
    if (!read_exactly(payload.data(), size) || !read_exactly(&crc, sizeof crc) ||
        crc != libdeflate_crc32(0, payload.data(), size))
      break;
    consume(Decoder(payload).decode());
    whole = ::lseek(descriptor_, 0, SEEK_CUR);
  }
  if (::ftruncate(descriptor_, whole) != 0 || ::lseek(descriptor_, whole, SEEK_SET) < 0)
    fail("cannot be written", errno);
}

void Journal::append(const BatchResult& result) { write_all(encode(result)); }

void Journal::remove() { ::unlink(path_.c_str()); }

void Journal::fail(const char* what, int error) const {
  throw Error(ErrorCode::failed,
              path_ + ": " + what + ": " + std::generic_category().message(error));
}

bool Journal::read_exactly(void* to, std::size_t bytes) {
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

void Journal::write_all(const std::string& bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = ::write(descriptor_, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno != EINTR) fail("cannot be written", errno);
    if (n > 0) done += static_cast<std::size_t>(n);
  }
}

}  // namespace biogpu::infer
