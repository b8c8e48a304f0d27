#include "lib/io/input/gzip.hpp"

#include <fmt/format.h>
#include <isa-l/igzip_lib.h>

#include <algorithm>

#include "lib/core/error.hpp"

namespace biogpu::io::input {
namespace {

constexpr std::size_t kInputBytes = 256u << 10;
constexpr std::size_t kTextBytes = 512u << 10;

std::uint8_t* as_bytes(char* text) { return reinterpret_cast<std::uint8_t*>(text); }

std::string describe(int status) {
  switch (status) {
    case ISAL_INCORRECT_CHECKSUM:
      return "the checksum of a gzip member does not match its text";
    case ISAL_INVALID_WRAPPER:
    case ISAL_UNSUPPORTED_METHOD:
      return "a gzip header is damaged";
    default:
      return "the compressed data are damaged";
  }
}

}  // namespace

struct GzipProducer::Inflater {
  inflate_state state;
};

GzipProducer::GzipProducer(RawFile& file, std::string_view unread)
    : file_(file), inflater_(std::make_unique<Inflater>()) {
  input_.append(unread.data(), unread.size());
  inflate_state& state = inflater_->state;
  isal_inflate_init(&state);
  state.crc_flag = ISAL_GZIP;
  state.next_in = as_bytes(input_.data());
  state.avail_in = static_cast<std::uint32_t>(input_.size());
}

GzipProducer::~GzipProducer() = default;

bool GzipProducer::refill() {
  input_.resize(kInputBytes);
  input_.resize(file_.read(input_.data(), kInputBytes));
  inflater_->state.next_in = as_bytes(input_.data());
  inflater_->state.avail_in = static_cast<std::uint32_t>(input_.size());
  return input_.size() > 0;
}

// At a member's begin, or at the end of the file after optional zero padding.
bool GzipProducer::begin_member() {
  inflate_state& state = inflater_->state;
  bool padded = false;
  for (;;) {
    if (state.avail_in == 0 && !refill()) return false;
    if (*state.next_in != 0) break;
    padded = true;
    ++state.next_in;
    --state.avail_in;
  }
  if (*state.next_in != 0x1f || padded) {
    fail("data that are not gzip follow the last gzip member");
  }
  if (n_members_ > 0) isal_inflate_reset(&state);
  ++n_members_;
  in_member_ = true;
  return true;
}

bool GzipProducer::take(Block& block) {
  inflate_state& state = inflater_->state;
  block.text.resize(kTextBytes);
  std::size_t n = 0;
  while (n < kTextBytes) {
    if (!in_member_ && !begin_member()) break;
    if (state.avail_in == 0) refill();
    const std::uint32_t had_in = state.avail_in;
    const auto room = static_cast<std::uint32_t>(kTextBytes - n);
    state.next_out = as_bytes(block.text.data()) + n;
    state.avail_out = room;
    const int status = isal_inflate(&state);
    n = kTextBytes - state.avail_out;
    if (status < 0 || status == ISAL_NEED_DICT) fail(describe(status));
    if (state.block_state == ISAL_BLOCK_FINISH) {
      in_member_ = false;
    } else if (had_in == 0 && state.avail_out == room) {
      fail("ends inside a gzip member; the file may be cut short");
    }
  }
  block.text.resize(n);
  return n > 0;
}

void GzipProducer::fail(const std::string& what) const {
  throw Error(ErrorCode::bad_input, fmt::format("{}: {}", file_.label(), what));
}

std::string inflate_head(std::string_view head, std::size_t max_bytes) {
  const auto state = std::make_unique<inflate_state>();
  isal_inflate_init(state.get());
  state->crc_flag = ISAL_GZIP;
  std::string input(head);
  std::string text(max_bytes, '\0');
  state->next_in = as_bytes(input.data());
  state->avail_in = static_cast<std::uint32_t>(input.size());
  state->next_out = as_bytes(text.data());
  state->avail_out = static_cast<std::uint32_t>(max_bytes);
  const int status = isal_inflate(state.get());
  if (status < 0) return {};
  text.resize(max_bytes - state->avail_out);
  return text;
}

}  // namespace biogpu::io::input
