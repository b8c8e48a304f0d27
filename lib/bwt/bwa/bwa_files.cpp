#include "lib/bwt/bwa/bwa_files.hpp"

#include <unistd.h>

#include <cerrno>
#include <sstream>
#include <string_view>

#include "lib/core/error.hpp"
#include "lib/io/text_reader.hpp"

namespace biogpu::bwt {
namespace {

bool is_missing(const std::string& path) {
  return access(path.c_str(), F_OK) != 0 && errno == ENOENT;
}

// A stream that reads a file itself takes an error of the system for its end.
std::string read_text(const std::string& path) {
  io::TextReader file(path);
  std::string text;
  for (std::string_view piece = file.next(); !piece.empty(); piece = file.next()) text += piece;
  return text;
}

}  // namespace

void refuse_bwa_file(const std::string& path) {
  throw Error(
      ErrorCode::bad_input,
      path +
          ": is damaged, of another index, or no index of bwa; expected a file made by 'bwa "
          "index' or 'biogpu bwt index --format bwa'");
}

std::vector<BwaContig> read_ann(const std::string& path, std::uint64_t n_bases) {
  std::istringstream file(read_text(path));
  std::uint64_t n_told = 0;
  std::uint64_t n_contigs = 0;
  std::string rest;
  file >> n_told >> n_contigs;
  std::getline(file, rest);
  if (!file || n_told != n_bases) refuse_bwa_file(path);
  std::vector<BwaContig> contigs;
  std::uint64_t end = 0;
  for (std::uint64_t i = 0; i < n_contigs; ++i) {
    BwaContig contig;
    std::uint64_t n_holes = 0;
    std::getline(file, rest);  // "0 NAME COMMENT"
    const std::size_t blank = rest.find(' ');
    if (blank == rest.npos) refuse_bwa_file(path);
    contig.name = rest.substr(blank + 1, rest.find(' ', blank + 1) - blank - 1);
    file >> contig.offset >> contig.length >> n_holes;
    std::getline(file, rest);
    if (!file || contig.offset != end || contig.length > n_bases - end) refuse_bwa_file(path);
    end += contig.length;
    contigs.push_back(std::move(contig));
  }
  if (end != n_bases) refuse_bwa_file(path);
  if (contigs.empty()) throw Error(ErrorCode::bad_input, path + ": the index holds no sequence");
  return contigs;
}

void check_amb(const std::string& path, std::uint64_t n_bases, std::uint64_t n_contigs) {
  if (is_missing(path)) return;
  std::istringstream file(read_text(path));
  std::uint64_t n_told = 0;
  std::uint64_t n_contigs_told = 0;
  std::uint64_t n_holes = 0;
  if (!(file >> n_told >> n_contigs_told >> n_holes) || n_told != n_bases ||
      n_contigs_told != n_contigs)
    refuse_bwa_file(path);
  std::uint64_t end = 0;
  for (std::uint64_t i = 0; i < n_holes; ++i) {
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
    std::string letter;  // a blank may be one, and a control character
    if (!(file >> offset >> length) || !std::getline(file, letter) || letter.size() != 2 ||
        offset < end || offset > n_bases || length == 0 || length > n_bases - offset)
      refuse_bwa_file(path);
    end = offset + length;
  }
}

}  // namespace biogpu::bwt
