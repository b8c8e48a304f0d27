#include "lib/report/markup_text.hpp"

#include <nlohmann/json.hpp>

namespace biogpu::report {

std::string markup_escaped(std::string_view text) {
  // Bytes that are no UTF-8 become U+FFFD here, and control characters below.
  using nlohmann::json;
  const std::string valid =
      json::parse(json(text).dump(-1, ' ', false, json::error_handler_t::replace))
          .get<std::string>();
  std::string out;
  for (const char c : valid) {
    if ((static_cast<unsigned char>(c) < ' ' && c != '\t' && c != '\n') || c == '\x7f')
      out += "&#xfffd;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else if (c == '\'')
      out += "&#39;";
    else
      out += c;
  }
  return out;
}

}  // namespace biogpu::report
