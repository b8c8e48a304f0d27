#include "lib/io/input/compression.hpp"

#include <fmt/format.h>

#include <utility>

#include "lib/core/error.hpp"

namespace biogpu::io::input {
namespace {

using namespace std::string_view_literals;

constexpr std::pair<std::string_view, std::string_view> kRefused[] = {
    {"BZh"sv, "bzip2"sv},
    {"\xfd"
     "7zXZ"sv,
     "xz"sv},
    {"\x28\xb5\x2f\xfd"sv, "zstd"sv},
    {"PK\x03\x04"sv, "zip"sv}};

}  // namespace

void refuse_compression(std::string_view head, const std::string& label) {
  for (const auto& [magic, compressor] : kRefused)
    if (head.starts_with(magic))
      throw Error(ErrorCode::bad_input,
                  fmt::format("{}: is compressed with {}; expected gzip, BGZF or plain text", label,
                              compressor));
}

}  // namespace biogpu::io::input
