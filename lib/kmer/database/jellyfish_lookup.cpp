#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include "lib/core/error.hpp"
#include "lib/kmer/database/jellyfish_file.hpp"
#include "lib/kmer/database/lookup.hpp"
#include "lib/kmer/database/source.hpp"
#include "lib/kmer/key.hpp"

namespace biogpu::kmer {
namespace {

// Records ascend by (pos, key), and pos is spread evenly over the table, so that it tells about
// where a record lies. Before many look-ups the rank of every 256th record is noted: between two of
// them the guess is a few records off, so that a look-up waits for one place in memory. A batch of
// keys asks for its places together.
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
    // Fewer look-ups than this are done before the ranks are noted.
    const bool many = counts.size() >= n_records_ / kSpacing / 8;
    if (many) std::call_once(samples_made_, [&] { make_samples(); });
    std::array<Search, kBatch> searches;
    for (std::size_t begin = 0; begin < counts.size(); begin += kBatch) {
      const std::size_t n = std::min(kBatch, counts.size() - begin);
      for (std::size_t i = 0; i < n; ++i) {
        searches[i] = start(load_key(keys, begin + i), many);
        const std::size_t n_near = kNearRecords * record_;
        const char* const at = records_ + searches[i].guess * record_ - n_near;
        for (std::size_t byte = 0; byte <= 2 * n_near; byte += 64) __builtin_prefetch(at + byte);
      }
      for (std::size_t i = 0; i < n; ++i) counts[begin + i] = finish(searches[i]);
    }
  }

 private:
  static constexpr std::size_t kBatch = 32;
  static constexpr std::size_t kSpacing = 256;
  static constexpr std::size_t kNearRecords = 12;  // that a guess is mostly off at most

  struct Place {
    std::uint64_t pos = 0;
    Key<kWords> key;
    // NOLINTNEXTLINE(modernize-use-nullptr): the analysis takes the comparison for a pointer's
    friend auto operator<=>(const Place&, const Place&) = default;
  };

  // Records before low are smaller than what is wanted, those from high on are not.
  struct Search {
    Place wanted;
    std::size_t low = 0;
    std::size_t high = 0;
    std::size_t guess = 0;  // below n_records_
  };

  static Key<kWords> load_key(const std::uint64_t* keys, std::size_t i) {
    Key<kWords> key;
    std::memcpy(key.word.data(), keys + i * kWords, sizeof key.word);
    return key;
  }

  Place place_of(const Key<kWords>& key) const {
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

  Place place_at(std::size_t i) const { return place_of(key_at(i)); }

  // The highest 64 bits of a place: places of ascending order have ranks that do not descend.
  std::uint64_t rank_of(const Place& place) const {
    const KeyOrder& order = header_.order;
    return order.keeps_keys() ? shift_left(place.key, 64 * kWords - 2 * header_.k).word[0]
                              : place.pos << (64 - order.size_bits());
  }

  // Notes ranks, and for each value of their highest bits how many of them are smaller.
  void make_samples() const {
    ranks_.resize((n_records_ + kSpacing - 1) / kSpacing);
    for (std::size_t j = 0; j < ranks_.size(); ++j) ranks_[j] = rank_of(place_at(j * kSpacing));
    const int n_bits = std::max(1, static_cast<int>(std::bit_width(ranks_.size())));
    directory_shift_ = 64 - n_bits;
    directory_.assign((std::size_t{1} << n_bits) + 1, 0);
    std::size_t j = 0;
    for (std::size_t bucket = 0; bucket + 1 < directory_.size(); ++bucket) {
      directory_[bucket] = static_cast<std::uint32_t>(j);
      while (j < ranks_.size() && ranks_[j] >> directory_shift_ <= bucket) ++j;
    }
    directory_.back() = static_cast<std::uint32_t>(ranks_.size());
  }

  Search start(const Key<kWords>& key, bool with_samples) const {
    Search search{place_of(key), 0, n_records_, 0};
    const std::uint64_t rank = rank_of(search.wanted);
    if (!with_samples) {
      const double share = static_cast<double>(rank) / 0x1p64;
      search.guess = std::min(n_records_ - 1,
                              static_cast<std::size_t>(share * static_cast<double>(n_records_)));
      return search;
    }
    const std::size_t bucket = rank >> directory_shift_;
    const auto ranks = ranks_.begin();
    // Samples before `below` have lower ranks; those from `above` on higher ones.
    const auto below = static_cast<std::size_t>(
        std::lower_bound(ranks + directory_[bucket], ranks + directory_[bucket + 1], rank) - ranks);
    std::size_t above = below;
    while (above < ranks_.size() && ranks_[above] == rank) ++above;
    if (above < ranks_.size()) search.high = above * kSpacing;
    if (below > 0) search.low = (below - 1) * kSpacing;
    search.guess = search.low;
    if (below == 0) return search;
    const std::uint64_t before = ranks_[below - 1];
    const std::uint64_t after = above < ranks_.size() ? ranks_[above] : UINT64_MAX;
    const double share = static_cast<double>(rank - before) / static_cast<double>(after - before);
    search.guess = std::min(
        n_records_ - 1, search.low + static_cast<std::size_t>(
                                         share * static_cast<double>(search.high - search.low)));
    return search;
  }

  // The first record that is not smaller than what is wanted, in steps that grow.
  std::size_t lower_bound(const Search& search) const {
    const Place& wanted = search.wanted;
    std::size_t low = search.low;
    std::size_t high = search.high;
    std::size_t step = 4;
    if (place_at(search.guess) < wanted) {
      low = search.guess + 1;
      for (; low + step < high && place_at(low + step) < wanted; step *= 2) low += step + 1;
      if (low + step < high) high = low + step;
    } else {
      high = search.guess;
      for (; high > low + step && !(place_at(high - 1 - step) < wanted); step *= 2)
        high -= step + 1;
      if (high > low + step) low = high - step;
    }
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      if (place_at(middle) < wanted)
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

  // Most keys that are there lie close to the guess; comparing keys is quicker than places.
  std::uint64_t finish(const Search& search) const {
    const std::size_t first = std::max(search.guess, search.low + kNearRecords) - kNearRecords;
    const std::size_t last = std::min(search.guess + kNearRecords, search.high);
    for (std::size_t i = first; i < last; ++i)
      if (key_at(i) == search.wanted.key) return count_at(i);
    const std::size_t at = lower_bound(search);
    return at == n_records_ || place_at(at) != search.wanted ? 0 : count_at(at);
  }

  io::MappedFile file_;
  std::size_t key_bytes_ = 0;
  std::size_t record_ = 0;
  const char* records_ = nullptr;
  const char* end_ = nullptr;  // of the file
  std::size_t n_records_ = 0;
  mutable std::once_flag samples_made_;
  mutable std::vector<std::uint64_t> ranks_;      // of record j * kSpacing
  mutable std::vector<std::uint32_t> directory_;  // by the highest bits of a rank
  mutable int directory_shift_ = 63;
};

}  // namespace

std::unique_ptr<Lookup> open_jellyfish_lookup(const std::string& path, io::MappedFile file) {
  constexpr std::size_t kDigits = 9;
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
