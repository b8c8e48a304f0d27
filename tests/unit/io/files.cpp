#include "tests/unit/io/files.hpp"

#include <htslib/bgzf.h>
#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <random>
#include <stdexcept>

#include "lib/core/error.hpp"

namespace biogpu::test {

std::ostream& operator<<(std::ostream& to, const Read& read) {
  return to << read.name << '|' << read.comment << '|' << read.sequence << '|' << read.quality;
}

TempFolder::TempFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "biogpu-io-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
  folder_ = name;
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::string TempFolder::path(std::string_view name) const {
  return folder_ + "/" + std::string(name);
}

std::vector<std::string> TempFolder::names() const {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    found.push_back(entry.path().filename().string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::string TempFolder::file(std::string_view name, std::string_view bytes) const {
  std::ofstream(path(name), std::ios::binary).write(bytes.data(), std::ssize(bytes));
  return path(name);
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string gzip(std::string_view text) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, text.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int status = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (status != Z_STREAM_END) throw std::runtime_error("deflate failed");
  return packed;
}

std::string gunzip(std::string_view packed) {
  std::string text;
  while (!packed.empty()) {
    z_stream stream{};
    inflateInit2(&stream, 15 + 16);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    stream.avail_in = static_cast<uInt>(packed.size());
    int status = Z_OK;
    while (status == Z_OK) {
      char chunk[1 << 15];
      stream.next_out = reinterpret_cast<Bytef*>(chunk);
      stream.avail_out = sizeof(chunk);
      status = inflate(&stream, Z_NO_FLUSH);
      text.append(chunk, sizeof(chunk) - stream.avail_out);
    }
    packed.remove_prefix(packed.size() - stream.avail_in);
    inflateEnd(&stream);
    if (status != Z_STREAM_END) throw std::runtime_error("inflate failed");
  }
  return text;
}

std::string bgzf(const TempFolder& folder, std::string_view text) {
  const std::string path = folder.path("bgzf-by-htslib");
  BGZF* file = bgzf_open(path.c_str(), "w");
  const bool whole = bgzf_write(file, text.data(), text.size()) == std::ssize(text);
  if (bgzf_close(file) != 0 || !whole) throw std::runtime_error("bgzf_write failed");
  std::string packed = read_file(path);
  std::filesystem::remove(path);
  return packed;
}

std::vector<Read> read_all(const std::string& path, int n_threads, const io::BatchLimits& limits) {
  io::SequenceReader reader(path, n_threads);
  io::SequenceBatch batch;
  std::vector<Read> reads;
  while (reader.read(batch, limits)) {
    if (batch.first_record() != reads.size() + 1) throw std::runtime_error("first_record is wrong");
    for (std::size_t i = 0; i < batch.size(); ++i) {
      reads.push_back({std::string(batch.name(i)), std::string(batch.comment(i)),
                       std::string(batch.sequence(i)), std::string(batch.quality(i))});
    }
  }
  if (reader.n_records() != reads.size()) throw std::runtime_error("n_records is wrong");
  return reads;
}

std::string error_of(const std::string& path, int n_threads) {
  try {
    read_all(path, n_threads);
  } catch (const Error& error) {
    return std::to_string(static_cast<int>(error.code())) + " " + error.what();
  }
  return "no error";
}

std::string fasta(const std::vector<Read>& reads, std::size_t width, std::string_view newline) {
  std::string text;
  for (const Read& read : reads) {
    text += ">" + read.name;
    if (!read.comment.empty()) text += " " + read.comment;
    text += newline;
    const std::size_t step = width == 0 ? read.sequence.size() + 1 : width;
    for (std::size_t i = 0; i < read.sequence.size(); i += step) {
      text += read.sequence.substr(i, step);
      text += newline;
    }
  }
  return text;
}

std::string fastq(const std::vector<Read>& reads, std::string_view newline) {
  std::string text;
  for (const Read& read : reads) {
    text += "@" + read.name;
    if (!read.comment.empty()) text += " " + read.comment;
    for (const std::string& line : {read.sequence, std::string("+"), read.quality}) {
      text += newline;
      text += line;
    }
    text += newline;
  }
  return text;
}

std::vector<Read> random_reads(unsigned seed, std::size_t n, std::size_t max_length,
                               bool with_quality) {
  constexpr std::string_view kLetters = "ACGTNacgtnRYKMUuWX*-.";
  std::mt19937 random(seed);
  std::vector<Read> reads(n);
  for (std::size_t i = 0; i < n; ++i) {
    Read& read = reads[i];
    read.name = "read" + std::to_string(i);
    if (random() % 2 == 0) read.comment = "comment " + std::to_string(random());
    read.sequence.resize(random() % (max_length + 1));
    for (char& c : read.sequence) c = kLetters[random() % kLetters.size()];
    if (!with_quality) continue;
    read.quality.resize(read.sequence.size());
    for (char& c : read.quality) c = static_cast<char>('!' + random() % 94);
  }
  return reads;
}

}  // namespace biogpu::test
