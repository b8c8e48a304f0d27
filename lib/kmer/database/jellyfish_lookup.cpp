#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "lib/core/error.hpp"
#include "lib/kmer/database/jellyfish_file.hpp"
#include "lib/kmer/database/lookup.hpp"
#include "lib/kmer/database/mapped_file.hpp"
#include "lib/kmer/key.hpp"

namespace biogpu::kmer {
namespace {

// Records ascend by (pos, key), and pos is spread evenly over the table, so that pos tells where a
// record should lie: the search starts there and doubles its step until it has passed the key.
template <int kWords>
class JellyfishLookup : public Lookup {
 public:
  JellyfishLookup(std::unique_ptr<MappedFile> file, Header header, std::size_t begin)
      : file_(std::move(file)) {
    header_ = std::move(header);
    key_bytes_ = static_cast<std::size_t>(bytes_for(header_.k));
    record_ = jellyfish_record_bytes(header_);
    records_ = file_->bytes().data() + begin;
    n_records_ = (file_->bytes().size() - begin) / record_;
  }

  void find(const std::uint64_t* keys, std::span<std::uint64_t> counts) const override {
    constexpr std::size_t kBatch = 64;  // guesses whose pages are asked for together
    std::size_t guess[kBatch];
    Place place[kBatch];
    for (std::size_t begin = 0; begin < counts.size(); begin += kBatch) {
      const std::size_t n = std::min(kBatch, counts.size() - begin);
      for (std::size_t i = 0; i < n; ++i) {
        Key<kWords> key;
        std::memcpy(key.word.data(), keys + (begin + i) * kWords, sizeof key.word);
        place[i] = place_of(key);
        guess[i] = expected(place[i]);
        __builtin_prefetch(records_ + guess[i] * record_);
      }
      for (std::size_t i = 0; i < n; ++i) counts[begin + i] = search(place[i], guess[i]);
    }
  }

 private:
  struct Place {
    std::uint64_t pos = 0;
    Key<kWords> key;
    friend auto operator<=>(const Place&, const Place&) = default;
  };

  Place place_of(const Key<kWords>& key) const {
    const KeyOrder& order = header_.order;
    return {order.keeps_keys() ? 0 : order.position(key), key};
  }

  Place place_at(std::size_t i) const {
    Key<kWords> key;
    const char* at = records_ + i * record_;
    for (std::size_t w = 0; 8 * w < key_bytes_; ++w)
      std::memcpy(&key.word[kWords - 1 - w], at + 8 * w,
                  std::min<std::size_t>(8, key_bytes_ - 8 * w));
    return place_of(key);
  }

  // The index of a record if they were spread quite evenly.
  std::size_t expected(const Place& place) const {
    if (n_records_ == 0) return 0;
    const KeyOrder& order = header_.order;
    const double share =
        order.keeps_keys()
            ? static_cast<double>(shift_left(place.key, 64 * kWords - 2 * header_.k).word[0]) /
                  0x1p64
            : static_cast<double>(place.pos) /
                  static_cast<double>(std::uint64_t{1} << order.size_bits());
    return std::min(n_records_ - 1,
                    static_cast<std::size_t>(share * static_cast<double>(n_records_)));
  }

  std::uint64_t search(const Place& place, std::size_t guess) const {
    if (n_records_ == 0) return 0;
    std::size_t low = 0;            // records before low are smaller
    std::size_t high = n_records_;  // records from high on are not smaller
    std::size_t step = 8;
    if (place_at(guess) < place) {
      low = guess + 1;
      while (low + step < n_records_ && place_at(low + step) < place) {
        low += step + 1;
        step *= 2;
      }
      high = std::min(n_records_, low + step + 1);
    } else {
      high = guess;
      while (high > step && !(place_at(high - step) < place)) {
        high -= step;
        step *= 2;
      }
      low = high > step ? high - step : 0;
    }
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      if (place_at(middle) < place)
        low = middle + 1;
      else
        high = middle;
    }
    if (low == n_records_ || place_at(low) != place) return 0;
    std::uint64_t count = 0;
    std::memcpy(&count, records_ + low * record_ + key_bytes_,
                static_cast<std::size_t>(header_.counter_bytes));
    return count;
  }

  std::unique_ptr<MappedFile> file_;
  std::size_t key_bytes_ = 0;
  std::size_t record_ = 0;
  const char* records_ = nullptr;
  std::size_t n_records_ = 0;
};

}  // namespace

std::unique_ptr<Lookup> open_jellyfish_lookup(const std::string& path,
                                              std::unique_ptr<MappedFile> file) {
  constexpr std::size_t kDigits = 9;
  const std::string_view bytes = file->bytes();
  std::size_t n = 0;
  std::from_chars(bytes.data(), bytes.data() + kDigits, n);
  if (kDigits + n > bytes.size())
    throw Error(ErrorCode::bad_input, fmt::format("{}: the file ends inside its header", path));
  Header header = parse_jellyfish_header(bytes.substr(kDigits, n), path);
  if (header.format == Format::jellyfish_text)
    throw Error(
        ErrorCode::bad_input,
        fmt::format("{}: is a text database, which has no look-up; expected a binary one", path));
  if ((bytes.size() - kDigits - n) % jellyfish_record_bytes(header) != 0)
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: the file ends inside a record; it may be cut short", path));
  return with_words(header.k, [&]<int kWords>() -> std::unique_ptr<Lookup> {
    return std::make_unique<JellyfishLookup<kWords>>(std::move(file), std::move(header),
                                                     kDigits + n);
  });
}

}  // namespace biogpu::kmer
