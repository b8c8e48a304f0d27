#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace biogpu {

// JSON and CBOR of files. The library that reads CBOR and writes JSON calls itself once a level, so
// that a few hundred kilobytes of brackets overflow the stack: the nesting is bounded before.
inline constexpr std::size_t kMaxJsonDepth = 64;

// Throw Error{bad_input}, beginning with label, the name of the file, where arrays, objects, tags
// and strings in chunks are nested deeper than max_depth. The second also refuses CBOR that ends
// inside an item, or whose lengths exceed the bytes that are left.
void check_json_depth(std::string_view text, const std::string& label,
                      std::size_t max_depth = kMaxJsonDepth);
void check_cbor_depth(std::string_view bytes, const std::string& label,
                      std::size_t max_depth = kMaxJsonDepth);

// Throws Error{bad_input}: what was found at the byte.
[[noreturn]] void throw_malformed_json(const std::string& label, std::size_t byte);

// The whole text as JSON: nlohmann::json, or ordered_json to keep the order of keys. Throws
// Error{bad_input} for text that is not JSON or is nested too deep.
template <class Json = nlohmann::json>
Json parse_bounded_json(std::string_view text, const std::string& label,
                        std::size_t max_depth = kMaxJsonDepth) {
  check_json_depth(text, label, max_depth);
  try {
    return Json::parse(text.begin(), text.end());
  } catch (const nlohmann::json::parse_error& error) {
    throw_malformed_json(label, error.byte);
  } catch (const nlohmann::json::exception&) {
    throw_malformed_json(label, 0);  // a number out of range
  }
}

// The same of one CBOR item that takes all bytes.
template <class Json = nlohmann::json>
Json parse_bounded_cbor(std::string_view bytes, const std::string& label,
                        std::size_t max_depth = kMaxJsonDepth) {
  check_cbor_depth(bytes, label, max_depth);
  try {
    return Json::from_cbor(bytes.begin(), bytes.end());
  } catch (const nlohmann::json::parse_error& error) {
    throw_malformed_json(label, error.byte);
  } catch (const nlohmann::json::exception&) {
    throw_malformed_json(label, 0);
  }
}

}  // namespace biogpu
