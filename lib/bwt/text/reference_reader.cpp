#include <fmt/format.h>

#include "lib/bwt/text/reference_builder.hpp"
#include "lib/core/error.hpp"
#include "lib/io/input/raw_file.hpp"
#include "lib/io/sequence_reader.hpp"

namespace biogpu::bwt {
namespace {

constexpr std::uint64_t kPiece = 4u << 20;  // residues of a chromosome held at a time

}  // namespace

Reference read_reference(const std::string& path, int n_threads) {
  io::SequenceReader reader(path, n_threads);
  if (reader.is_alignments())
    throw Error(ErrorCode::bad_input, fmt::format("{}: holds alignments; expected FASTA or FASTQ",
                                                  io::input::label_of(path)));
  reader.split_records(kPiece, 0);
  Reference reference;
  ReferenceBuilder builder(reference);
  io::SequenceBatch batch;
  while (reader.read(batch, {.n_residues = kPiece})) {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      // The first of a batch may go on with the last of the batch before.
      if (batch.first_record() + i > reference.contigs.size()) {
        reference.contigs.push_back(
            {std::string(batch.name(i)), std::string(batch.comment(i)), builder.size(), 0, 0});
        builder.begin_record();
      }
      builder.append(batch.sequence(i));
      Contig& contig = reference.contigs.back();
      contig.length = builder.size() - contig.offset;
    }
  }
  builder.finish();
  return reference;
}

}  // namespace biogpu::bwt
