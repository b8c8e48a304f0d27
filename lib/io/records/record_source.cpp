#include "lib/io/records/record_source.hpp"

#include <fmt/format.h>

#include "lib/core/error.hpp"

namespace biogpu::io::input {

void refuse_record(const std::string& label, std::uint64_t record, std::uint64_t line,
                   const std::string& what) {
  const std::string where = line == 0 ? std::string() : fmt::format(" (line {})", line);
  throw Error(ErrorCode::bad_input, fmt::format("{}: record {}{}: {}", label, record, where, what));
}

std::string show_byte(char byte) {
  if (byte > ' ' && byte <= '~') return fmt::format("'{}'", byte);
  if (byte == ' ') return "a blank";
  return fmt::format("byte 0x{:02x}", static_cast<unsigned char>(byte));
}

}  // namespace biogpu::io::input
