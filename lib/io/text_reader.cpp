#include "lib/io/text_reader.hpp"

#include <cstddef>

#include "lib/io/char_buffer.hpp"
#include "lib/io/input/raw_file.hpp"
#include "lib/io/input/text_source.hpp"

namespace biogpu::io {
namespace {
constexpr std::size_t kPieceBytes = 256u << 10;
}

class TextReader::Impl {
 public:
  explicit Impl(const std::string& path)
      : file_(path), text_(input::open_text(file_, file_.peek(input::RawFile::kMaxPeek), 1)) {
    piece_.resize(kPieceBytes);
  }
  std::uint64_t bytes_read() const { return file_.bytes_read(); }
  std::string_view next() { return {piece_.data(), text_->read(piece_.data(), piece_.size())}; }

 private:
  input::RawFile file_;
  std::unique_ptr<input::ByteSource> text_;
  CharBuffer piece_;
};

TextReader::TextReader(const std::string& path) : impl_(std::make_unique<Impl>(path)) {}
TextReader::~TextReader() = default;
std::uint64_t TextReader::bytes_read() const { return impl_->bytes_read(); }
std::string_view TextReader::next() { return impl_->next(); }

}  // namespace biogpu::io
