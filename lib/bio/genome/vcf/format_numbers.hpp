#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "lib/core/aligned_buffer.hpp"

struct bcf1_t;
struct bcf_hdr_t;

namespace biogpu::genome {

// The integers of a FORMAT tag of all samples of a record; memory is used again for the next.
class FormatNumbers {
 public:
  // As many for each sample. None where the header or the record lacks the tag, an empty span where
  // its values are no integers. Valid until the next call.
  std::optional<std::span<const std::int32_t>> read(const bcf_hdr_t* header, bcf1_t& record,
                                                    const char* tag);

 private:
  MallocPtr<std::int32_t> numbers_;
  int n_numbers_ = 0;
};

}  // namespace biogpu::genome
