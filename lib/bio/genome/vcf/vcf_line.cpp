#include "lib/bio/genome/vcf/vcf_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <vector>

#include "lib/bio/split.hpp"
#include "lib/core/quote.hpp"

namespace biogpu::genome {
namespace {

constexpr std::size_t kFixedColumns = 8;  // CHROM to INFO

bool is_digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
}

std::string_view without_sign(std::string_view text) {
  if (!text.empty() && (text.front() == '+' || text.front() == '-')) text.remove_prefix(1);
  return text;
}

bool is_real(std::string_view text) {
  const std::string_view digits = without_sign(text);
  if (digits.empty() || std::isspace(static_cast<unsigned char>(digits.front())) ||
      digits.find_first_of("xX+-") == 0 || digits.starts_with("0x") || digits.starts_with("0X"))
    return false;
  const std::string copy(text);
  char* end = nullptr;
  static_cast<void>(std::strtod(copy.c_str(), &end));
  return end == copy.c_str() + copy.size();
}

bool fits_32_bits(std::string_view text) {
  if (text.front() == '+') text.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && value >= BCF_MIN_BT_INT32 && value <= BCF_MAX_BT_INT32;
}

// What is wrong with a list of numbers; each may be missing.
std::string find_number_fault(std::string_view list, std::uint32_t type) {
  for (const std::string_view text : split(list, ',')) {
    if (text == ".") continue;
    if (type == BCF_HT_INT && !is_digits(without_sign(text)))
      return fmt::format("{}; expected an integer or '.'", quoted(text));
    if (type == BCF_HT_INT && !fits_32_bits(text))
      return fmt::format("{}; VCF's integers have 32 bits", quoted(text));
    if (type == BCF_HT_REAL && !is_real(text))
      return fmt::format("{}; expected a number or '.'", quoted(text));
  }
  return {};
}

// The type of an INFO or FORMAT tag; text where the header does not define it.
std::uint32_t type_of(const bcf_hdr_t* header, int kind, std::string_view tag) {
  const int id = bcf_hdr_id2int(header, BCF_DT_ID, std::string(tag).c_str());
  if (id < 0 || !bcf_hdr_idinfo_exists(header, kind, id)) return BCF_HT_STR;
  return bcf_hdr_id2type(header, kind, id);
}

std::string find_info_fault(std::string_view info, const bcf_hdr_t* header) {
  if (info == ".") return {};
  for (const std::string_view entry : split(info, ';')) {
    const std::size_t equals = entry.find('=');
    if (equals == entry.npos) continue;
    if (equals == 0) return fmt::format("INFO {}; expected TAG=VALUE", quoted(entry));
    const std::string_view tag = entry.substr(0, equals);
    const std::string fault =
        find_number_fault(entry.substr(equals + 1), type_of(header, BCF_HL_INFO, tag));
    if (!fault.empty()) return fmt::format("INFO/{} {}", shortened(tag), fault);
  }
  return {};
}

// Alleles, numbers or '.', with '/' or '|' between them.
bool is_genotype(std::string_view text) {
  for (;;) {
    const std::size_t end = text.find_first_of("/|");
    const std::string_view allele = text.substr(0, end);
    if (allele != "." && !is_digits(allele)) return false;
    if (end == text.npos) return true;
    text.remove_prefix(end + 1);
  }
}

std::string find_sample_fault(std::string_view sample, const std::vector<std::string_view>& tags,
                              const bcf_hdr_t* header, VcfFields fields) {
  const std::vector<std::string_view> texts = split(sample, ':');
  if (texts.size() > tags.size())
    return fmt::format("{} has {} fields; FORMAT has {}", quoted(sample), texts.size(),
                       tags.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (tags[i] == "GT" && !is_genotype(texts[i]))
      return fmt::format("GT {}; expected numbers of alleles with '/' or '|' between them",
                         quoted(texts[i]));
    if (tags[i] == "GT" || fields == VcfFields::used) continue;
    const std::string fault = find_number_fault(texts[i], type_of(header, BCF_HL_FMT, tags[i]));
    if (!fault.empty()) return fmt::format("FORMAT/{} {}", shortened(tags[i]), fault);
  }
  return {};
}

std::string find_columns_fault(const std::vector<std::string_view>& columns, std::size_t n_samples,
                               VcfFields fields) {
  if (columns.size() < kFixedColumns)
    return fmt::format("{} columns; expected CHROM to INFO, separated by tabs", columns.size());
  const std::size_t n_expected = kFixedColumns + (n_samples > 0 ? 1 + n_samples : 0);
  // A file without samples may have the column FORMAT, and a record have none of its samples.
  const bool fits = columns.size() == n_expected ||
                    (n_samples == 0 && columns.size() == kFixedColumns + 1) ||
                    (fields == VcfFields::used && columns.size() == kFixedColumns);
  if (!fits)
    return fmt::format("{} columns; the header has {}, of {} samples", columns.size(), n_expected,
                       n_samples);
  return {};
}

}  // namespace

std::string find_vcf_fault(std::string_view line, const bcf_hdr_t* header, std::size_t n_samples,
                           VcfFields fields) {
  if (line.find('\0') != line.npos) return "holds a null byte; expected text";
  const std::vector<std::string_view> columns = split(line, '\t');
  std::string fault = find_columns_fault(columns, n_samples, fields);
  if (!fault.empty()) return fault;
  if (!is_digits(columns[1]))
    return fmt::format("POS {}; expected a whole number", quoted(columns[1]));
  if (columns[0].empty() || columns[3].empty()) return "CHROM or REF is empty; expected text";
  for (const std::string_view allele : split(columns[4], ','))
    if (allele.empty())
      return fmt::format("ALT {}; expected alleles with a comma between them, or '.'",
                         quoted(columns[4]));
  if (fields == VcfFields::all) {
    if (columns[5] != "." && !is_real(columns[5]))
      return fmt::format("QUAL {}; expected a number or '.'", quoted(columns[5]));
    fault = find_info_fault(columns[7], header);
  }
  if (columns.size() <= kFixedColumns || bcf_hdr_nsamples(header) == 0) return fault;
  const std::vector<std::string_view> tags = split(columns[kFixedColumns], ':');
  for (std::size_t s = kFixedColumns + 1; fault.empty() && s < columns.size(); ++s)
    fault = find_sample_fault(columns[s], tags, header, fields);
  return fault;
}

std::string vcf_line_position(std::string_view line) {
  const std::vector<std::string_view> columns = split(line.substr(0, 4096), '\t');
  return fmt::format("{}:{}", shortened(columns[0]),
                     columns.size() > 1 ? shortened(columns[1]) : "?");
}

}  // namespace biogpu::genome
