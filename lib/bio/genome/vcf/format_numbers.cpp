#include "lib/bio/genome/vcf/format_numbers.hpp"

#include <htslib/vcf.h>

namespace biogpu::genome {

std::optional<std::span<const std::int32_t>> FormatNumbers::read(const bcf_hdr_t* header,
                                                                 bcf1_t& record, const char* tag) {
  // htslib ends the program at values of a type that it does not expect, and where all samples
  // leave the tag out.
  const bcf_fmt_t* const format = bcf_get_fmt(header, &record, tag);
  if (format == nullptr || format->p == nullptr || format->type == BCF_BT_NULL) return std::nullopt;
  using Numbers = std::span<const std::int32_t>;
  if (format->type != BCF_BT_INT8 && format->type != BCF_BT_INT16 && format->type != BCF_BT_INT32)
    return Numbers();
  // As an integer for any tag, as GT is, which headers define as a string.
  std::int32_t* numbers = numbers_.release();
  const int n = bcf_get_format_values(header, &record, tag, reinterpret_cast<void**>(&numbers),
                                      &n_numbers_, BCF_HT_INT);
  numbers_.reset(numbers);
  if (n <= 0 || n % bcf_hdr_nsamples(header) != 0) return Numbers();
  return Numbers(numbers, static_cast<std::size_t>(n));
}

}  // namespace biogpu::genome
