#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/biogpu/infer/run/model_input.hpp"
#include "lib/bio/genome/indexed_fasta.hpp"
#include "lib/bio/genome/variant_reader.hpp"
#include "lib/bio/genome/window.hpp"

namespace biogpu::app {

// Variants of a VCF or BCF file in batches. Those of one window stay together, up to a bound.
class VariantInput : public ModelInput {
 public:
  VariantInput(const std::string& path, const std::string& genome,
               genome::VariantReaderOptions options);

  const genome::IndexedFasta& genome() const { return genome_; }
  const genome::VariantReader& reader() const { return reader_; }
  // Before the first read(), to add to its header.
  genome::VariantReader& own_reader() { return reader_; }
  // Of the file, those that are read.
  const io::RecordRange& records() const { return records_; }
  // The window of a variant, by which it is put into a batch. Before the first read().
  using PlaceWindow = std::function<genome::Window(const genome::Variant& variant)>;
  void set_windows(PlaceWindow place_window) { place_window_ = std::move(place_window); }
  // Windows of a batch.
  void set_batch(std::int64_t n_windows) { n_per_batch_ = n_windows; }

  const std::vector<genome::Variant>& variants(std::size_t slot) const { return batches_[slot]; }
  // "a.vcf: record 5 (chr1:100)", for errors.
  std::string place(const genome::Variant& variant) const;
  // The next variant in the order of the input, if one was read; one that is scored only where a
  // result waits for it. Only with keep_source.
  std::optional<genome::Variant> take_variant(bool has_result);

  bool read(std::size_t slot) override;
  std::vector<report::InputFile> files() const override;

 private:
  enum class Next { scored, not_scored, end };
  Next next(genome::Variant& variant);
  void set_slots(std::size_t n_slots) override { batches_.resize(n_slots); }

  const std::string path_;
  const bool keep_source_;
  const io::RecordRange records_;
  genome::IndexedFasta genome_;
  genome::VariantReader reader_;
  PlaceWindow place_window_;
  std::int64_t n_per_batch_ = 1;
  std::optional<genome::Variant> ahead_;  // read, of the next batch
  std::vector<std::vector<genome::Variant>> batches_;
  std::mutex mutex_;  // guards queue_
  std::deque<genome::Variant> queue_;
};

}  // namespace biogpu::app
