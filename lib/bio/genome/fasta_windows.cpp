#include "lib/bio/genome/fasta_windows.hpp"

#include <fmt/format.h>

#include <utility>

#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"
#include "lib/io/input/raw_file.hpp"

namespace biogpu::genome {

FastaWindows::FastaWindows(const std::string& path, std::optional<std::size_t> length, Fit fit,
                           int n_threads, io::BadRecords bad)
    : reader_(path, n_threads),
      length_(length),
      fit_(fit),
      bad_(bad),
      label_(io::input::label_of(path)) {}

bool FastaWindows::next(SequenceWindow& window) {
  for (;; ++next_) {
    if (next_ == batch_.size()) {
      next_ = 0;
      if (!reader_.read(batch_)) return false;
    }
    if (io::take_or_skip(bad_, n_skipped_, [&] { window = window_of_record(); })) break;
  }
  ++next_;
  return true;
}

SequenceWindow FastaWindows::window_of_record() const {
  const std::string_view text = batch_.sequence(next_);
  std::vector<LetterCode> codes(text.size());
  const std::size_t at = encode_letters(text, codes.data());
  if (at < text.size())
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: {} at position {}; {}", place(), quoted(text.substr(at, 1)),
                            at + 1, kExpectedLetters));
  if (length_ && codes.size() != *length_) {
    if (fit_ == Fit::exact)
      throw Error(ErrorCode::bad_input,
                  fmt::format("{}: {} letters; the model takes {}; --fit centre cuts and pads",
                              place(), codes.size(), *length_));
    codes = fit_centre(codes, *length_);
  }
  return {std::string(batch_.name(next_)), batch_.first_record() + next_, std::move(codes)};
}

std::string FastaWindows::place() const {
  return fmt::format("{}: record {} ({})", label_, batch_.first_record() + next_,
                     quoted(batch_.name(next_)));
}

}  // namespace biogpu::genome
