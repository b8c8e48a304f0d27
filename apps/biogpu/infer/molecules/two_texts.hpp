#pragma once

#include <charconv>
#include <string>
#include <string_view>
#include <utility>

namespace biogpu::app {

// What a batch adds to frames and to a table as the one text of a result: the length of the first,
// a line feed, both.
inline std::string join_texts(std::string_view frames, std::string_view lines) {
  std::string text = std::to_string(frames.size());
  text += '\n';
  text += frames;
  text += lines;
  return text;
}

inline std::pair<std::string_view, std::string_view> split_texts(std::string_view text) {
  std::size_t n = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), n).ptr;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  return {text.substr(0, n), text.substr(n)};
}

}  // namespace biogpu::app
