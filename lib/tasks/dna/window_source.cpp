#include "lib/tasks/dna/window_source.hpp"

#include <fmt/format.h>

#include <utility>

#include "lib/bio/genome/fasta_windows.hpp"
#include "lib/bio/genome/indexed_fasta.hpp"
#include "lib/core/quote.hpp"
#include "lib/io/input/raw_file.hpp"

namespace biogpu::tasks {
namespace {

class FastaSource final : public WindowSource {
 public:
  FastaSource(std::vector<std::string> paths, std::int64_t length, const FastaOptions& options)
      : paths_(std::move(paths)), length_(static_cast<std::size_t>(length)), options_(options) {
    if (!options_.shard.is_whole())
      ranges_ = io::shard_files(paths_, options_.shard, options_.n_threads);
  }

  bool next(InputWindow& window) override {
    for (;;) {
      if (!reader_ && !open_next()) return false;
      genome::SequenceWindow record;
      if (reader_->next(record)) {
        window.key = std::move(record.key);
        window.codes = std::move(record.codes);
        window.place = fmt::format("{}: record {} ({})", io::input::label_of(files_.back().path),
                                   record.record, shortened(window.key));
        ++files_.back().n_windows;
        return true;
      }
      n_skipped_ += reader_->n_skipped();
      reader_.reset();
    }
  }
  std::vector<File> files() const override { return files_; }
  std::uint64_t n_skipped() const override {
    return n_skipped_ + (reader_ ? reader_->n_skipped() : 0);
  }

 private:
  bool open_next() {
    const std::size_t i = files_.size();
    if (i == paths_.size()) return false;
    reader_ = std::make_unique<genome::FastaWindows>(paths_[i], length_, options_.fit,
                                                     options_.n_threads, options_.bad);
    if (!ranges_.empty()) reader_->select(ranges_[i]);
    files_.push_back({paths_[i], 0});
    return true;
  }

  const std::vector<std::string> paths_;
  const std::size_t length_;
  const FastaOptions options_;
  std::vector<io::RecordRange> ranges_;  // of the files; empty: all
  std::unique_ptr<genome::FastaWindows> reader_;
  std::vector<File> files_;      // the last is being read
  std::uint64_t n_skipped_ = 0;  // of those before it
};

class GenomeSource final : public WindowSource {
 public:
  GenomeSource(const GenomeRegions& regions, std::int64_t length, const io::Shard& shard,
               io::BadRecords bad)
      : bed_(regions.bed),
        genome_(regions.genome),
        length_(length),
        regions_(regions, genome_, shard, bad) {}

  bool next(InputWindow& window) override {
    genome::Window region;
    if (!regions_.next(region)) return false;
    region = genome::resize_centre(std::move(region), length_);
    window.codes.resize(static_cast<std::size_t>(length_));
    genome_.fetch(region.contig, region.begin, window.codes);
    window.contig = region.contig;
    window.begin = region.begin;
    window.place = regions_.place();
    window.key = std::move(region.key);
    return true;
  }
  std::span<const genome::Contig> contigs() const override { return genome_.contigs(); }
  std::vector<File> files() const override {
    std::vector<File> files{{genome_.path(), 0}};
    if (!bed_.empty()) files.push_back({bed_, regions_.n_of_bed()});
    return files;
  }
  std::uint64_t n_skipped() const override { return regions_.n_skipped(); }

 private:
  const std::string bed_;
  genome::IndexedFasta genome_;
  const std::int64_t length_;
  RegionSource regions_;
};

}  // namespace

std::unique_ptr<WindowSource> make_fasta_source(std::vector<std::string> paths, std::int64_t length,
                                                const FastaOptions& options) {
  return std::make_unique<FastaSource>(std::move(paths), length, options);
}

std::unique_ptr<WindowSource> make_genome_source(const GenomeRegions& regions, std::int64_t length,
                                                 const io::Shard& shard, io::BadRecords bad) {
  return std::make_unique<GenomeSource>(regions, length, shard, bad);
}

}  // namespace biogpu::tasks
