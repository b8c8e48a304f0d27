#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <charconv>

#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"
#include "lib/io/arrays/formats.hpp"
#include "lib/io/commit_guard.hpp"
#include "lib/io/output/atomic_file.hpp"
#include "lib/io/output_file.hpp"
#include "lib/io/table_fields.hpp"

namespace biogpu::io {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::size_t kHeaderBytes = 128;  // of a two-dimensional array of any size
constexpr std::size_t kPreambleBytes = 10;

// Rows of every array one after the other; what lies where is told by the index beside it.
class NpyWriter final : public ArrayWriter {
 public:
  explicit NpyWriter(const std::string& path) : file_(path), index_(npy_index(path)), path_(path) {
    if (!file_.can_seek())
      throw Error(ErrorCode::usage, path + ": .npy needs a file that can be rewound");
    file_.write(npy_header({0, 0}, kHeaderBytes));
    index_.write("key\tfirst_row\trows\n");
  }

  void add(const NamedArray& array) override {
    std::int64_t n = 1;
    for (std::size_t axis = 0; axis + 1 < array.shape.size(); ++axis) n *= array.shape[axis];
    if (width_ < 0) width_ = array.shape.back();
    if (array.shape.back() != width_)
      throw Error(ErrorCode::usage,
                  fmt::format("{}: one .npy holds rows of one width, and {} has another; use .npz, "
                              ".h5 or .safetensors",
                              path_, shortened(array.key)));
    file_.write(bytes_of(array.values));
    index_.write(fmt::format("{}\t{}\t{}\n", as_field(keys_.unique(array)), n_rows_, n));
    n_rows_ += n;
  }

  void commit() override {
    const std::string header =
        npy_header({n_rows_, std::max<std::int64_t>(0, width_)}, kHeaderBytes);
    if (::pwrite(file_.descriptor(), header.data(), header.size(), 0) !=
        static_cast<ssize_t>(header.size()))
      file_.fail("cannot be written", errno);
    index_.finish();
    const io::CommitGuard guard;
    file_.commit();
    index_.commit();
  }

  std::uint64_t bytes() const override {
    return kHeaderBytes +
           static_cast<std::uint64_t>(n_rows_ * std::max<std::int64_t>(0, width_)) * sizeof(float);
  }

 private:
  io::output::AtomicFile file_;
  io::OutputFile index_;
  std::string path_;
  KeySet keys_;
  std::int64_t n_rows_ = 0;
  std::int64_t width_ = -1;
};

// The fewest digits that read as the same fp32 number.
void append_number(fmt::memory_buffer& line, float value) {
  std::array<char, 32> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  line.push_back('\t');
  line.append(text.data(), end);
}

class TsvWriter final : public ArrayWriter {
 public:
  explicit TsvWriter(const std::string& path) : file_(path) {}

  void add(const NamedArray& array) override {
    const auto width = static_cast<std::size_t>(array.shape.back());
    const std::size_t n = width == 0 ? 0 : array.values.size() / width;
    const std::string key = as_field(keys_.unique(array));
    for (std::size_t row = 0; row < n; ++row) {
      fmt::memory_buffer line;
      fmt::format_to(std::back_inserter(line), "{}", key);
      if (array.shape.size() > 1) fmt::format_to(std::back_inserter(line), "\t{}", row + 1);
      for (std::size_t i = 0; i < width; ++i) append_number(line, array.values[row * width + i]);
      line.push_back('\n');
      file_.write({line.data(), line.size()});
    }
  }
  void commit() override { file_.commit(); }
  std::uint64_t bytes() const override { return file_.bytes(); }

 private:
  io::OutputFile file_;
  KeySet keys_;
};

}  // namespace

std::string npy_index(const std::string& path) { return path + ".index.tsv"; }

std::string npy_header(const std::vector<std::int64_t>& shape, std::size_t min_bytes) {
  std::string text = fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}{}), }}",
                                 fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  const std::size_t unpadded = kPreambleBytes + text.size() + 1;
  const std::size_t size = std::max((unpadded + 63) / 64 * 64, min_bytes);
  text.append(size - unpadded, ' ');
  text += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(text.size() & 0xff);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

std::unique_ptr<ArrayWriter> make_npy_writer(const std::string& path) {
  return std::make_unique<NpyWriter>(path);
}
std::unique_ptr<ArrayWriter> make_tsv_writer(const std::string& path) {
  return std::make_unique<TsvWriter>(path);
}

}  // namespace biogpu::io
