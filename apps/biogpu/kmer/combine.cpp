#include "apps/biogpu/kmer/combine.hpp"

#include "apps/biogpu/kmer/commands.hpp"
#include "lib/kmer/database/writer.hpp"

namespace biogpu::app {

std::uint64_t sum_of(std::span<const std::uint64_t> counts) {
  std::uint64_t sum = 0;
  for (const std::uint64_t count : counts)
    if (__builtin_add_overflow(sum, count, &sum)) return UINT64_MAX;
  return sum;
}

void combine_files(const std::vector<std::string>& paths, const std::string& out_path,
                   const std::string& command_line, const kmer::Combiner::Combine& combine) {
  require_plain_name(out_path);
  const kmer::Format named = kmer::format_of_name(out_path);
  // Jellyfish's files keep the order of the first where it is one of theirs; the other formats
  // prescribe theirs.
  const auto choose_order = [named](const kmer::Header& first) {
    const bool keeps = named == kmer::Format::jellyfish && first.order.is_bijective() &&
                       first.order.size_bits() > 0;
    return keeps ? first.order : kmer::order_of_format(named, first.k, 0);
  };
  kmer::Combiner combiner(paths, choose_order, {});
  kmer::Header header = combiner.header();
  // Text gives text, as with Jellyfish.
  const bool text = named == kmer::Format::jellyfish && combiner.all_text();
  header.format = text ? kmer::Format::jellyfish_text : named;
  kmer::add_provenance(header, split_words(command_line), false);
  kmer::DatabaseWriter out(out_path, header);
  for (kmer::CountBlock block; combiner.read(block, combine);) out.write(block);
  out.commit();
}

}  // namespace biogpu::app
