#pragma once

#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace biogpu::app {

// Texts for several outputs as the one text of a result: of each the lengths of its name and
// itself, a line feed, the name, the text.
class NamedTexts {
 public:
  void add(std::string_view name, std::string_view text) {
    joined_ += std::to_string(name.size()) + ' ' + std::to_string(text.size()) + '\n';
    joined_ += name;
    joined_ += text;
  }
  const std::string& joined() const { return joined_; }

  static std::vector<std::pair<std::string_view, std::string_view>> split(std::string_view text) {
    std::vector<std::pair<std::string_view, std::string_view>> parts;
    const auto take_number = [&] {
      std::size_t n = 0;
      const char* const end = std::from_chars(text.data(), text.data() + text.size(), n).ptr;
      text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
      return n;
    };
    while (!text.empty()) {
      const std::size_t n_name = take_number(), n_text = take_number();
      parts.emplace_back(text.substr(0, n_name), text.substr(n_name, n_text));
      text.remove_prefix(n_name + n_text);
    }
    return parts;
  }

 private:
  std::string joined_;
};

}  // namespace biogpu::app
