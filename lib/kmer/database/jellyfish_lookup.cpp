#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "lib/core/error.hpp"
#include "lib/kmer/database/jellyfish_file.hpp"
#include "lib/kmer/database/lookup.hpp"
#include "lib/kmer/database/mapped_file.hpp"
#include "lib/kmer/key.hpp"

namespace biogpu::kmer {
namespace {

// Records ascend by (pos, key), and pos is spread evenly over the table, so that pos tells where a
// record should lie: an interpolation search, which takes a few steps. A batch of keys takes its
// steps together, so that the memory each waits for is fetched meanwhile.
template <int kWords>
class JellyfishLookup : public Lookup {
 public:
  JellyfishLookup(std::unique_ptr<MappedFile> file, const Header& header, std::size_t begin)
      : file_(std::move(file)) {
    header_ = header;
    key_bytes_ = static_cast<std::size_t>(bytes_for(header_.k));
    record_ = jellyfish_record_bytes(header_);
    records_ = file_->bytes().data() + begin;
    n_records_ = (file_->bytes().size() - begin) / record_;
    density_ = static_cast<double>(n_records_) /
               static_cast<double>(std::uint64_t{1} << header_.order.size_bits());
  }

  std::uint64_t n_keys() const override { return n_records_; }

  void find(const std::uint64_t* keys, std::span<std::uint64_t> counts) const override {
    const std::vector<std::uint32_t> order = sorted_by_region(keys, counts.size());
    std::array<Search, kBatch> searches;
    for (std::size_t begin = 0; begin < order.size(); begin += kBatch) {
      const std::size_t n = std::min(kBatch, order.size() - begin);
      for (std::size_t i = 0; i < n; ++i) {
        searches[i] = {place_of(load_key(keys, order[begin + i])), 0, n_records_, 0, 0};
        searches[i].guess = expected(searches[i].wanted);
        __builtin_prefetch(records_ + searches[i].guess * record_);
      }
      for (bool more = true; more;) {
        more = false;
        for (std::size_t i = 0; i < n; ++i)
          if (searches[i].high - searches[i].low > kFew) more = narrow(searches[i]) || more;
      }
      for (std::size_t i = 0; i < n; ++i) counts[order[begin + i]] = finish(searches[i]);
    }
  }

 private:
  struct Place {
    std::uint64_t pos = 0;
    Key<kWords> key;
    // NOLINTNEXTLINE(modernize-use-nullptr): the analysis takes the comparison for a pointer's
    friend auto operator<=>(const Place&, const Place&) = default;
  };

  // Records before low are smaller than what is wanted, those from high on are larger.
  struct Search {
    Place wanted;
    std::size_t low = 0;
    std::size_t high = 0;
    std::size_t guess = 0;
    int n_steps = 0;
  };
  static constexpr std::size_t kBatch = 64;
  static constexpr std::size_t kFew = 12;  // records that are gone through one by one
  static constexpr int kMaxSteps = 8;      // of interpolation, before bisection

  static Key<kWords> load_key(const std::uint64_t* keys, std::size_t i) {
    Key<kWords> key;
    std::memcpy(key.word.data(), keys + i * kWords, sizeof key.word);
    return key;
  }

  // The keys' numbers, ordered by the region of the file where they should lie: what is looked up
  // one after another then shares pages, whose translation costs more than the records themselves.
  std::vector<std::uint32_t> sorted_by_region(const std::uint64_t* keys, std::size_t n) const {
    constexpr std::size_t kRegions = 4096;
    constexpr std::size_t kWorthSorting = 16 * kRegions;
    std::vector<std::uint32_t> order(n);
    if (n < kWorthSorting) {
      std::iota(order.begin(), order.end(), 0u);
      return order;
    }
    const std::size_t width = n_records_ / kRegions + 1;
    std::vector<std::uint16_t> region(n);
    std::array<std::uint32_t, kRegions> next{};
    for (std::size_t i = 0; i < n; ++i) {
      region[i] = static_cast<std::uint16_t>(expected(place_of(load_key(keys, i))) / width);
      ++next[region[i]];
    }
    std::uint32_t begin = 0;
    for (std::uint32_t& count : next) begin += std::exchange(count, begin);
    for (std::size_t i = 0; i < n; ++i) order[next[region[i]]++] = static_cast<std::uint32_t>(i);
    return order;
  }

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

  // Looks at the record guessed, keeps the part that can hold the key, and guesses again, a little
  // beyond, so that the key is soon between two guesses. False once few records are left.
  bool narrow(Search& search) const {
    const Place at = place_at(search.guess);
    const bool before = at < search.wanted;
    if (before)
      search.low = search.guess + 1;
    else
      search.high = search.guess + 1;
    if (search.high - search.low <= kFew) {
      __builtin_prefetch(records_ + search.low * record_);
      return false;
    }
    ++search.n_steps;
    if (header_.order.keeps_keys() || search.n_steps > kMaxSteps) {
      search.guess = search.low + (search.high - search.low) / 2;
    } else {
      const auto distance =
          static_cast<double>(before ? search.wanted.pos - at.pos : at.pos - search.wanted.pos) *
          density_;
      const auto step = static_cast<std::size_t>(distance + std::sqrt(distance)) + 2;
      search.guess = before ? std::min(search.guess + step, search.high - 1)
                            : search.guess - std::min(step, search.guess - search.low);
    }
    __builtin_prefetch(records_ + search.guess * record_);
    return true;
  }

  std::uint64_t finish(const Search& search) const {
    std::size_t at = search.low;
    while (at < search.high && place_at(at) < search.wanted) ++at;
    if (at == search.high || place_at(at) != search.wanted) return 0;
    std::uint64_t count = 0;
    std::memcpy(&count, records_ + at * record_ + key_bytes_,
                static_cast<std::size_t>(header_.counter_bytes));
    return count;
  }

  std::unique_ptr<MappedFile> file_;
  std::size_t key_bytes_ = 0;
  std::size_t record_ = 0;
  const char* records_ = nullptr;
  std::size_t n_records_ = 0;
  double density_ = 0;  // records a slot
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
