#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>

#include "lib/io/char_buffer.hpp"
#include "lib/io/input/byte_source.hpp"

namespace biogpu::io::input {

// The stretch of a text that a parser works on. Parsers advance begin() past what they have used
// and ask for more when what is left is not enough; the rest is kept, so that a record is always
// seen whole. The window grows only for a record that is longer than it.
class TextWindow {
 public:
  explicit TextWindow(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {
    buffer_.resize(kBytes);
  }

  const char* begin() const { return buffer_.data() + begin_; }
  const char* end() const { return buffer_.data() + end_; }
  std::size_t size() const { return end_ - begin_; }
  void skip_to(const char* position) {
    begin_ = static_cast<std::size_t>(position - buffer_.data());
  }

  // Adds text behind end(); pointers into the window become invalid. False at the end of the text.
  bool refill() {
    if (at_end_) return false;
    if (begin_ > 0) {
      std::memmove(buffer_.data(), begin(), size());
      end_ -= begin_;
      begin_ = 0;
    }
    if (end_ == buffer_.size()) buffer_.resize(2 * buffer_.size());
    const std::size_t room = buffer_.size() - end_;
    const std::size_t got = source_->read(buffer_.data() + end_, room);
    at_end_ = got < room;
    end_ += got;
    return got > 0;
  }

  // True when some byte is left.
  bool has_text() { return size() > 0 || refill(); }

 private:
  // Half of a typical second-level cache: text is parsed and copied on while it is there.
  static constexpr std::size_t kBytes = 256u << 10;

  std::unique_ptr<ByteSource> source_;
  CharBuffer buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool at_end_ = false;
};

}  // namespace biogpu::io::input
