// What lib/bio/genome gives, as FASTA, for scripts/compare/genome.
//
// usage: genome_driver windows GENOME BED LENGTH                    0: intervals as they are
//        genome_driver haplotype GENOME BED LENGTH VCF SAMPLE N     haplotype N, from 1
#include <fmt/format.h>

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "lib/bio/genome/bed.hpp"
#include "lib/bio/genome/haplotype_set.hpp"
#include "lib/core/error.hpp"

using namespace biogpu;

namespace {

void print_windows(const std::vector<std::string>& arguments) {
  const genome::IndexedFasta fasta(arguments[1]);
  genome::BedReader bed(arguments[2], fasta);
  const std::int64_t length = std::stoll(arguments[3]);
  std::optional<genome::HaplotypeSet> haplotypes;
  std::size_t haplotype = 0;
  if (arguments[0] == "haplotype") {
    genome::VariantReader reader(arguments[4], fasta,
                                 {io::BadRecords::refuse, {arguments[5]}, false});
    haplotypes.emplace(reader, genome::UnphasedGenotypes::refuse);
    haplotype = std::stoul(arguments[6]) - 1;
  }
  for (genome::Window window; bed.next(window);) {
    if (length > 0) window = genome::resize_centre(window, length);
    std::vector<genome::LetterCode> codes(static_cast<std::size_t>(window.size()));
    if (haplotypes) {
      haplotypes->build(window, 0, haplotype, codes);
    } else {
      fasta.fetch(window.contig, window.begin, codes);
    }
    fmt::print(">{}\n{}\n", window.key, genome::decode_letters(codes));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const bool windows = arguments.size() == 4 && arguments[0] == "windows";
  const bool haplotype = arguments.size() == 7 && arguments[0] == "haplotype";
  if (!windows && !haplotype) {
    fmt::print(stderr, "usage: see the head of genome_driver.cpp\n");
    return 2;
  }
  try {
    print_windows(arguments);
  } catch (const Error& error) {
    fmt::print(stderr, "genome_driver: {}\n", error.what());
    return static_cast<int>(error.code());
  }
  return 0;
}
