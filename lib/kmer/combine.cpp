#include "lib/kmer/combine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "lib/core/error.hpp"
#include "lib/kmer/database/reader.hpp"
#include "lib/kmer/store/ordered_counts.hpp"

namespace biogpu::kmer {
namespace {

constexpr std::size_t kKeysAtOnce = 65536;

// One database in the order of the result.
class Stream {
 public:
  Stream(const std::string& path, const CombineOptions& options)
      : reader_(path), spill_(options.tmp_dir), max_memory_(options.max_memory) {}

  const Header& header() const { return reader_.header(); }

  // After the order of the result is known.
  void begin(const KeyOrder& order) {
    order_ = order;
    if (!(reader_.header().order == order_)) reorder();
    next_block();
  }

  bool at_end() const { return at_ == block_.size(); }
  const std::uint64_t* sort_key() const {
    return &sort_keys_[at_ * static_cast<std::size_t>(block_.n_words)];
  }
  const std::uint64_t* key() const { return block_.key(at_); }
  std::uint64_t count() const { return block_.counts[at_]; }
  void advance() {
    if (++at_ == block_.size()) next_block();
  }

 private:
  void reorder() {
    ordered_ = std::make_unique<OrderedCounts>(order_, pool_, spill_,
                                               max_memory_ == 0 ? UINT64_MAX : max_memory_);
    with_words(order_.k(), [&]<int kWords>() {
      for (CountBlock block; reader_.read(block);)
        ordered_->add<kWords>([&](auto&& write) {
          for (std::size_t i = 0; i < block.size(); ++i) {
            Key<kWords> key;
            std::memcpy(key.word.data(), block.key(i), sizeof key.word);
            write(key, block.counts[i]);
          }
        });
    });
    ordered_->finish();
  }

  void next_block() {
    at_ = 0;
    if (!ordered_) {
      reader_.read(block_);
    } else {
      block_.clear(words_for(order_.k()));
      while (block_.size() == 0 && next_bucket_ < ordered_->n_blocks())
        with_words(order_.k(),
                   [&]<int kWords>() { ordered_->take<kWords>(next_bucket_++, block_); });
    }
    encode_keys();
  }

  void encode_keys() {
    if (order_.keeps_keys())
      sort_keys_ = block_.keys;
    else
      encode_block();
    require_order();
  }

  // What a file holds out of the order of its header would be combined with nothing.
  void require_order() {
    const auto n_words = static_cast<std::size_t>(words_for(order_.k()));
    for (std::size_t at = 0; at < sort_keys_.size(); at += n_words) {
      const auto sort_key = sort_keys_.begin() + static_cast<std::ptrdiff_t>(at);
      const auto end = sort_key + static_cast<std::ptrdiff_t>(n_words);
      if (!last_sort_key_.empty() &&
          std::lexicographical_compare(sort_key, end, last_sort_key_.begin(), last_sort_key_.end()))
        throw Error(ErrorCode::bad_input,
                    fmt::format("{}: records are out of the order that its header names; the file "
                                "is damaged",
                                reader_.path()));
      last_sort_key_.assign(sort_key, end);
    }
  }

  void encode_block() {
    sort_keys_.resize(block_.keys.size());
    with_words(order_.k(), [&]<int kWords>() {
      for (std::size_t i = 0; i < block_.size(); ++i) {
        Key<kWords> key;
        std::memcpy(key.word.data(), block_.key(i), sizeof key.word);
        key = order_.encode(key);
        std::memcpy(&sort_keys_[i * kWords], key.word.data(), sizeof key.word);
      }
    });
  }

  DatabaseReader reader_;
  KeyOrder order_;
  BlockPool pool_;
  SpillFile spill_;
  std::uint64_t max_memory_;
  std::unique_ptr<OrderedCounts> ordered_;  // where the file is in another order
  std::size_t next_bucket_ = 0;
  CountBlock block_;
  std::vector<std::uint64_t> sort_keys_;
  std::vector<std::uint64_t> last_sort_key_;  // empty before the first
  std::size_t at_ = 0;
};

void require_alike(const std::string& first_path, const Header& first, const std::string& path,
                   const Header& other) {
  if (first.k != other.k)
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: has k-mers of {} bases, {} of {}; expected one length", path,
                            other.k, first_path, first.k));
  if (first.canonical != other.canonical)
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: is {}canonical, {} is {}; their counts mean different things",
                            path, other.canonical ? "" : "not ", first_path,
                            first.canonical ? "canonical" : "not"));
}

}  // namespace

class Combiner::Impl {
 public:
  Impl(const std::vector<std::string>& paths, const ChooseOrder& choose_order,
       const CombineOptions& options) {
    for (const std::string& path : paths) {
      streams_.push_back(std::make_unique<Stream>(path, options));
      require_alike(paths[0], streams_[0]->header(), path, streams_.back()->header());
    }
    header_ = streams_[0]->header();
    if (choose_order) header_.order = choose_order(header_);
    if (!header_.order.is_bijective()) header_.order = KeyOrder::lexicographic(header_.k);
    for (const auto& stream : streams_) stream->begin(header_.order);
    counts_.resize(streams_.size());
    present_ = std::make_unique<bool[]>(streams_.size());
  }

  bool all_text() const {
    return std::all_of(streams_.begin(), streams_.end(), [](const auto& stream) {
      return stream->header().format == Format::jellyfish_text;
    });
  }

  const Header& header() const { return header_; }

  bool read(CountBlock& block, const Combine& combine) {
    block.clear(words_for(header_.k));
    const auto n_words = static_cast<std::size_t>(block.n_words);
    std::vector<std::uint64_t> key(n_words);
    while (block.size() < kKeysAtOnce && next_key(key)) {
      const auto count = combine({counts_, {present_.get(), counts_.size()}});
      if (!count) continue;
      block.keys.insert(block.keys.end(), key.begin(), key.end());
      block.counts.push_back(*count);
    }
    return block.size() > 0;
  }

 private:
  // The smallest key of all streams, and its counts.
  bool next_key(std::vector<std::uint64_t>& key) {
    const Stream* first = nullptr;
    for (const auto& stream : streams_)
      if (!stream->at_end() &&
          (first == nullptr || before(stream->sort_key(), first->sort_key(), key)))
        first = stream.get();
    if (first == nullptr) return false;
    const std::vector<std::uint64_t> sort_key(first->sort_key(), first->sort_key() + key.size());
    std::copy_n(first->key(), key.size(), key.begin());
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      counts_[i] = 0;
      present_[i] = false;
      Stream& stream = *streams_[i];
      while (!stream.at_end() && std::equal(sort_key.begin(), sort_key.end(), stream.sort_key())) {
        if (__builtin_add_overflow(counts_[i], stream.count(), &counts_[i]))
          counts_[i] = UINT64_MAX;
        present_[i] = true;
        stream.advance();
      }
    }
    return true;
  }

  static bool before(const std::uint64_t* a, const std::uint64_t* b,
                     const std::vector<std::uint64_t>& words) {
    return std::lexicographical_compare(a, a + words.size(), b, b + words.size());
  }

  std::vector<std::unique_ptr<Stream>> streams_;
  Header header_;
  std::vector<std::uint64_t> counts_;
  std::unique_ptr<bool[]> present_;
};

Combiner::Combiner(const std::vector<std::string>& paths, const ChooseOrder& choose_order,
                   const CombineOptions& options)
    : impl_(std::make_unique<Impl>(paths, choose_order, options)) {}
Combiner::~Combiner() = default;
Combiner::Combiner(Combiner&&) noexcept = default;
Combiner& Combiner::operator=(Combiner&&) noexcept = default;

const Header& Combiner::header() const { return impl_->header(); }
bool Combiner::all_text() const { return impl_->all_text(); }
bool Combiner::read(CountBlock& block, const Combine& combine) {
  return impl_->read(block, combine);
}

}  // namespace biogpu::kmer
