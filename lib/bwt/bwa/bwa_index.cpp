#include "lib/bwt/bwa/bwa_index.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstring>
#include <vector>

#include "lib/core/run_on_threads.hpp"
#include "lib/io/output_file.hpp"

namespace biogpu::bwt {
namespace {

static_assert(std::endian::native == std::endian::little, "bwa's files are little-endian");

constexpr std::uint64_t kBlockSymbols = 128;
constexpr std::uint64_t kCountWords = 8;  // four 64-bit counts, in 32-bit words

using Counts = std::array<std::uint64_t, 4>;

// Gathers the transform and the samples, a run of blocks at a time; counts are those within the run
// until add_counts().
template <class Index>
class BwtBuilder {
 public:
  BwtBuilder(const PackedText& text, const BigArray<Index>& sa, int n_threads)
      : text_(text), sa_(sa), n_threads_(n_threads), n_(text.size()) {}

  BwaBwt build() {
    const std::uint64_t n_blocks = (n_ + kBlockSymbols - 1) / kBlockSymbols;
    bwt_.blocks = BigArray<std::uint32_t>((n_ + 15) / 16 + kCountWords * (n_blocks + 1));
    bwt_.samples = BigArray<std::uint64_t>(n_ / kBwaSampleRate);
    find_primary();
    const std::size_t step = piece_blocks(n_blocks);
    const std::size_t n_pieces = (n_blocks + step - 1) / step;
    std::vector<Counts> total(n_pieces);
    run_on_threads(n_threads_, n_pieces, [&](std::size_t, std::size_t k) {
      total[k] = fill_blocks(k * step, std::min<std::uint64_t>(n_blocks, (k + 1) * step));
    });
    Counts before{};
    for (Counts& counts : total)
      for (std::size_t c = 0; c < 4; ++c) before[c] += std::exchange(counts[c], before[c]);
    run_on_threads(n_threads_, n_pieces, [&](std::size_t, std::size_t k) {
      add_counts(total[k], k * step, std::min<std::uint64_t>(n_blocks, (k + 1) * step));
    });
    store_counts(n_blocks, before);
    std::uint64_t sum = 0;
    for (std::size_t c = 0; c < 4; ++c) bwt_.cumulative[c] = sum += before[c];
    run_ranges_on_threads(n_threads_, bwt_.samples.size(),
                          [&](std::size_t, std::size_t i, std::size_t end) {
                            for (; i < end; ++i)
                              bwt_.samples[i] = sa_[kBwaSampleRate * (i + 1) - 1];
                          });
    return std::move(bwt_);
  }

 private:
  static std::size_t piece_blocks(std::uint64_t n_blocks) {
    return std::max<std::size_t>(64, n_blocks / 256);
  }

  void find_primary() {
    run_ranges_on_threads(n_threads_, n_, [&](std::size_t, std::size_t i, std::size_t end) {
      for (; i < end; ++i)
        if (sa_[i] == 0) bwt_.primary = i + 1;
    });
  }

  // Symbol j of the stored transform: row j, or row j + 1 behind the sentinel's. Row 0 is the empty
  // suffix, which the array leaves out.
  std::uint64_t position_of(std::uint64_t j) const {
    const std::uint64_t row = j + (j >= bwt_.primary ? 1 : 0);
    return row == 0 ? n_ : sa_[row - 1];
  }

  Counts fill_blocks(std::uint64_t begin, std::uint64_t end) {
    constexpr std::uint64_t kAhead = 32;
    Counts counts{};
    for (std::uint64_t b = begin; b < end; ++b) {
      store_counts(b, counts);
      std::uint32_t* const words = counts_at(b) + kCountWords;
      const std::uint64_t last = std::min(n_, (b + 1) * kBlockSymbols);
      std::uint32_t word = 0;
      for (std::uint64_t j = b * kBlockSymbols; j < last; ++j) {
        if (j + kAhead < last) text_.prefetch(position_of(j + kAhead) - 1);
        const unsigned base = text_[position_of(j) - 1];
        ++counts[base];
        word = word << 2 | base;
        if (j % 16 == 15) words[j % kBlockSymbols / 16] = word;
      }
      if (last % 16 != 0) words[last % kBlockSymbols / 16] = word << (2 * (16 - last % 16));
    }
    return counts;
  }

  void store_counts(std::uint64_t b, const Counts& counts) {
    std::memcpy(counts_at(b), counts.data(), sizeof counts);
  }
  // Block b begins with its counts. Those behind the last block follow its last word directly.
  std::uint32_t* counts_at(std::uint64_t b) {
    const std::uint64_t n_before = std::min(n_, b * kBlockSymbols);
    return bwt_.blocks.data() + b * kCountWords + (n_before + 15) / 16;
  }

  void add_counts(const Counts& before, std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t b = begin; b < end; ++b) {
      Counts counts;
      std::memcpy(counts.data(), counts_at(b), sizeof counts);
      for (std::size_t c = 0; c < 4; ++c) counts[c] += before[c];
      store_counts(b, counts);
    }
  }

  const PackedText& text_;
  const BigArray<Index>& sa_;
  const int n_threads_;
  const std::uint64_t n_;
  BwaBwt bwt_;
};

template <class Value>
std::string_view bytes_of(const Value* values, std::size_t n) {
  return {reinterpret_cast<const char*>(values), n * sizeof(Value)};
}

void write_header(io::OutputFile& file, const BwaBwt& bwt) {
  file.write(bytes_of(&bwt.primary, 1));
  file.write(bytes_of(bwt.cumulative, 4));
}

std::string ann_text(const Reference& reference) {
  std::string text = fmt::format("{} {} 11\n", reference.text.size(), reference.contigs.size());
  for (const Contig& contig : reference.contigs)
    text += fmt::format("0 {} {}\n{} {} {}\n", contig.name,
                        contig.comment.empty() ? "(null)" : contig.comment, contig.offset,
                        contig.length, contig.n_holes);
  return text;
}

std::string amb_text(const Reference& reference) {
  std::string text = fmt::format("{} {} {}\n", reference.text.size(), reference.contigs.size(),
                                 reference.holes.size());
  for (const Hole& hole : reference.holes)
    text += fmt::format("{} {} {}\n", hole.offset, hole.length, hole.letter);
  return text;
}

// Four bases a byte, the first in its highest bits; then how many bases the last byte holds.
void write_pac(io::OutputFile& file, const PackedText& text) {
  constexpr std::size_t kWords = 1u << 16;
  std::vector<std::uint64_t> swapped;
  const std::uint64_t n_bytes = text.size() / 4 + 1;  // one of no bases where none are left over
  for (std::uint64_t done = 0; done < n_bytes;) {
    const std::uint64_t first = done / 8;
    const std::uint64_t n = std::min<std::uint64_t>(n_bytes - done, kWords * 8);
    swapped.assign(text.words() + first, text.words() + first + (n + 7) / 8);
    for (std::uint64_t& word : swapped) word = __builtin_bswap64(word);
    file.write(bytes_of(swapped.data(), swapped.size()).substr(0, n));
    done += n;
  }
  const char n_left = static_cast<char>(text.size() % 4);
  file.write({&n_left, 1});
}

void write_samples(io::OutputFile& file, std::uint64_t n_bases, const BwaBwt& bwt) {
  write_header(file, bwt);
  const std::uint64_t rate_and_length[] = {kBwaSampleRate, 2 * n_bases};
  file.write(bytes_of(rate_and_length, 2));
  file.write(bytes_of(bwt.samples.data(), bwt.samples.size()));
}

// One of the five, counted as write_bwa_index() opens them.
void write_part(io::OutputFile& file, std::size_t part, const Reference& reference,
                const BwaBwt& bwt) {
  switch (part) {
    case 0:
      return file.write(ann_text(reference));
    case 1:
      return file.write(amb_text(reference));
    case 2:
      return write_pac(file, reference.text);
    case 3:
      write_header(file, bwt);
      return file.write(bytes_of(bwt.blocks.data(), bwt.blocks.size()));
    default:
      return write_samples(file, reference.text.size(), bwt);
  }
}

}  // namespace

template <class Index>
BwaBwt make_bwa_bwt(const PackedText& text, const BigArray<Index>& sa, int n_threads) {
  return BwtBuilder<Index>(text, sa, n_threads).build();
}
template BwaBwt make_bwa_bwt(const PackedText&, const BigArray<std::uint32_t>&, int);
template BwaBwt make_bwa_bwt(const PackedText&, const BigArray<std::uint64_t>&, int);

std::vector<io::OutputFile> write_bwa_index(const std::string& prefix, const Reference& reference,
                                            const BwaBwt& bwt, int n_threads) {
  std::vector<io::OutputFile> files;
  for (const char* const suffix : {".ann", ".amb", ".pac", ".bwt", ".sa"})
    files.emplace_back(prefix + suffix);
  // A file is written by one thread, and the largest is half of the whole.
  run_on_threads(n_threads, files.size(), [&](std::size_t, std::size_t k) {
    // The largest first. A full disk is met before any of an older index is replaced.
    constexpr std::size_t kTurns[] = {3, 4, 2, 0, 1};
    io::OutputFile& file = files[kTurns[k]];
    write_part(file, kTurns[k], reference, bwt);
    file.finish();
  });
  return files;
}

}  // namespace biogpu::bwt
