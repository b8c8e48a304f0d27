#include <fmt/format.h>

#include <cstdio>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apps/biogpu/command_line/shared_flags.hpp"
#include "apps/biogpu/command_line/value_checks.hpp"
#include "apps/biogpu/kmer/commands.hpp"
#include "apps/biogpu/kmer/jellyfish_number.hpp"
#include "lib/core/device.hpp"
#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"
#include "lib/io/output_file.hpp"
#include "lib/io/sequence_reader.hpp"
#include "lib/kmer/database/jellyfish/jellyfish_file.hpp"
#include "lib/kmer/database/lookup.hpp"
#include "lib/kmer/device/device_lookup.hpp"
#include "lib/kmer/key/count_block.hpp"
#include "lib/kmer/sequences/sequence_keys.hpp"
#include "lib/pipeline/pipeline.hpp"

namespace biogpu::app {
namespace {

struct KmerQueryFlags {
  std::string path;
  std::vector<std::string> mers;
  std::vector<std::string> sequences;
  std::string out_path = "-";
  bool interactive = false;
  bool ignored = false;
  int threads = 1;
  std::string device = "cpu";
};

// Keys and text of a batch stay in a core's cache.
constexpr std::size_t kQueryBytes = 1u << 17;
constexpr io::BatchLimits kQueryBatch{65536, kQueryBytes};

// One k-mer given as text. False where it is too short or has other letters than ACGTacgt.
bool look_up_word(const kmer::Lookup& database, std::string_view word, std::string& letters,
                  std::uint64_t& count) {
  const kmer::Header& header = database.header();
  const auto k = static_cast<std::size_t>(header.k);
  std::vector<std::uint64_t> key;
  if (word.size() >= k) kmer::append_keys(word.substr(0, k), header.k, header.canonical, key);
  if (key.empty()) {
    std::fputs(fmt::format("Invalid mer {}\n", quoted(word)).c_str(), stderr);
    return false;
  }
  database.find(key.data(), {&count, 1});
  letters.clear();
  kmer::append_letters(key.data(), header.k, letters);
  return true;
}

void query_sequences(const kmer::Lookup& database, const std::string& path, int threads,
                     io::OutputFile& out) {
  struct QueryBatch {
    io::SequenceBatch batch;
    kmer::CountBlock block;
    std::string text;
  };
  const kmer::Header& header = database.header();
  io::SequenceReader reader(path, threads, false, kQueryBytes);
  reader.split_records(kQueryBatch.n_residues, static_cast<std::size_t>(header.k - 1));
  std::vector<QueryBatch> items(static_cast<std::size_t>(threads) + 2);
  pipeline::run({threads, static_cast<int>(items.size())},
                {[&](std::size_t slot) { return reader.read_any(items[slot].batch, kQueryBatch); },
                 [&](std::size_t slot) {
                   QueryBatch& item = items[slot];
                   kmer::CountBlock& block = item.block;
                   block.clear(kmer::words_for(header.k));
                   for (std::size_t i = 0; i < item.batch.size(); ++i)
                     kmer::append_keys(item.batch.sequence(i), header.k, header.canonical,
                                       block.keys);
                   block.counts.resize(block.keys.size() / static_cast<std::size_t>(block.n_words));
                   database.find(block.keys.data(), block.counts);
                   item.text.clear();
                   kmer::append_jellyfish_lines(header, block, ' ', item.text);
                 },
                 [&](std::size_t slot) { out.write(items[slot].text); }});
}

void query_standard_input(const kmer::Lookup& database, io::OutputFile& out) {
  std::string letters;
  std::uint64_t count = 0;
  for (std::string word; std::cin >> word;) {
    if (!look_up_word(database, word, letters, count)) continue;
    out.write(fmt::format("{}\n", count));
    out.flush();  // whoever asks may wait for the answer
  }
  if (std::ferror(stdin) != 0) throw Error(ErrorCode::failed, "standard input: cannot be read");
}

// A GPU pays where millions of k-mers are looked up; the CPU answers as soon as the file is mapped.
std::unique_ptr<kmer::Lookup> open_database(const KmerQueryFlags& flags) {
  const DeviceChoice choice = choose_device(parse_device_request(flags.device), false, 1);
  return choice.on_gpu() ? kmer::open_device_lookup(flags.path, choice.gpus[0])
                         : kmer::Lookup::open(flags.path);
}

void run_query(const KmerQueryFlags& flags) {
  std::vector<std::string> inputs = flags.sequences;
  inputs.push_back(flags.path);
  check_files(inputs, flags.out_path);
  const auto database = open_database(flags);
  io::OutputFile out(flags.out_path);
  for (const std::string& path : flags.sequences)
    query_sequences(*database, path, flags.threads, out);
  std::string letters;
  std::uint64_t count = 0;
  for (const std::string& word : flags.mers)
    if (look_up_word(*database, word, letters, count))
      out.write(fmt::format("{} {}\n", letters, count));
  if (flags.interactive) {
    out.flush();
    query_standard_input(*database, out);
  }
  out.commit();
}

}  // namespace

Run add_kmer_query(CLI::App& command) {
  const auto flags = std::make_shared<KmerQueryFlags>();
  command.add_option("DB", flags->path, "file of the database, not standard input")
      ->required()
      ->option_text(" ");
  command.add_option("MER", flags->mers, "k-mers whose counts are printed")->option_text(" ");
  command
      .add_option("-s,--sequence", flags->sequences,
                  "look up every k-mer of these sequence files, first of all")
      ->option_text("FILE")
      ->allow_extra_args(false)
      ->take_all();
  command
      .add_option("-o,--output", flags->out_path,
                  "write the counts to this file, compressed where its name ends in .gz [-, "
                  "standard output]")
      ->check(text_name())
      ->option_text("FILE");
  command
      .add_flag("-i,--interactive", flags->interactive,
                "look up k-mers from standard input then, a count a line")
      ->option_text(" ");
  add_threads_flag(command, flags->threads)
      ->transform(jellyfish_number(0, 1024))
      ->description(
          "use N CPU threads to look up the k-mers of -s, 0 is all that are allowed "
          "[BIOGPU_THREADS, else up to 4]");
  command
      .add_option("--device", flags->device,
                  "look up on cpu, gpu or a device by number; a GPU takes the whole database into "
                  "its memory first [cpu]")
      ->option_text("WHAT");
  command
      .add_flag("-l,--load", flags->ignored,
                "ignore this option, which is accepted for compatibility")
      ->option_text(" ");
  command
      .add_flag("-L,--no-load", flags->ignored,
                "ignore this option, which is accepted for compatibility")
      ->option_text(" ");
  command.footer(std::string("Prints each k-mer, canonical where the database is, and its count. "
                             "What is shorter than k or\nholds other letters than ACGT is an "
                             "'Invalid mer' on standard error.\n\n"
                             "Examples:\n"
                             "  biogpu kmer query out.jf ACGTTGCATGCAACGTTGCAT\n"
                             "  biogpu kmer query -s contigs.fa out.jf -o counts.txt\n\n") +
                 kExitCodes);
  return [flags](const std::string&) { run_query(*flags); };
}

}  // namespace biogpu::app
