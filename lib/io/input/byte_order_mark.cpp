#include "lib/io/input/byte_order_mark.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "lib/core/error.hpp"

namespace biogpu::io::input {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kUtf8Mark = "\xef\xbb\xbf"sv;
constexpr std::size_t kMaxMarkBytes = 4;

// Marks of encodings that are not read; that of UTF-32 begins like one of UTF-16.
constexpr std::pair<std::string_view, std::string_view> kRefusedMarks[] = {
    {"\xff\xfe\0\0"sv, "UTF-32"sv},
    {"\0\0\xfe\xff"sv, "UTF-32"sv},
    {"\xff\xfe"sv, "UTF-16"sv},
    {"\xfe\xff"sv, "UTF-16"sv}};

class WithoutMark : public ByteSource {
 public:
  WithoutMark(std::unique_ptr<ByteSource> text, std::string label)
      : text_(std::move(text)), label_(std::move(label)) {}

  std::size_t read(char* to, std::size_t n) override {
    if (n == 0) return 0;
    if (!began_) begin();
    const std::size_t from_head = std::min(n, left_.size());
    std::memcpy(to, left_.data(), from_head);
    left_.remove_prefix(from_head);
    return from_head + (from_head < n ? text_->read(to + from_head, n - from_head) : 0);
  }

 private:
  void begin() {
    left_ = {head_, text_->read(head_, kMaxMarkBytes)};
    left_ = without_mark(left_, label_);
    began_ = true;
  }

  std::unique_ptr<ByteSource> text_;
  std::string label_;
  char head_[kMaxMarkBytes] = {};
  std::string_view left_;  // of the head
  bool began_ = false;
};

}  // namespace

std::size_t count_mark_bytes(std::string_view head, const std::string& label) {
  for (const auto& [mark, encoding] : kRefusedMarks)
    if (head.starts_with(mark))
      throw Error(ErrorCode::bad_input,
                  fmt::format("{}: begins with the byte order mark of {}; expected text in ASCII "
                              "or UTF-8 (iconv -f {} -t UTF-8 converts it)",
                              label, encoding, encoding));
  return head.starts_with(kUtf8Mark) ? kUtf8Mark.size() : 0;
}

std::string_view without_mark(std::string_view text, const std::string& label) {
  return text.substr(count_mark_bytes(text.substr(0, kMaxMarkBytes), label));
}

std::unique_ptr<ByteSource> without_mark(std::unique_ptr<ByteSource> text, std::string label) {
  return std::make_unique<WithoutMark>(std::move(text), std::move(label));
}

}  // namespace biogpu::io::input
