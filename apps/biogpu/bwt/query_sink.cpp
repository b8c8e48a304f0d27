#include "apps/biogpu/bwt/query_sink.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "lib/core/complement.hpp"

namespace biogpu::app {
namespace {

constexpr std::string_view kCountHeader = "#query\tforward\treverse\ttotal\n";
constexpr std::string_view kPlaceHeader = "#query\ttarget\tbegin\tend\tstrand\tmismatches\n";

constexpr std::uint16_t kUnmapped = 4;
constexpr std::uint16_t kReverse = 16;
constexpr std::uint16_t kSecondary = 256;

}  // namespace

QuerySink::QuerySink(const bwt::FmIndex& index, const QueryFlags& flags, bool counts_only,
                     const std::string& command_line)
    : index_(index) {
  const std::string& path = flags.out_path;
  if (!counts_only)
    form_ = flags.format == "sam" ? Form::sam : flags.format == "bed" ? Form::bed : Form::tsv;
  if (form_ == Form::sam) {
    std::vector<std::pair<std::string, std::uint64_t>> targets;
    for (const bwt::FmContig& contig : index.contigs())
      targets.emplace_back(contig.name, contig.length);
    // U of a query is the T of the index.
    const io::SamLetters letters{.rna = true};
    sam_.emplace(path, targets, command_line, flags.shared.threads, letters);
    return;
  }
  text_.emplace(path, flags.shared.threads);
  if (form_ == Form::counts) text_->write(kCountHeader);
  if (form_ == Form::tsv) text_->write(kPlaceHeader);
}

void QuerySink::format(QueryItem& item) const {
  item.text.clear();
  if (form_ == Form::sam) return;
  for (std::size_t query = 0; query < item.answers.size(); ++query) format_query(item, query);
}

void QuerySink::format_query(QueryItem& item, std::size_t query) const {
  const std::string_view name = item.batch.name(query);
  const std::size_t length = item.batch.sequence(query).size();
  const QueryAnswer& answer = item.answers[query];
  auto out = std::back_inserter(item.text);
  if (form_ == Form::counts) {
    fmt::format_to(out, "{}\t{}\t{}\t{}\n", name, answer.n_forward, answer.n_reverse,
                   answer.n_forward + answer.n_reverse);
    return;
  }
  for (std::size_t i = 0; i < answer.n_hits; ++i) {
    const QueryHit& hit = item.hits[answer.first_hit + i];
    const std::string& target = index_.contigs()[hit.contig].name;
    const char strand = hit.reverse ? '-' : '+';
    if (form_ == Form::tsv) {
      fmt::format_to(out, "{}\t{}\t{}\t{}\t{}\t{}\n", name, target, hit.begin, hit.begin + length,
                     strand, hit.n_mismatches);
    } else {
      fmt::format_to(out, "{}\t{}\t{}\t{}\t{}\t{}\n", target, hit.begin, hit.begin + length, name,
                     hit.n_mismatches, strand);
    }
  }
}

void QuerySink::write(const QueryItem& item) {
  if (text_) text_->write(item.text);
  if (sam_)
    for (std::size_t query = 0; query < item.answers.size(); ++query) write_sam(item, query);
}

void QuerySink::write_sam(const QueryItem& item, std::size_t query) {
  const std::string_view sequence = item.batch.sequence(query);
  const std::string_view quality = item.batch.quality(query);
  const QueryAnswer& answer = item.answers[query];
  io::SamRecord record;
  record.query_name = item.batch.name(query);
  if (answer.n_hits == 0) {
    record.flag = kUnmapped;
    record.mapq = 0;
    record.sequence = sequence;
    record.quality = quality;
    sam_->write(record);
    return;
  }
  const std::string other_strand = reverse_complement_iupac(sequence);
  const std::string backwards(quality.rbegin(), quality.rend());
  const std::uint32_t match = static_cast<std::uint32_t>(sequence.size()) << 4;
  record.cigar = {&match, 1};
  for (std::size_t i = 0; i < answer.n_hits; ++i) {
    const QueryHit& hit = item.hits[answer.first_hit + i];
    record.flag =
        static_cast<std::uint16_t>((hit.reverse ? kReverse : 0) | (i > 0 ? kSecondary : 0));
    record.target_id = static_cast<std::int32_t>(hit.contig);
    record.target_begin = static_cast<std::int64_t>(hit.begin);
    record.sequence = hit.reverse ? std::string_view(other_strand) : sequence;
    record.quality = hit.reverse ? std::string_view(backwards) : quality;
    record.edit_distance = static_cast<std::int32_t>(hit.n_mismatches);
    record.score = static_cast<std::int32_t>(sequence.size()) - record.edit_distance;
    sam_->write(record);
  }
}

void QuerySink::commit() {
  if (text_) text_->commit();
  if (sam_) sam_->commit();
}

}  // namespace biogpu::app
