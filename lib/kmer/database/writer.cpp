#include "lib/kmer/database/writer.hpp"

#include <utility>

#include "lib/io/output/suffix.hpp"
#include "lib/kmer/database/bgk/bgk_file.hpp"
#include "lib/kmer/database/jellyfish/jellyfish_file.hpp"
#include "lib/kmer/database/kff/kff_file.hpp"

namespace biogpu::kmer {

Format format_of_name(const std::string& path) {
  const io::Suffix suffix = io::suffix_of(path);
  if (suffix.format == "bgk") return Format::bgk;
  if (suffix.format == "kff") return Format::kff;
  return Format::jellyfish;
}

KeyOrder order_of_format(Format format, int k, std::uint64_t asked) {
  const bool jellyfish = format == Format::jellyfish || format == Format::jellyfish_text;
  return jellyfish ? order_for_size(k, asked) : KeyOrder::lexicographic(k);
}

class DatabaseWriter::Sink {
 public:
  Sink(const std::string& path, Header of)
      : out(path), header(std::move(of)), bgk(header), kff(header) {
    switch (header.format) {
      case Format::bgk:
        out.write(bgk.begin());
        break;
      case Format::kff:
        out.write(kff.begin());
        break;
      default:
        out.write(jellyfish_header(header));
    }
  }

  void write(const CountBlock& block, const std::string& bytes) {
    if (header.format == Format::bgk)
      bgk.write(block, out);
    else if (header.format == Format::kff)
      kff.write(block, out);
    else
      out.write(bytes);
  }

  void finish() {
    if (std::exchange(is_finished_, true)) return;
    if (header.format == Format::bgk) bgk.finish(out);
    if (header.format == Format::kff) kff.finish(out);
    out.finish();
  }

  io::OutputFile out;
  const Header header;
  BgkEncoder bgk;
  KffEncoder kff;

 private:
  bool is_finished_ = false;
};

DatabaseWriter::DatabaseWriter(const std::string& path, const Header& header)
    : sink_(std::make_unique<Sink>(path, header)) {}
DatabaseWriter::~DatabaseWriter() = default;
DatabaseWriter::DatabaseWriter(DatabaseWriter&&) noexcept = default;
DatabaseWriter& DatabaseWriter::operator=(DatabaseWriter&&) noexcept = default;

void DatabaseWriter::prepare(const CountBlock& block, std::string& bytes) const {
  bytes.clear();
  if (sink_->header.format == Format::jellyfish)
    append_jellyfish_records(sink_->header, block, bytes);
  else if (sink_->header.format == Format::jellyfish_text)
    append_jellyfish_lines(sink_->header, block, ' ', bytes);
}

void DatabaseWriter::write(const CountBlock& block, const std::string& bytes) {
  sink_->write(block, bytes);
}

void DatabaseWriter::write(const CountBlock& block) {
  std::string bytes;
  prepare(block, bytes);
  write(block, bytes);
}

bool DatabaseWriter::takes_offsets() const {
  return sink_->header.format == Format::jellyfish && sink_->out.takes_offsets();
}

std::uint64_t DatabaseWriter::reserve(std::uint64_t n_records) {
  const auto record_bytes = static_cast<std::uint64_t>(bytes_for(sink_->header.k)) +
                            static_cast<std::uint64_t>(sink_->header.counter_bytes);
  return sink_->out.reserve(n_records * record_bytes);
}

void DatabaseWriter::write_at(std::uint64_t offset, const std::string& bytes) {
  sink_->out.write_at(offset, bytes);
}

void DatabaseWriter::finish() { sink_->finish(); }
void DatabaseWriter::commit() {
  finish();
  sink_->out.commit();
}
std::uint64_t DatabaseWriter::bytes() const { return sink_->out.bytes(); }

}  // namespace biogpu::kmer
