#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/qc/input/fastq_file.hpp"

namespace biogpu::qc {

// Text held at a time of what is looked at before the run.
inline constexpr std::size_t kBytesOfLook = 64u << 20;

// The sequences at the beginning of a file.
class ReadSample {
 public:
  // Reads until there are max_reads reads or max_bases bases. What is damaged ends the sample; the
  // run itself will tell.
  ReadSample(const std::string& path, std::uint64_t max_reads, std::uint64_t max_bases,
             Damage damage = Damage::ends_look);

  std::size_t size() const { return ends_.size(); }
  std::string_view operator[](std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(bases_).substr(begin, ends_[i] - begin);
  }
  // Reads of the whole file: counted when the sample holds all, estimated by its size otherwise.
  std::uint64_t n_reads_of_file() const { return n_reads_of_file_; }

 private:
  std::string bases_;
  std::vector<std::size_t> ends_;
  std::uint64_t n_reads_of_file_ = 0;
};

}  // namespace biogpu::qc
