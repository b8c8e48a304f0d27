#include "lib/bio/genome/variant_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

#include "lib/bio/genome/phase_sets.hpp"
#include "lib/bio/genome/vcf/format_numbers.hpp"
#include "lib/bio/genome/vcf/vcf_input.hpp"
#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"

namespace biogpu::genome {
namespace {

constexpr std::size_t kRefShown = 20;  // letters of REF in an error

AltAllele parse_alt(const char* text) {
  AltAllele alt;
  alt.text = text;
  alt.codes.resize(alt.text.size());
  if (alt.text == "*" || alt.text == "<*>" || alt.text == "<NON_REF>" || alt.text == ".") {
    alt.kind = AlleleKind::no_change;
  } else if (alt.text.empty() || encode_letters(alt.text, alt.codes.data()) != alt.text.size()) {
    alt.kind = AlleleKind::symbolic;
  }
  if (alt.kind != AlleleKind::letters) alt.codes.clear();
  return alt;
}

// One sample's numbers of the GT field.
Genotype parse_genotype(const std::int32_t* numbers, std::size_t n) {
  Genotype genotype;
  bool all_phased = true;
  for (std::size_t i = 0; i < n && numbers[i] != bcf_int32_vector_end; ++i) {
    const bool missing = numbers[i] == bcf_int32_missing || bcf_gt_is_missing(numbers[i]);
    genotype.alleles.push_back(missing ? -1 : bcf_gt_allele(numbers[i]));
    // The first has no separator in front of it that could tell.
    if (i > 0 && !bcf_gt_is_phased(numbers[i])) all_phased = false;
  }
  const std::vector<int>& alleles = genotype.alleles;
  genotype.phased = all_phased || std::all_of(alleles.begin(), alleles.end(), [&](int allele) {
                      return allele == alleles.front();
                    });
  return genotype;
}

}  // namespace

class VariantReader::Impl {
 public:
  Impl(const std::string& path, const IndexedFasta& genome, VariantReaderOptions options)
      : genome_(genome),
        options_(std::move(options)),
        input_(path, options_.keep_source ? VcfFields::all : VcfFields::used) {
    choose_samples();
    define_contigs();
  }

  bool next(Variant& variant);
  const VariantCounts& counts() const { return counts_; }
  const std::string& label() const { return input_.label(); }
  const IndexedFasta& genome() const { return genome_; }
  const std::vector<std::string>& chosen_samples() const { return options_.samples; }

  void define_info(const std::string& id, const std::string& line);
  std::shared_ptr<bcf_hdr_t> copy_header() const {
    std::shared_ptr<bcf_hdr_t> copy(bcf_hdr_dup(input_.header()), io::HtsDelete());
    if (!copy) throw std::bad_alloc();
    return copy;
  }

 private:
  void choose_samples();
  void define_contigs();
  void note_definitions(int n_before);
  bool take(bcf1_t& record, Variant& variant);
  bool lies_inside(const Variant& variant);
  bool check_ref(const Variant& variant);
  bool check_alts(const Variant& variant);
  bool read_genotypes(bcf1_t& record, Variant& variant);
  // Throws where such variants are refused, else counts it and returns false.
  bool leave_out(std::uint64_t& count, const std::string& what) const;
  std::string place() const;

  const IndexedFasta& genome_;
  const VariantReaderOptions options_;
  VcfInput input_;
  std::vector<std::size_t> sample_columns_;
  VariantCounts counts_;
  std::uint64_t number_ = 0;  // of the record in the file, from 1
  std::string position_;      // of the record, for errors: "chr1:5"
  FormatNumbers numbers_;
  PhaseSets phase_sets_;
  std::vector<MissingDefinition> missing_;  // of the records since the last that was given out
};

void VariantReader::Impl::choose_samples() {
  const bcf_hdr_t* header = input_.header();
  const int n_samples = bcf_hdr_nsamples(header);
  for (const std::string& name : options_.samples) {
    char** const end = header->samples + n_samples;
    char** const at = std::find_if(header->samples, end, [&](const char* s) { return name == s; });
    if (at == end)
      throw Error(ErrorCode::usage, fmt::format("{}: has no sample {}", label(), quoted(name)));
    sample_columns_.push_back(static_cast<std::size_t>(at - header->samples));
  }
  // Genotypes that are not asked for need not be parsed.
  if (options_.samples.empty() && !options_.keep_source && n_samples > 0 &&
      bcf_hdr_set_samples(input_.header(), nullptr, 0) != 0)
    throw std::bad_alloc();
}

// A file may leave its contigs undefined; annotated output may not.
void VariantReader::Impl::define_contigs() {
  bcf_hdr_t* header = input_.header();
  for (const Contig& contig : genome_.contigs()) {
    if (bcf_hdr_name2id(header, contig.name.c_str()) >= 0) continue;
    const std::string line = fmt::format("##contig=<ID={},length={}>", contig.name, contig.length);
    static_cast<void>(bcf_hdr_append(header, line.c_str()));  // best effort: odd names are refused
  }
  if (bcf_hdr_sync(header) < 0) throw std::bad_alloc();
}

void VariantReader::Impl::define_info(const std::string& id, const std::string& line) {
  bcf_hdr_t* const header = input_.header();
  const int number = bcf_hdr_id2int(header, BCF_DT_ID, id.c_str());
  if (number >= 0 && bcf_hdr_idinfo_exists(header, BCF_HL_INFO, number))
    throw Error(ErrorCode::usage,
                fmt::format("{}: has INFO/{} already; remove it, or write another file format",
                            label(), id));
  if (bcf_hdr_append(header, line.c_str()) != 0 || bcf_hdr_sync(header) < 0)
    throw Error(ErrorCode::failed,
                fmt::format("{}: INFO/{} cannot be added to the header", label(), id));
}

// htslib defines what a record uses and the header lacks.
void VariantReader::Impl::note_definitions(int n_before) {
  const bcf_hdr_t* const header = input_.header();
  for (int i = n_before; i < header->nhrec; ++i) {
    const bcf_hrec_t& line = *header->hrec[i];
    const int id = bcf_hrec_find_key(const_cast<bcf_hrec_t*>(&line), "ID");
    kstring_t text{0, 0, nullptr};
    if (bcf_hrec_format(&line, &text) < 0) throw std::bad_alloc();
    const std::unique_ptr<char, void (*)(void*)> owner(text.s, std::free);
    missing_.push_back(
        {fmt::format("{}/{}", line.key, id < 0 ? "?" : line.vals[id]), {text.s, text.l}});
  }
}

bool VariantReader::Impl::next(Variant& variant) {
  for (;;) {
    const std::shared_ptr<bcf1_t> record(bcf_init(), io::HtsDelete());
    if (!record) throw std::bad_alloc();
    const int n_lines = input_.header()->nhrec;
    if (number_ >= options_.records.end || !input_.read(*record, number_ + 1)) return false;
    if (options_.keep_source) note_definitions(n_lines);
    if (number_++ < options_.records.begin) continue;
    ++counts_.records;
    const bool is_scored = take(*record, variant);
    if (is_scored) ++counts_.given_out;
    if (!is_scored && !options_.keep_source) continue;
    if (options_.keep_source) {
      variant.source = record;
      variant.missing_definitions = std::exchange(missing_, {});
      variant.is_scored = is_scored;
    }
    return true;
  }
}

bool VariantReader::Impl::take(bcf1_t& record, Variant& variant) {
  variant = Variant();
  variant.record = number_;
  variant.position = record.pos;
  const char* const name = bcf_seqname(input_.header(), &record);
  position_ = fmt::format("{}:{}", shortened(name == nullptr ? "?" : name), record.pos + 1);
  if (bcf_unpack(&record, BCF_UN_STR) < 0 || name == nullptr || record.n_allele == 0)
    throw Error(ErrorCode::bad_input, place() + ": malformed; expected the columns of VCF");
  for (int i = 1; i < record.n_allele; ++i) variant.alts.push_back(parse_alt(record.d.allele[i]));
  if (std::all_of(variant.alts.begin(), variant.alts.end(),
                  [](const AltAllele& alt) { return alt.kind == AlleleKind::no_change; })) {
    ++counts_.no_alternate;
    return false;
  }
  const auto contig = genome_.find(name);
  if (!contig) return leave_out(counts_.unknown_contig, genome_.describe_missing(name));
  variant.contig = *contig;
  variant.id = record.d.id;
  variant.ref = record.d.allele[0];
  variant.ref_codes.resize(variant.ref.size());
  if (variant.ref.empty() ||
      encode_letters(variant.ref, variant.ref_codes.data()) != variant.ref.size())
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: REF {}; {}", place(), quoted(variant.ref), kExpectedLetters));
  if (!lies_inside(variant) || !check_ref(variant)) return false;
  if (!sample_columns_.empty() && !read_genotypes(record, variant)) return false;
  return check_alts(variant);
}

bool VariantReader::Impl::lies_inside(const Variant& variant) {
  const Contig& contig = genome_.contigs()[variant.contig];
  const auto length = static_cast<std::int64_t>(contig.length);
  if (variant.position < 0 || variant.position >= length)
    return leave_out(counts_.outside,
                     fmt::format("POS {}; {} has the letters 1 to {} in {}", variant.position + 1,
                                 quoted(contig.name), length, genome_.path()));
  if (std::ssize(variant.ref_codes) > length - variant.position)
    return leave_out(
        counts_.outside,
        fmt::format("REF {} goes on behind the {} letters of {} in {}",
                    quoted(variant.ref, kRefShown), length, quoted(contig.name), genome_.path()));
  return true;
}

bool VariantReader::Impl::check_ref(const Variant& variant) {
  const std::string there = genome_.letters(variant.contig, variant.position, variant.ref.size());
  for (std::size_t i = 0; i < there.size(); ++i)
    if (!may_stand_for(there[i], variant.ref[i]))
      return leave_out(counts_.other_ref, fmt::format("REF {} disagrees with {}, which has {} "
                                                      "there",
                                                      quoted(variant.ref, kRefShown),
                                                      genome_.path(), quoted(there, kRefShown)));
  return true;
}

// Where samples are chosen, only alleles that one of them has are checked.
bool VariantReader::Impl::check_alts(const Variant& variant) {
  const auto is_carried = [&](std::size_t alt) {
    return sample_columns_.empty() ||
           std::any_of(
               variant.genotypes.begin(), variant.genotypes.end(), [&](const Genotype& genotype) {
                 const std::vector<int>& alleles = genotype.alleles;
                 return std::find(alleles.begin(), alleles.end(), static_cast<int>(alt) + 1) !=
                        alleles.end();
               });
  };
  bool any = false, any_left_out = false;
  for (std::size_t i = 0; i < variant.alts.size(); ++i) {
    const AltAllele& alt = variant.alts[i];
    any = any || alt.kind == AlleleKind::letters;
    if (alt.kind != AlleleKind::symbolic || !is_carried(i)) continue;
    any_left_out = true;
    leave_out(counts_.symbolic,
              alt.text == "-"
                  ? "ALT '-'; expected letters of DNA: a deletion has the letter before it in REF "
                    "and ALT"
                  : fmt::format("ALT {} is symbolic; expected letters of DNA", quoted(alt.text)));
  }
  return any || !any_left_out;
}

bool VariantReader::Impl::read_genotypes(bcf1_t& record, Variant& variant) {
  const auto numbers = numbers_.read(input_.header(), record, "GT");
  if (!numbers)
    return leave_out(counts_.no_genotypes, "has no genotypes; expected GT of every sample");
  if (numbers->empty())
    throw Error(ErrorCode::bad_input, place() + ": GT is malformed; expected it of every sample");
  const std::size_t ploidy =
      numbers->size() / static_cast<std::size_t>(bcf_hdr_nsamples(input_.header()));
  for (const std::size_t column : sample_columns_) {
    variant.genotypes.push_back(parse_genotype(numbers->data() + column * ploidy, ploidy));
    for (const int allele : variant.genotypes.back().alleles)
      if (allele > std::ssize(variant.alts))
        throw Error(ErrorCode::bad_input, fmt::format("{}: allele {} in GT; it has {}", place(),
                                                      allele, variant.alts.size() + 1));
  }
  counts_.other_phase_set +=
      phase_sets_.count_changes(input_.header(), record, variant, sample_columns_);
  return true;
}

bool VariantReader::Impl::leave_out(std::uint64_t& count, const std::string& what) const {
  if (options_.bad == io::BadRecords::refuse)
    throw Error(ErrorCode::bad_input, place() + ": " + what);
  ++count;
  return false;
}

std::string VariantReader::Impl::place() const {
  return fmt::format("{}: record {} ({})", label(), number_, position_);
}

VariantReader::VariantReader(const std::string& path, const IndexedFasta& genome,
                             VariantReaderOptions options)
    : impl_(std::make_unique<Impl>(path, genome, std::move(options))) {}
VariantReader::~VariantReader() = default;
VariantReader::VariantReader(VariantReader&&) noexcept = default;
VariantReader& VariantReader::operator=(VariantReader&&) noexcept = default;
bool VariantReader::next(Variant& variant) { return impl_->next(variant); }
const VariantCounts& VariantReader::counts() const { return impl_->counts(); }
void VariantReader::define_info(const std::string& id, const std::string& line) {
  impl_->define_info(id, line);
}
const std::string& VariantReader::label() const { return impl_->label(); }
const IndexedFasta& VariantReader::genome() const { return impl_->genome(); }
const std::vector<std::string>& VariantReader::chosen_samples() const {
  return impl_->chosen_samples();
}
std::shared_ptr<bcf_hdr_t> VariantReader::copy_header() const { return impl_->copy_header(); }

std::uint64_t count_variant_records(const std::string& path) {
  VcfInput input(path, VcfFields::used);
  const VcfRecord record(bcf_init());
  if (!record) throw std::bad_alloc();
  std::uint64_t n = 0;
  while (input.read(*record, n + 1)) ++n;
  return n;
}

}  // namespace biogpu::genome
