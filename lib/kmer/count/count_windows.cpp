// Counting the windows of super-k-mers: Highway compiles this file once per instruction set.
//
// Neighbouring windows are a vector: each lane moves the same words of bases by another number of
// bits, the forward strand down from the last window, the reverse strand down from the first.
#include "lib/kmer/count/count_windows.hpp"

#include <cstring>

#include "lib/core/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/kmer/count/count_windows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "lib/kmer/sequences/super_kmers.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::kmer::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using Tag64 = hn::CappedTag<std::uint64_t, 8>;
using Vec64 = hn::Vec<Tag64>;
using Tag8 = hn::CappedTag<std::uint8_t, 64>;

constexpr std::size_t kLanes = hn::MaxLanes(Tag64());
// Windows that one set of words serves: whole bytes of bases.
constexpr std::size_t kStep = kLanes < 4 ? 4 : kLanes;
constexpr std::size_t kBatch = 128;  // windows expanded before they are counted, at least
constexpr std::size_t kMaxBatch = kBatch + kMaxWindows;

template <int kWords>
struct Windows {
  std::size_t n = 0;
  alignas(64) std::uint64_t word[kWords][kMaxBatch + kStep];
  // The first slot of a window's group above its tag.
  alignas(64) std::uint64_t slot_and_tag[kMaxBatch + kStep];

  std::uint16_t tag(std::size_t i) const { return static_cast<std::uint16_t>(slot_and_tag[i]); }
  Key<kWords> key(std::size_t i) const {
    Key<kWords> key;
    for (std::size_t w = 0; w < kWords; ++w) key.word[w] = word[w][i];
    return key;
  }
};

// The bits of both strands' words for a k.
template <int kWords>
struct Shape {
  Shape(int length, bool both, std::size_t groups)
      : k(static_cast<std::size_t>(length)),
        canonical(both),
        n_groups(groups),
        n_bytes((k + kStep - 1) / 4 + 1),
        down(8 * n_bytes - 2 * (k + kStep - 1)) {
    for (int w = 0; w < kWords; ++w) {
      const int n_bits = 2 * length - 64 * (kWords - 1 - w);
      mask[w] = n_bits >= 64  ? ~std::uint64_t{0}
                : n_bits <= 0 ? 0
                              : (std::uint64_t{1} << n_bits) - 1;
    }
  }
  const std::size_t k;
  const bool canonical;
  std::size_t n_groups;       // of the table
  const std::size_t n_bytes;  // with the bases of kStep windows, and at least one base more
  const std::size_t down;     // bits of that and other bases behind
  std::uint64_t mask[kWords];
};

// The complements of the bases of a super-k-mer, the first of a byte lowest, behind a byte of
// others: little-endian words of it are the other strand.
class OtherStrand {
 public:
  void load(const char* bases, std::size_t n_bytes) {
    const Tag8 d;
    const auto low4 = hn::Set(d, 0x0f);
    const auto low2 = hn::Set(d, 0x33);
    const auto* from = reinterpret_cast<const std::uint8_t*>(bases) - 1;
    for (std::size_t i = 0; i <= n_bytes; i += hn::Lanes(d)) {
      auto x = hn::Not(hn::LoadU(d, from + i));
      x = hn::Or(hn::And(hn::ShiftRight<4>(x), low4), hn::ShiftLeft<4>(hn::And(x, low4)));
      x = hn::Or(hn::And(hn::ShiftRight<2>(x), low2), hn::ShiftLeft<2>(hn::And(x, low2)));
      hn::Store(x, d, bytes_ + i);
    }
  }
  // The word of the bases from byte `at`, less 8 bits, on.
  std::uint64_t word(std::size_t at) const {
    std::uint64_t word;
    std::memcpy(&word, bytes_ + at, sizeof word);
    return word;
  }

 private:
  static constexpr std::size_t kMaxBytes = (kMaxWindows + kMaxK) / 4;
  alignas(64) std::uint8_t bytes_[kMaxBytes + 8 * 9 + 64] = {};
};

// Words [1, kWords] of a number moved down by so many bits a lane, 1 to 63.
template <int kWords>
HWY_INLINE void move_down(const Vec64* number, Vec64 n_bits, const Shape<kWords>& shape,
                          Vec64* to) {
  const Tag64 d;
  const Vec64 up = hn::Sub(hn::Set(d, 64), n_bits);
  for (std::size_t w = 0; w < kWords; ++w) {
    to[w] = hn::Or(hn::Shr(number[w + 1], n_bits), hn::Shl(number[w], up));
    if (kWords > 2 || w == 0) to[w] = hn::And(to[w], hn::Set(d, shape.mask[w]));
  }
}

template <int kWords>
HWY_INLINE void pick_smaller(const Vec64* other, Vec64* key) {
  auto smaller = hn::Lt(other[kWords - 1], key[kWords - 1]);
  for (std::size_t w = kWords - 1; w-- > 0;)
    smaller = hn::Or(hn::Lt(other[w], key[w]), hn::And(hn::Eq(other[w], key[w]), smaller));
  for (std::size_t w = 0; w < kWords; ++w) key[w] = hn::IfThenElse(smaller, other[w], key[w]);
}

// Of a key's hash, as hash_key() makes it.
template <int kWords>
HWY_INLINE Vec64 slot_and_tag(const Vec64* key, std::size_t n_groups) {
  const Tag64 d;
  const hn::Repartition<std::uint32_t, Tag64> d32;
  Vec64 hash = hn::Mul(key[0], hn::Set(d, hash_factor(0)));
  for (std::size_t w = 1; w < kWords; ++w)
    hash = hn::Add(hash, hn::Mul(key[w], hn::Set(d, hash_factor(w))));
  const Vec64 group = hn::ShiftRight<32>(hn::MulEven(hn::BitCast(d32, hn::ShiftRight<32>(hash)),
                                                     hn::BitCast(d32, hn::Set(d, n_groups))));
  const Vec64 tag =
      hn::Or(hn::And(hn::ShiftRight<16>(hash), hn::Set(d, 0x7fff)), hn::Set(d, 0x8000));
  return hn::Or(hn::ShiftLeft<20>(group), tag);
}

// Appends the n windows of a super-k-mer.
template <int kWords>
void expand(const char* bases, std::size_t n, const Shape<kWords>& shape, OtherStrand& other,
            Windows<kWords>& to) {
  const Tag64 d;
  if (shape.canonical) other.load(bases, (n + shape.k + 2) / 4);
  for (std::size_t first = 0; first < n; first += kStep) {
    Vec64 forward[kWords + 1];
    Vec64 reverse[kWords + 1];
    for (std::size_t i = 0; i <= kWords; ++i) {  // the words from the end of the bases
      const bool any = kWords <= 2 || 8 * i < shape.n_bytes;
      const char* const end = bases + first / 4 + shape.n_bytes;
      forward[kWords - i] = any ? hn::Set(d, load_big_endian(end - 8 * (i + 1))) : hn::Zero(d);
      if (shape.canonical) reverse[kWords - i] = hn::Set(d, other.word(first / 4 + 8 * i));
    }
    for (std::size_t lane = 0; lane < kStep; lane += kLanes) {
      const Vec64 twice_lane = hn::ShiftLeft<1>(hn::Iota(d, lane));
      Vec64 key[kWords];
      move_down<kWords>(forward, hn::Sub(hn::Set(d, 2 * (kStep - 1) + shape.down), twice_lane),
                        shape, key);
      if (shape.canonical) {
        Vec64 of_other[kWords];
        move_down<kWords>(reverse, hn::Add(hn::Set(d, 8), twice_lane), shape, of_other);
        pick_smaller<kWords>(of_other, key);
      }
      const std::size_t at = to.n + first + lane;
      for (std::size_t w = 0; w < kWords; ++w) hn::StoreU(key[w], d, to.word[w] + at);
      hn::StoreU(slot_and_tag<kWords>(key, shape.n_groups), d, to.slot_and_tag + at);
    }
  }
  to.n += n;
}

// The first of a group's slots whose tag is the given one, or that is empty; the last where there
// is none.
HWY_INLINE std::uint32_t find_slot(const std::uint16_t* tags, std::uint16_t tag) {
  const hn::CappedTag<std::uint16_t, 16> d;
  constexpr std::size_t kTagLanes = hn::MaxLanes(hn::CappedTag<std::uint16_t, 16>());
  std::uint32_t found = 1u << 15;
  for (std::size_t i = 0; i < 16; i += kTagLanes) {
    const auto there = hn::LoadU(d, tags + i);
    std::uint8_t bits[8] = {};
    hn::StoreMaskBits(d, hn::Or(hn::Eq(there, hn::Set(d, tag)), hn::Eq(there, hn::Zero(d))), bits);
    std::uint16_t part;
    std::memcpy(&part, bits, sizeof part);
    found |= static_cast<std::uint32_t>(part) << i;
  }
  return static_cast<std::uint32_t>(hwy::Num0BitsBelowLS1Bit_Nonzero32(found));
}

// The slots that keys seem to belong in. Whether they are new could not be predicted, and does not
// matter: a group's empty slots are its last. Nothing is written to the table meanwhile, or loads
// would wait for the slots before them.
template <int kWords>
void guess_slots(const Windows<kWords>& windows, const std::uint16_t* tags, std::uint32_t* slots) {
  const std::size_t n = windows.n;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t first = windows.slot_and_tag[i] >> 16;
    slots[i] = static_cast<std::uint32_t>(first) + find_slot(tags + first, windows.tag(i));
  }
}

template <int kWords>
void add_windows(const Windows<kWords>& windows, CountHashTable<kWords>& table) {
  const auto all = table.slots();
  std::uint32_t slots[kMaxBatch];
  guess_slots<kWords>(windows, all.tags, slots);
  const std::size_t n = windows.n;
  std::size_t n_new = 0;
  for (std::size_t i = 0; i < n; ++i) {
    std::size_t slot = slots[i];
    std::uint64_t difference = 0;
    for (std::size_t w = 0; w < kWords; ++w)
      difference |= all.keys[slot].word[w] ^ windows.word[w][i];
    const std::uint64_t is_taken = all.tags[slot] != 0;
    if (HWY_UNLIKELY((difference & (0 - is_taken)) != 0)) {
      slot = all.find(windows.key(i));
      n_new += all.tags[slot] == 0;
    } else {
      n_new += 1 - is_taken;
    }
    all.tags[slot] = windows.tag(i);
    for (std::size_t w = 0; w < kWords; ++w) all.keys[slot].word[w] = windows.word[w][i];
    if (HWY_UNLIKELY(++all.counts[slot] == 0)) table.carry(windows.key(i));
  }
  table.note_new(n_new);
}

template <int kWords>
void count(std::span<const char> records, int k, bool canonical, CountHashTable<kWords>& table) {
  Shape<kWords> shape(k, canonical, 0);
  OtherStrand other;
  Windows<kWords> windows;
  const char* const end = records.data() + records.size();
  for (const char* at = records.data(); at < end;) {
    table.make_room(kMaxBatch);
    shape.n_groups = table.slots().n_groups;
    for (windows.n = 0; windows.n < kBatch && at < end;) {
      const std::size_t n = std::size_t{static_cast<unsigned char>(*at)} + 1;
      expand<kWords>(at + 1, n, shape, other, windows);
      at += 1 + (n + shape.k + 2) / 4;
    }
    add_windows<kWords>(windows, table);
  }
}

void count_1(std::span<const char> records, int k, bool canonical, CountHashTable<1>& table) {
  count<1>(records, k, canonical, table);
}
void count_2(std::span<const char> records, int k, bool canonical, CountHashTable<2>& table) {
  count<2>(records, k, canonical, table);
}
void count_4(std::span<const char> records, int k, bool canonical, CountHashTable<4>& table) {
  count<4>(records, k, canonical, table);
}
void count_8(std::span<const char> records, int k, bool canonical, CountHashTable<8>& table) {
  count<8>(records, k, canonical, table);
}

}  // namespace biogpu::kmer::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace biogpu::kmer {
HWY_EXPORT(count_1);
HWY_EXPORT(count_2);
HWY_EXPORT(count_4);
HWY_EXPORT(count_8);

template <>
void count_windows(std::span<const char> records, int k, bool canonical, CountHashTable<1>& table) {
  HWY_DYNAMIC_DISPATCH(count_1)(records, k, canonical, table);
}
template <>
void count_windows(std::span<const char> records, int k, bool canonical, CountHashTable<2>& table) {
  HWY_DYNAMIC_DISPATCH(count_2)(records, k, canonical, table);
}
template <>
void count_windows(std::span<const char> records, int k, bool canonical, CountHashTable<4>& table) {
  HWY_DYNAMIC_DISPATCH(count_4)(records, k, canonical, table);
}
template <>
void count_windows(std::span<const char> records, int k, bool canonical, CountHashTable<8>& table) {
  HWY_DYNAMIC_DISPATCH(count_8)(records, k, canonical, table);
}
}  // namespace biogpu::kmer
#endif
