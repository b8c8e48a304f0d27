#include "lib/core/bounded_json.hpp"

#include <string>

#include "lib/core/error.hpp"
#include "tests/support/catch.hpp"

using namespace biogpu;

namespace {

std::string repeat(const std::string& text, std::size_t n) {
  std::string all;
  for (std::size_t i = 0; i < n; ++i) all += text;
  return all;
}

template <class Function>
std::string message_of(Function&& function) {
  try {
    function();
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::bad_input);
    return error.what();
  }
  return "";
}

std::string text_error(const std::string& text) {
  return message_of([&] { parse_bounded_json(text, "a.json"); });
}
std::string cbor_error(const std::string& bytes) {
  return message_of([&] { parse_bounded_cbor(bytes, "a.cbor"); });
}

}  // namespace

TEST_CASE("core.bounded_json: text is parsed up to the bound of its depth", "[core]") {
  CHECK(parse_bounded_json(repeat("[", 64) + repeat("]", 64), "a.json").is_array());
  CHECK(text_error(repeat("[", 65) + repeat("]", 65)).find("a.json: ") == 0);
  CHECK(text_error(repeat("{\"k\":", 65) + "1" + repeat("}", 65)).find("deep") !=
        std::string::npos);
  CHECK(text_error(repeat("[", 3'000'000)).find("deep") != std::string::npos);
  // Brackets of strings do not count, and those that are closed do not add up.
  const std::string quoted = "\"\\\"" + repeat("[{", 100) + "\\\\\"";
  CHECK(parse_bounded_json("[" + quoted + repeat(",[[]]", 100) + "]", "a.json").size() == 101);
}

TEST_CASE("core.bounded_json: text that is no JSON is refused by its byte, not by its words",
          "[core]") {
  const std::string error = text_error("{\"k\": " + std::string(5000, 'x') + "}");
  CHECK(error.find("a.json: malformed at byte 7") == 0);
  CHECK(error.size() < 100);
  CHECK(text_error("[1e999]").find("a.json: malformed") == 0);
  CHECK(text_error("").find("a.json: malformed") == 0);
}

TEST_CASE("core.bounded_json: CBOR is parsed up to the bound of its depth", "[core]") {
  CHECK(parse_bounded_cbor(repeat("\x81", 63) + "\x80", "a.cbor").is_array());
  for (const std::string nest : {"\x81", "\x9f", "\xa1\x61\x6b", "\xbf\x61\x6b", "\xd8\x2a", "\xc1",
                                 "\x7f", "\x5f", "\x98\x01"})
    CHECK(cbor_error(repeat(nest, 2'000'000)).find("deep") != std::string::npos);
}

TEST_CASE("core.bounded_json: CBOR whose lengths exceed its bytes is refused", "[core]") {
  const std::string huge(8, '\xff');
  for (const std::string& bytes :
       {"\x9b" + huge, "\xbb" + huge, "\x5b" + huge, "\x7b" + huge, std::string("\x82\x01"),
        std::string("\x19\x01"), std::string("\xff"), std::string("\x81\xff"), std::string("\x1f"),
        std::string()})
    CHECK(cbor_error(bytes).find("a.cbor: malformed") == 0);
}

TEST_CASE("core.bounded_json: CBOR that is written is read", "[core]") {
  const nlohmann::json json = {{"text", std::string(300, 'a')},
                               {"list", {1, -70000, 2.5, nullptr, true}},
                               {"empty", nlohmann::json::object()},
                               {"bytes", nlohmann::json::binary({1, 2, 255})}};
  const auto bytes = nlohmann::json::to_cbor(json);
  CHECK(parse_bounded_cbor({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, "a.cbor") ==
        json);
}
