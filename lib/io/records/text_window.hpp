#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
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
    data_ = buffer_.data();
  }
  // All of a text in memory, which outlives the window.
  explicit TextWindow(std::string_view text) : data_(text.data()), end_(text.size()) {}
  TextWindow(const TextWindow&) = delete;
  TextWindow& operator=(const TextWindow&) = delete;

  const char* begin() const { return data_ + begin_; }
  const char* end() const { return data_ + end_; }
  std::size_t size() const { return end_ - begin_; }
  void skip_to(const char* position) { begin_ = static_cast<std::size_t>(position - data_); }

  // Adds text behind end(); pointers into the window become invalid. False at the end of the text.
  bool refill() {
    if (source_ == nullptr) at_end_ = true;
    if (at_end_) return false;
    if (begin_ > 0) {
      std::memmove(buffer_.data(), begin(), size());
      end_ -= begin_;
      begin_ = 0;
    }
    if (end_ == buffer_.size()) buffer_.resize(2 * buffer_.size());
    data_ = buffer_.data();
    const std::size_t room = buffer_.size() - end_;
    const std::size_t got = source_->read(buffer_.data() + end_, room);
    at_end_ = got < room;
    end_ += got;
    return got > 0;
  }

  // True when some byte is left.
  bool has_text() { return size() > 0 || refill(); }
  // Whether no text follows end(), as far as was asked.
  bool at_end() const { return at_end_; }

  // Moves text out of the window, and what follows it in the source, as ByteSource::read() does.
  std::size_t take(char* to, std::size_t n) {
    std::size_t done = size() < n ? size() : n;
    if (done > 0) std::memcpy(to, begin(), done);
    begin_ += done;
    if (done < n && !at_end_ && source_ != nullptr) done += source_->read(to + done, n - done);
    return done;
  }

 private:
  // Half of a typical second-level cache: text is parsed and copied on while it is there.
  static constexpr std::size_t kBytes = 256u << 10;

  std::unique_ptr<ByteSource> source_;  // none for a text in memory
  CharBuffer buffer_;
  const char* data_ = nullptr;  // of the buffer, or of the text in memory
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool at_end_ = false;
};

}  // namespace biogpu::io::input
