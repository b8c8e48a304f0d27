#include "lib/tasks/dna/window_source.hpp"

#include <fmt/format.h>

#include <utility>

#include "lib/bio/genome/bed.hpp"
#include "lib/bio/genome/fasta_windows.hpp"
#include "lib/bio/genome/indexed_fasta.hpp"
#include "lib/core/quote.hpp"
#include "lib/io/input/raw_file.hpp"

namespace biogpu::tasks {
namespace {

class FastaSource final : public WindowSource {
 public:
  FastaSource(std::vector<std::string> paths, std::int64_t length, genome::Fit fit, int n_threads)
      : paths_(std::move(paths)),
        length_(static_cast<std::size_t>(length)),
        fit_(fit),
        n_threads_(n_threads) {}

  bool next(InputWindow& window) override {
    for (;;) {
      if (!reader_) {
        if (files_.size() == paths_.size()) return false;
        reader_ = std::make_unique<genome::FastaWindows>(paths_[files_.size()], length_, fit_,
                                                         n_threads_);
        files_.push_back({paths_[files_.size()], 0});
      }
      genome::SequenceWindow record;
      if (reader_->next(record)) {
        const std::string label = io::input::label_of(files_.back().path);
        window.key = std::move(record.key);
        window.codes = std::move(record.codes);
        window.place = fmt::format("{}: record {} ({})", label, ++files_.back().n_windows,
                                   shortened(window.key));
        return true;
      }
      reader_.reset();
    }
  }
  std::vector<File> files() const override { return files_; }

 private:
  const std::vector<std::string> paths_;
  const std::size_t length_;
  const genome::Fit fit_;
  const int n_threads_;
  std::unique_ptr<genome::FastaWindows> reader_;
  std::vector<File> files_;  // the last is being read
};

class GenomeSource final : public WindowSource {
 public:
  GenomeSource(const GenomeRegions& regions, std::int64_t length)
      : genome_(regions.genome), length_(length) {
    files_.push_back({regions.genome, 0});
    if (!regions.bed.empty()) {
      bed_.emplace(regions.bed, genome_);
      files_.push_back({regions.bed, 0});
    }
    for (const std::string& region : regions.regions)
      windows_.push_back(genome::parse_window(region, genome_.contigs()));
  }

  bool next(InputWindow& window) override {
    genome::Window region;
    std::string label;
    if (bed_ && bed_->next(region)) {
      label = io::input::label_of(files_.back().path);
      ++files_.back().n_windows;
    } else {
      bed_.reset();
      if (next_ == windows_.size()) return false;
      region = windows_[next_++];
      label = "--region";
    }
    region = genome::resize_centre(std::move(region), length_);
    window.codes.resize(static_cast<std::size_t>(length_));
    genome_.fetch(region.contig, region.begin, window.codes);
    window.contig = region.contig;
    window.begin = region.begin;
    window.place = fmt::format("{}: {}", label, shortened(region.key));
    window.key = std::move(region.key);
    return true;
  }
  std::span<const genome::Contig> contigs() const override { return genome_.contigs(); }
  std::vector<File> files() const override { return files_; }

 private:
  genome::IndexedFasta genome_;
  const std::int64_t length_;
  std::optional<genome::BedReader> bed_;
  std::vector<genome::Window> windows_;  // of --region
  std::size_t next_ = 0;
  std::vector<File> files_;
};

}  // namespace

std::unique_ptr<WindowSource> make_fasta_source(std::vector<std::string> paths, std::int64_t length,
                                                genome::Fit fit, int n_threads) {
  return std::make_unique<FastaSource>(std::move(paths), length, fit, n_threads);
}

std::unique_ptr<WindowSource> make_genome_source(const GenomeRegions& regions,
                                                 std::int64_t length) {
  return std::make_unique<GenomeSource>(regions, length);
}

}  // namespace biogpu::tasks
