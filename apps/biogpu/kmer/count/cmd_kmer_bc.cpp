// `biogpu kmer bc`: the Bloom counter that `kmer count --bc` filters with.
#include <memory>
#include <string>

#include "apps/biogpu/command_line/shared_flags.hpp"
#include "apps/biogpu/command_line/value_checks.hpp"
#include "apps/biogpu/kmer/commands.hpp"
#include "apps/biogpu/kmer/count/count_flags.hpp"
#include "apps/biogpu/kmer/count/input.hpp"
#include "apps/biogpu/kmer/jellyfish_number.hpp"
#include "lib/io/output_file.hpp"
#include "lib/kmer/count/cpu_counter.hpp"
#include "lib/kmer/database/jellyfish/bloom_counter.hpp"

namespace biogpu::app {
namespace {

struct BcFlags {
  KmerInputFlags input;
  int k = 0;
  bool canonical = false;
  std::uint64_t n_kmers = 0;
  double rate = 0.001;
  std::string out_path = "mer_bloom_filter";
  bool no_provenance = false;
  int threads = 1;
};

// The counters depend on how often each k-mer occurs, not on when: so the k-mers are counted first.
void run_bc(const BcFlags& flags, const std::string& command_line) {
  flags.input.resolve();
  check_files(flags.input.files_read(), flags.out_path);
  require_plain_name(flags.out_path, {"txt"});
  kmer::BloomCounter bloom(flags.k, flags.canonical, flags.n_kmers, flags.rate);
  io::OutputFile out(flags.out_path);
  kmer::CountOptions options;
  options.k = flags.k;
  options.canonical = flags.canonical;
  options.order = kmer::KeyOrder::lexicographic(flags.k);
  options.n_threads = flags.threads;
  options.tmp_dir = default_tmp_dir();
  kmer::CpuCounter counter(options);
  KmerInput input(flags.k, flags.threads, 0);
  input.read_all(flags.input, [&](const kmer::FeedSequences& feed) { counter.add(feed); });
  counter.finish();
  for (kmer::Counter::Bucket bucket; counter.next(bucket);) {
    counter.fetch(bucket);
    const kmer::CountBlock& counts = bucket.counts;
    for (std::size_t i = 0; i < counts.size(); ++i) bloom.add(counts.key(i), counts.counts[i]);
  }
  kmer::Header header;
  kmer::add_provenance(header, split_words(command_line), flags.no_provenance);
  bloom.write(header, out);
  out.commit();
}

}  // namespace

Run add_kmer_bc(CLI::App& command) {
  const auto flags = std::make_shared<BcFlags>();
  add_kmer_input_flags(command, flags->input);
  command.add_option("-m,--mer-len", flags->k, "set the length of a k-mer, in bases")
      ->required()
      ->transform(jellyfish_number(1, kmer::kMaxK))
      ->option_text("N");
  command.add_option("-s,--size", flags->n_kmers, "expect this number of distinct k-mers, as 100M")
      ->required()
      ->transform(jellyfish_size())
      ->option_text("N");
  command
      .add_option("-f,--fpr", flags->rate,
                  "accept this share of wrong answers at that size [0.001]")
      ->transform(in_range(1e-12, 0.5))
      ->option_text("RATE");
  command
      .add_flag("-C,--canonical", flags->canonical,
                "count a k-mer and its reverse complement as one")
      ->option_text(" ");
  command
      .add_option("-o,--output", flags->out_path,
                  "write the Bloom counter to this file [mer_bloom_filter]")
      ->option_text("FILE");
  add_threads_flag(command, flags->threads)->transform(jellyfish_number(0, 1024));
  command
      .add_flag("--no-provenance", flags->no_provenance, "leave time and place out of the header")
      ->option_text(" ");
  command.footer(
      std::string("Examples:\n"
                  "  biogpu kmer bc -m 25 -C -s 100G -t 16 -o reads.bc reads.fq.gz\n"
                  "  biogpu kmer count -m 25 -C -t 16 --bc reads.bc -o reads.jf reads.fq.gz\n\n") +
      kExitCodes);
  return [flags](const std::string& command_line) { run_bc(*flags, command_line); };
}

}  // namespace biogpu::app
