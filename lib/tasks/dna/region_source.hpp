#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/bio/genome/bed.hpp"
#include "lib/bio/genome/indexed_fasta.hpp"
#include "lib/bio/genome/window.hpp"
#include "lib/io/bad_records.hpp"
#include "lib/io/shard.hpp"

namespace biogpu::tasks {

struct GenomeRegions {
  std::string genome;                // FASTA
  std::string bed;                   // or empty
  std::vector<std::string> regions;  // samtools' form, after those of the BED file
};

// The regions of a shard, in order. Errors: those of BedReader and parse_window; none for intervals
// of the BED file that do not fit, where these are skipped.
class RegionSource {
 public:
  // Of a shard it counts the lines of the BED file first. The genome must outlive it.
  RegionSource(const GenomeRegions& regions, const genome::IndexedFasta& genome,
               const io::Shard& shard, io::BadRecords bad);

  // False at the end.
  bool next(genome::Window& region);
  // Whether the last region is of the BED file.
  bool is_of_bed() const { return is_of_bed_; }
  // Place of the last region, for errors: "regions.bed: line 3 (promoter)" or "--region chr1:5-9".
  const std::string& place() const { return place_; }
  // Intervals of the BED file that were read, and those of them that were skipped.
  std::uint64_t n_of_bed() const { return n_of_bed_; }
  std::uint64_t n_skipped() const { return n_skipped_; }

 private:
  bool is_chosen(std::uint64_t region) const {
    return region >= range_.begin && region < range_.end;
  }

  const std::string bed_path_;
  const io::BadRecords bad_;
  std::vector<genome::Window> given_;  // of --region
  std::optional<genome::BedReader> bed_;
  io::RecordRange range_;
  std::uint64_t next_ = 0;         // of all regions
  std::uint64_t first_given_ = 0;  // of all regions; known where the BED file was read
  bool is_of_bed_ = false;
  std::string place_;
  std::uint64_t n_of_bed_ = 0, n_skipped_ = 0;
};

}  // namespace biogpu::tasks
