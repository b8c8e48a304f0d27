#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "lib/core/error.hpp"
#include "lib/io/arrays/formats.hpp"
#include "lib/io/output/atomic_file.hpp"

namespace biogpu::io {
namespace {

constexpr char kMetadata[] = "__metadata__";
// The format's own library reads 100,000,000 bytes, which include the end that follows.
constexpr std::size_t kMaxHeader = 100000000 - 100;
constexpr std::size_t kSizeBytes = 8;  // of the header, in front of it

// Room for the header in front of the numbers, and the bytes of numbers from which on it is used:
// few numbers get a header without padding.
constexpr std::size_t kReserved = std::size_t{1} << 20;
constexpr std::uint64_t kMinReservedBytes = std::uint64_t{64} << 20;

// The header comes first and tells every size, so the numbers are written behind room for one.
// Where they are few, or the room is too small, they are copied behind the header into a second
// file; one of the two is never given a name.
class SafetensorsWriter final : public ArrayWriter {
 public:
  explicit SafetensorsWriter(const std::string& path) : file_(path), data_(path), path_(path) {
    if (!data_.can_seek()) throw Error(ErrorCode::usage, path + ": .safetensors needs a file");
    // What the program was started with, and devices, are one file under both names.
    if (data_.is_regular()) reserved_ = kReserved;
    if (reserved_ > 0) data_.seek(reserved_);
  }

  void add(const NamedArray& array) override {
    const std::string_view bytes = bytes_of(array.values);
    data_.write(bytes);
    const std::string key = keys_.unique(array);
    require_text_name(path_, array, key);
    if (key == kMetadata)
      refuse_name(path_, array, key, "cannot be a name in safetensors; use .npz");
    // Text, as a JSON object that keeps its order looks through all keys for each new one.
    header_ += nlohmann::json(key).dump() + ":" +
               nlohmann::ordered_json{{"dtype", "F32"},
                                      {"shape", array.shape},
                                      {"data_offsets", {bytes_, bytes_ + bytes.size()}}}
                   .dump() +
               ",";
    bytes_ += bytes.size();
    if (header_.size() > kMaxHeader)
      refuse_name(path_, array, key,
                  fmt::format("and those before it need more than the {} bytes that readers of "
                              "safetensors take; use .h5 or .npz",
                              kMaxHeader));
  }

  void commit() override {
    std::string text = header_ + "\"" + kMetadata + "\":{\"format\":\"np\"}}";
    const bool in_front = bytes_ >= kMinReservedBytes && text.size() + kSizeBytes <= reserved_;
    text.append(in_front ? reserved_ - kSizeBytes - text.size() : (8 - text.size() % 8) % 8, ' ');
    const std::uint64_t size = text.size();
    std::string prefix;
    for (std::size_t i = 0; i < kSizeBytes; ++i)
      prefix += static_cast<char>(size >> (8 * i) & 0xff);
    if (in_front) {
      data_.write_at(0, prefix + text);
      data_.commit();
      return;
    }
    file_.write(prefix);
    file_.write(text);
    copy();
    file_.commit();
  }
  std::uint64_t bytes() const override { return bytes_; }

 private:
  void copy() {
    // The descriptor is open for writing only; its own path under /proc reads.
    auto at = static_cast<loff_t>(reserved_);
    const std::string path = "/proc/self/fd/" + std::to_string(data_.descriptor());
    const int from = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (from < 0) data_.fail("cannot be read", errno);
    std::string block(1u << 20, '\0');
    while (static_cast<std::uint64_t>(at) < reserved_ + bytes_) {
      const ssize_t n = ::pread(from, block.data(), block.size(), at);
      if (n <= 0) {
        const int error = n == 0 ? EIO : errno;
        ::close(from);
        data_.fail("cannot be read", error);
      }
      file_.write({block.data(), static_cast<std::size_t>(n)});
      at += n;
    }
    ::close(from);
  }

  io::output::AtomicFile file_;
  io::output::AtomicFile data_;
  std::string path_;
  std::string header_ = "{";
  KeySet keys_;
  std::size_t reserved_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace

std::unique_ptr<ArrayWriter> make_safetensors_writer(const std::string& path) {
  return std::make_unique<SafetensorsWriter>(path);
}

}  // namespace biogpu::io
