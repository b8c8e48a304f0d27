#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <charconv>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include "lib/core/error.hpp"
#include "lib/kmer/database/jellyfish/jellyfish_file.hpp"
#include "lib/kmer/database/lookup.hpp"
#include "lib/kmer/database/source.hpp"
#include "lib/kmer/key/key.hpp"

namespace biogpu::kmer {
namespace {

// Records ascend by (pos, key), and pos is spread evenly over the table, so that it tells about
// where a record lies. Before many look-ups it is noted where each of n / 64 equal shares of the
// table begins: inside a share the guess is a few records off, so that a look-up waits for one
// place in memory. A batch of keys asks for its shares together, and then for its records.
template <int kWords>
class JellyfishLookup : public Lookup {
 public:
  JellyfishLookup(io::MappedFile file, const Header& header, std::size_t begin)
      : file_(std::move(file)) {
    header_ = header;
    key_bytes_ = static_cast<std::size_t>(bytes_for(header_.k));
    record_ = jellyfish_record_bytes(header_);
    records_ = file_.bytes().data() + begin;
    n_records_ = (file_.bytes().size() - begin) / record_;
    end_ = file_.bytes().data() + file_.bytes().size();
  }

  std::uint64_t n_keys() const override { return n_records_; }

  void find(const std::uint64_t* keys, std::span<std::uint64_t> counts) const override {
    if (n_records_ == 0) return std::fill(counts.begin(), counts.end(), 0);
    // So many look-ups are done before the shares are noted.
    const std::uint64_t n_before = n_look_ups_.fetch_add(counts.size(), std::memory_order_relaxed);
    const bool many = n_before + counts.size() >= n_records_ / kShare / 8;
    if (many) std::call_once(shares_made_, [&] { make_shares(); });
    std::array<Search, kBatch> searches;
    for (std::size_t begin = 0; begin < counts.size(); begin += kBatch) {
      const std::size_t n = std::min(kBatch, counts.size() - begin);
      for (std::size_t i = 0; i < n; ++i) {
        searches[i].wanted = slot_key_of(load_key(keys, begin + i));
        if (many) __builtin_prefetch(&shares_[rank_of(searches[i].wanted) >> share_shift_]);
      }
      for (std::size_t i = 0; i < n; ++i) {
        aim(searches[i], many);
        const std::size_t n_near = kNearRecords * record_;
        const char* const at = records_ + searches[i].guess * record_ - n_near;
        for (std::size_t byte = 0; byte < 2 * n_near; byte += 64) __builtin_prefetch(at + byte);
        __builtin_prefetch(at + 2 * n_near - 1);
      }
      for (std::size_t i = 0; i < n; ++i) counts[begin + i] = finish(searches[i]);
    }
  }

 private:
  static constexpr std::size_t kBatch = 32;
  static constexpr std::size_t kShare = 64;       // records, about
  static constexpr std::size_t kNearRecords = 7;  // that a guess is mostly off at most

  struct SlotKey {
    std::uint64_t pos = 0;
    Key<kWords> key;
    // NOLINTNEXTLINE(modernize-use-nullptr): the analysis takes the comparison for a pointer's
    friend auto operator<=>(const SlotKey&, const SlotKey&) = default;
  };

  // Records before low are smaller than what is wanted, those from high on are not.
  struct Search {
    SlotKey wanted;
    std::size_t low = 0;
    std::size_t high = 0;
    std::size_t guess = 0;  // below n_records_
  };

  static Key<kWords> load_key(const std::uint64_t* keys, std::size_t i) {
    Key<kWords> key;
    std::memcpy(key.word.data(), keys + i * kWords, sizeof key.word);
    return key;
  }

  SlotKey slot_key_of(const Key<kWords>& key) const {
    const KeyOrder& order = header_.order;
    return {order.keeps_keys() ? 0 : order.position(key), key};
  }

  // Whole words are loaded where the file goes on: a copy of a few bytes is a call.
  Key<kWords> key_at(std::size_t i) const {
    Key<kWords> key;
    const char* at = records_ + i * record_;
    for (std::size_t w = 0; w < kWords && 8 * w < key_bytes_; ++w, at += 8) {
      std::uint64_t& word = key.word[kWords - 1 - w];
      const std::size_t n_bytes = std::min<std::size_t>(8, key_bytes_ - 8 * w);
      if (end_ - at < 8) {
        std::memcpy(&word, at, n_bytes);
      } else {
        std::memcpy(&word, at, 8);
        word &= ~std::uint64_t{0} >> (64 - 8 * n_bytes);
      }
    }
    return key;
  }

  SlotKey slot_key_at(std::size_t i) const { return slot_key_of(key_at(i)); }

  // The highest 64 bits of a sort key: ascending sort keys have ranks that do not descend.
  std::uint64_t rank_of(const SlotKey& at) const {
    const KeyOrder& order = header_.order;
    return order.keeps_keys() ? shift_left(at.key, 64 * kWords - 2 * header_.k).word[0]
                              : at.pos << (64 - order.size_bits());
  }

  // Where the ranks of each share begin, and the end: the next begins about as far on as the table
  // is full.
  void make_shares() const {
    const int max_bits =
        header_.order.keeps_keys() ? std::min(2 * header_.k, 32) : header_.order.size_bits();
    const int n_bits = std::clamp(static_cast<int>(std::bit_width(n_records_ / kShare)), 1,
                                  std::min(max_bits, 32));
    share_shift_ = 64 - n_bits;
    const std::size_t n_shares = std::size_t{1} << n_bits;
    const std::size_t mean = n_records_ / n_shares;
    std::vector<std::uint64_t> shares(n_shares + 1, 0);
    for (std::size_t share = 1; share < n_shares; ++share) {
      const std::uint64_t first = static_cast<std::uint64_t>(share) << share_shift_;
      const std::size_t low = shares[share - 1];
      shares[share] =
          first_not_below(low, n_records_, std::min(low + mean, n_records_ - 1),
                          [&](std::size_t i) { return rank_of(slot_key_at(i)) < first; });
    }
    shares.back() = n_records_;
    shares_ = std::move(shares);
  }

  void aim(Search& search, bool with_shares) const {
    const std::uint64_t rank = rank_of(search.wanted);
    double share = static_cast<double>(rank) / 0x1p64;
    search.low = 0;
    search.high = n_records_;
    if (with_shares) {
      search.low = shares_[rank >> share_shift_];
      search.high = shares_[(rank >> share_shift_) + 1];
      share = static_cast<double>(rank << (64 - share_shift_)) / 0x1p64;
    }
    const auto length = static_cast<double>(search.high - search.low);
    search.guess = std::min(n_records_ - 1, search.low + static_cast<std::size_t>(share * length));
  }

  // The first of [low, high) for which below() is false, or high, from a guess in steps that grow.
  template <class Below>
  static std::size_t first_not_below(std::size_t low, std::size_t high, std::size_t guess,
                                     Below&& below) {
    if (low == high) return low;
    std::size_t step = 4;
    if (guess < high && below(guess)) {
      low = guess + 1;
      for (; low + step < high && below(low + step); step *= 2) low += step + 1;
      if (low + step < high) high = low + step;
    } else {
      high = std::min(guess, high);
      for (; high > low + step && !below(high - 1 - step); step *= 2) high -= step + 1;
      if (high > low + step) low = high - step;
    }
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      if (below(middle))
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }

  std::uint64_t count_at(std::size_t i) const {
    std::uint64_t count = 0;
    std::memcpy(&count, records_ + i * record_ + key_bytes_,
                static_cast<std::size_t>(header_.counter_bytes));
    return count;
  }

  // Most keys that are there lie close to the guess; comparing keys is quicker than slots.
  std::uint64_t finish(const Search& search) const {
    const std::size_t first = std::max(search.guess, search.low + kNearRecords) - kNearRecords;
    const std::size_t last = std::min(search.guess + kNearRecords, search.high);
    for (std::size_t i = first; i < last; ++i)
      if (key_at(i) == search.wanted.key) return count_at(i);
    const std::size_t at =
        first_not_below(search.low, search.high, search.guess,
                        [&](std::size_t i) { return slot_key_at(i) < search.wanted; });
    return at == n_records_ || slot_key_at(at) != search.wanted ? 0 : count_at(at);
  }

  io::MappedFile file_;
  std::size_t key_bytes_ = 0;
  std::size_t record_ = 0;
  const char* records_ = nullptr;
  const char* end_ = nullptr;  // of the file
  std::size_t n_records_ = 0;
  mutable std::atomic<std::uint64_t> n_look_ups_{0};
  mutable std::once_flag shares_made_;
  mutable std::vector<std::uint64_t> shares_;  // where each begins, by the highest bits of a rank
  mutable int share_shift_ = 63;
};

}  // namespace

std::unique_ptr<Lookup> open_jellyfish_lookup(const std::string& path, io::MappedFile file) {
  const std::string_view bytes = file.bytes();
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
