#include "lib/qc/batch/batch_processor.hpp"

#include <algorithm>
#include <utility>

#include "lib/qc/batch/fastq_format.hpp"
#include "lib/qc/batch/record.hpp"
#include "lib/qc/steps/correct.hpp"
#include "lib/qc/steps/filter.hpp"
#include "lib/qc/steps/umi.hpp"

namespace biogpu::qc {
namespace {

constexpr std::string_view kMateFails = "paired_read_is_failing";

class BatchProcessor {
 public:
  BatchProcessor(Batch& batch, const Options& options, WorkerSums& sums)
      : batch_(batch), options_(options), sums_(sums) {
    batch_.clear_results();
    edits_names_ = options.fix_mgi_id || options.umi;
    has_index_lists_ = !options.index_list1.empty() || !options.index_list2.empty();
    by_device_ = batch.on_device;
    if (by_device_) change_bases();
  }

  void run_single() {
    for (std::size_t i = 0; i < batch_.n_records; ++i) {
      single(i);
      end_pack(i);
    }
  }

  void run_pairs() {
    for (std::size_t i = 0; i < batch_.n_records; ++i) {
      pair(i);
      end_pack(i);
    }
    // Only now does the text of merged reads stay where it is.
    for (const auto& [index, offset] : merged_kept_)
      batch_.kept[0][index].sequence =
          batch_.kept_text.view().substr(offset, batch_.kept[0][index].sequence.size());
  }

 private:
  // The bases that a device corrected, in the text.
  void change_bases() {
    for (const BaseChange& change : batch_.changes) {
      const bool two_files = options_.paired() && !options_.interleaved;
      FastqChunk& chunk = two_files && change.read % 2 == 1 ? batch_.chunk2 : batch_.chunk1;
      change_base(whole_read(chunk, two_files ? change.read / 2 : change.read), change);
    }
    sums_.counts.corrected_bases += batch_.changes.size();
  }

  std::uint64_t pack_of(std::size_t i) const { return (batch_.first_record + i) / kPackRecords; }

  void end_pack(std::size_t i) {
    ++pack_.n_records;
    if ((i + 1) % kPackRecords != 0 && i + 1 != batch_.n_records) return;
    for (std::size_t output = 0; output < kOutputs; ++output)
      pack_.text[output] = batch_.text[output].size();
    batch_.packs.push_back(pack_);
    pack_ = {};
  }

  // Where a read went; n_out: of its bases, those that are written.
  void settle(const Record& record, Fate fate, int n_out = 0) {
    sums_.flow.count(fate, record.original.length);
    sums_.flow.bases_out += static_cast<std::uint64_t>(n_out);
  }
  void settle_out(const Record& record, Fate fate) { settle(record, fate, record.mate.length); }

  bool dropped_as_duplicate(std::size_t i) const {
    return options_.dedup && batch_.is_duplicate[i] != 0;
  }

  void edit_names(Record& first, Record* second) {
    if (!edits_names_) return;
    const auto load = [&](Record& record, std::string& name) {
      if (!options_.fix_mgi_id || !fix_mgi_name(record.text.name, name)) name = record.text.name;
    };
    load(first, sums_.name1);
    if (second != nullptr) load(*second, sums_.name2);
    if (options_.umi)
      apply_umi(first.mate, sums_.name1, second != nullptr ? &second->mate : nullptr,
                second != nullptr ? &sums_.name2 : nullptr, options_);
    first.text.name = sums_.name1;
    if (second != nullptr) second->text.name = sums_.name2;
  }

  // A read that is counted before filtering and, as `mate` is now, after it.
  void count_both(const Record& record, std::size_t m) {
    const Mate& now = record.mate;
    keep_for_overrepresentation(now, m);
    if (by_device_) return;
    if (now.sequence == record.original.sequence && !counted_before_) {
      sums_.unchanged[m].count_read();
      sums_.unchanged[m].add(now.sequence, now.quality, now.length);
      sums_.before[m].add(now.sequence, now.quality, record.original.length, now.length);
    } else {
      count_before(record, m);
      count_after(now, m);
    }
  }

  void count_before(const Record& record, std::size_t m) {
    if (by_device_ || counted_before_) return;
    sums_.before[m].count_read();
    sums_.before[m].add(record.original.sequence, record.original.quality, record.original.length);
  }

  void count_after(const Mate& mate, std::size_t m) {
    sums_.after[m].count_read();
    sums_.after[m].add(mate.sequence, mate.quality, mate.length);
  }

  void keep_for_overrepresentation(const Mate& mate, std::size_t m) {
    if (options_.overrepresentation)
      batch_.kept[m].push_back(
          {current_pack_, {mate.sequence, static_cast<std::size_t>(mate.length)}});
  }

  void single(std::size_t i) {
    Record record = open_record(batch_.chunk1, i);
    current_pack_ = pack_of(i);
    if (options_.phred64) convert_phred64(record.mate);
    if (has_index_lists_ && has_listed_index(record.text.name, {}, options_)) {
      count_before(record, 0);
      settle(record, Fate::index_listed);
      return;
    }
    edit_names(record, nullptr);
    record.umi_cut = record.mate;
    trim(record, i);
    count_steps(record, 0, options_.adapter1);
    const Verdict verdict = filter_record(record);
    sums_.counts.count(verdict, 1);
    if (verdict == Verdict::passed && !dropped_as_duplicate(i)) {
      append_fastq(batch_.output(Output::out1), record.text, record.mate);
      ++pack_.n_passed;
      count_both(record, 0);
      settle_out(record, Fate::passed);
      return;
    }
    count_before(record, 0);
    settle(record, verdict == Verdict::passed ? Fate::duplicate : Fate::filtered);
    if (!options_.failed_out.empty() && !dropped_as_duplicate(i))
      append_fastq(batch_.output(Output::failed), record.text, record.failed(),
                   failure_tag(verdict));
  }

  void pair(std::size_t i) {
    Record first =
        options_.interleaved ? open_record(batch_.chunk1, 2 * i) : open_record(batch_.chunk1, i);
    Record second = options_.interleaved ? open_record(batch_.chunk1, 2 * i + 1)
                                         : open_record(batch_.chunk2, i);
    current_pack_ = pack_of(i);
    if (options_.phred64)
      for (const Record* record : {&first, &second}) convert_phred64(record->mate);
    counted_before_ = false;
    if (has_index_lists_ && has_listed_index(first.text.name, second.text.name, options_)) {
      settle_both(first, second, Fate::index_listed);
      return count_pair_before(first, second);
    }
    edit_names(first, &second);
    first.umi_cut = first.mate;
    second.umi_cut = second.mate;
    const bool with_insert_size =
        current_pack_ % static_cast<std::uint64_t>(options_.virtual_workers) == 0;
    trim(first, second, i, with_insert_size);
    count_steps(first, 0, options_.adapter1);
    count_steps(second, 1, options_.adapter2);
    if (with_insert_size) sums_.counts.count_insert_size(first.result.insert_size);
    if (sums_.scratch.after_overlap)
      append_fastq(batch_.output(Output::overlapped), first.text, *sums_.scratch.after_overlap);
    if (options_.merge) return merge(first, second, i);
    finish_pair(first, second, dropped_as_duplicate(i));
  }

  void trim(Record& record, std::size_t i) {
    if (by_device_)
      take(record, i, 0);
    else
      trim_single(record, options_, sums_.scratch);
  }

  // What a device made of a read, told as the steps of the CPU tell it.
  void take(Record& record, std::size_t read, std::size_t m) {
    record.take(batch_.results[read]);
    std::vector<std::string_view>& cuts = sums_.scratch.fasta_cuts[m];
    cuts.clear();
    for (; next_cut_ < batch_.fasta_cuts.size() && batch_.fasta_cuts[next_cut_].read == read;
         ++next_cut_)
      cuts.push_back(record.text_of(batch_.fasta_cuts[next_cut_], options_.fasta_adapters));
  }

  void trim(Record& first, Record& second, std::size_t i, bool with_insert_size) {
    if (by_device_) {
      take(first, 2 * i, 0);
      take(second, 2 * i + 1, 1);
      sums_.scratch.after_overlap.reset();
      return;
    }
    TrimScratch& scratch = sums_.scratch;
    const Overlap overlap =
        trim_pair_to_overlap(first, second, options_, with_insert_size, scratch);
    if (!scratch.corrections.empty()) {
      // The last moment at which the bases are those that came.
      count_pair_before(first, second);
      counted_before_ = true;
      sums_.counts.corrected_bases += scratch.corrections.size();
    }
    trim_pair_after_overlap(first, second, overlap, options_, scratch);
  }

  void count_steps(const Record& record, std::size_t m, std::string_view adapter) {
    sums_.counts.count_read(record.result);
    count_adapter(m, record.adapter_text(adapter));
    for (const std::string_view cut : sums_.scratch.fasta_cuts[m]) count_adapter(m, cut);
  }

  void count_adapter(std::size_t m, std::string_view cut) {
    if (cut.empty()) return;
    sums_.counts.adapter_bases += cut.size();
    if (!options_.follows_fastp_1()) return sums_.counts.adapters[m].add(cut, 1);
    batch_.cuts.push_back({current_pack_, m, cut.size()});
    batch_.cut_text.append(cut.data(), cut.size());
  }

  // A device has filtered its reads.
  Verdict filter_record(Record& record) const {
    Verdict& verdict = record.result.verdict;
    if (!by_device_ && verdict == Verdict::passed) verdict = filter(record.mate, options_);
    return verdict;
  }

  void count_pair_before(const Record& first, const Record& second) {
    count_before(first, 0);
    count_before(second, 1);
  }

  void merge(Record& first, Record& second, std::size_t i) {
    count_pair_before(first, second);
    if (first.mate.dropped || second.mate.dropped)
      return write_pair(first, second, dropped_as_duplicate(i));
    const Overlap overlap =
        overlap_of(first.mate, second.mate, options_, options_.overlap_diff_percent, sums_.scratch);
    if (overlap.found) return write_merged(first, second, overlap);
    if (options_.include_unmerged) return write_unmerged(first, second, dropped_as_duplicate(i));
    write_pair(first, second, dropped_as_duplicate(i));
  }

  void write_merged(const Record& first, const Record& second, const Overlap& overlap) {
    const int from1 = overlap.length + std::max(0, overlap.offset);
    const int from2 = overlap.offset > 0 ? second.mate.length - overlap.length : 0;
    Mate merged = merge_mates(first.mate, second.mate, from1, from2, sums_.merged_sequence,
                              sums_.merged_quality);
    const Verdict verdict = filter(merged, options_);
    sums_.counts.count(verdict, 2);
    const Fate fate = verdict == Verdict::passed ? Fate::passed : Fate::filtered;
    settle(first, fate, verdict == Verdict::passed ? merged.length : 0);
    settle(second, fate);
    if (verdict != Verdict::passed) return;
    const std::string tag = "merged_" + std::to_string(from1) + "_" + std::to_string(from2);
    FastqHeader text = first.text;
    std::string strand(text.strand);
    if (options_.follows_fastp_1() && strand != "+") {
      strand += " " + tag;
      text.strand = strand;
    }
    append_fastq(batch_.output(Output::merged), text, merged, tag);
    count_after(merged, 0);
    if (options_.overrepresentation) {
      merged_kept_.emplace_back(batch_.kept[0].size(), batch_.kept_text.size());
      keep_for_overrepresentation(merged, 0);
      batch_.kept_text.append(merged.sequence, static_cast<std::size_t>(merged.length));
    }
    ++pack_.n_passed;
    ++sums_.counts.merged_pairs;
  }

  void write_unmerged(Record& first, Record& second, bool duplicate) {
    bool both = true;
    for (Record* record : {&first, &second}) {
      const Verdict verdict = filter_record(*record);
      sums_.counts.count(verdict, 1);
      both = both && verdict == Verdict::passed;
      if (verdict != Verdict::passed || duplicate) {
        settle(*record, verdict == Verdict::passed ? Fate::duplicate : Fate::filtered);
        continue;
      }
      settle_out(*record, Fate::passed);
      append_fastq(batch_.output(Output::merged), record->text, record->mate);
      count_after(record->mate, 0);
      keep_for_overrepresentation(record->mate, 0);
    }
    pack_.n_passed += both;
  }

  void finish_pair(Record& first, Record& second, bool duplicate) {
    const Verdict verdict1 = filter_record(first);
    const Verdict verdict2 = filter_record(second);
    sums_.counts.count(std::max(verdict1, verdict2), 2);
    const bool both = verdict1 == Verdict::passed && verdict2 == Verdict::passed;
    if (both && !duplicate) {
      count_both(first, 0);
      count_both(second, 1);
    } else {
      count_pair_before(first, second);
    }
    write_verdicts(first, second, verdict1, verdict2, duplicate);
  }

  // In merging mode: a pair that was not merged.
  void write_pair(Record& first, Record& second, bool duplicate) {
    const Verdict verdict1 = filter_record(first);
    const Verdict verdict2 = filter_record(second);
    sums_.counts.count(std::max(verdict1, verdict2), 2);
    write_verdicts(first, second, verdict1, verdict2, duplicate);
  }

  void settle_both(const Record& first, const Record& second, Fate fate) {
    settle(first, fate);
    settle(second, fate);
  }

  // A duplicate is not written, even if it passes the filters.
  void write_verdicts(const Record& first, const Record& second, Verdict verdict1, Verdict verdict2,
                      bool duplicate) {
    const bool both = verdict1 == Verdict::passed && verdict2 == Verdict::passed;
    if (duplicate) return settle_both(first, second, both ? Fate::duplicate : Fate::filtered);
    const bool nobody_takes = both && options_.merge && options_.out1.empty();
    if (nobody_takes) return settle_both(first, second, Fate::filtered);
    if (both) {
      for (const Record* record : {&first, &second}) settle_out(*record, Fate::passed);
      const bool one_file = options_.use_stdout && !options_.merge;
      append_fastq(batch_.output(Output::out1), first.text, first.mate);
      append_fastq(batch_.output(one_file ? Output::out1 : Output::out2), second.text, second.mate);
      ++pack_.n_passed;
      return;
    }
    if (verdict1 != Verdict::passed && verdict2 != Verdict::passed)  // fastp's silence
      return settle_both(first, second, Fate::filtered);
    const bool first_passed = verdict1 == Verdict::passed;
    const Record& good = first_passed ? first : second;
    const Record& bad = first_passed ? second : first;
    const Verdict why = first_passed ? verdict2 : verdict1;
    const bool keeps_good = unpaired_output(good, first_passed);
    const bool is_out = keeps_good && (first_passed || !options_.unpaired1.empty());
    settle(good, is_out ? Fate::unpaired : Fate::filtered, is_out ? good.mate.length : 0);
    settle(bad, Fate::filtered);
    if (options_.failed_out.empty()) return;
    io::CharBuffer& failed = batch_.output(Output::failed);
    const auto write_good = [&] {
      if (!keeps_good) append_fastq(failed, good.text, good.failed(), kMateFails);
    };
    if (first_passed) write_good();
    append_fastq(failed, bad.text, bad.failed(), failure_tag(why));
    if (!first_passed) write_good();
  }

  // Gives a read whose mate failed to the file for such reads; false where there is none. The
  // second file stays empty without the first (OutputSet::stays_empty).
  bool unpaired_output(const Record& record, bool is_first) {
    const bool has1 = !options_.unpaired1.empty();
    const bool has2 = !options_.unpaired2.empty() && options_.unpaired2 != options_.unpaired1;
    const bool to_second = !is_first && has2;
    if (!to_second && !has1) return false;
    append_fastq(batch_.output(to_second ? Output::unpaired2 : Output::unpaired1), record.text,
                 record.mate);
    return true;
  }

  Batch& batch_;
  const Options& options_;
  WorkerSums& sums_;
  bool edits_names_ = false;
  bool has_index_lists_ = false;
  bool by_device_ = false;
  std::size_t next_cut_ = 0;  // of batch_.fasta_cuts
  std::uint64_t current_pack_ = 0;
  bool counted_before_ = false;  // the current pair, when its bases were corrected
  PackEnd pack_;
  std::vector<std::pair<std::size_t, std::size_t>> merged_kept_;  // in kept[0]; in kept_text
};

}  // namespace

void process_single(Batch& batch, const Options& options, WorkerSums& sums) {
  BatchProcessor(batch, options, sums).run_single();
}

void process_pairs(Batch& batch, const Options& options, WorkerSums& sums) {
  BatchProcessor(batch, options, sums).run_pairs();
}

}  // namespace biogpu::qc
