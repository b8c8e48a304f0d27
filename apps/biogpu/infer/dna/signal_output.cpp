#include "apps/biogpu/infer/dna/signal_output.hpp"

#include <fmt/format.h>

#include <map>
#include <string_view>
#include <utility>

#include "lib/core/error.hpp"

namespace biogpu::app {
namespace {

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view(".+-").find(c) != std::string_view::npos;
}

}  // namespace

std::vector<std::string> SignalOutput::paths(const std::string& path,
                                             const std::vector<std::string>& tracks) {
  const std::size_t at = path.find(kTrackPlace);
  if (at == std::string::npos) {
    if (tracks.size() != 1)
      throw Error(ErrorCode::usage,
                  fmt::format("a file of a signal holds one track, not {}; choose it with --head "
                              "and --tracks, or write {} in its name for a file of each",
                              tracks.size(), kTrackPlace));
    return {path};
  }
  if (tracks.size() > kMaxFiles)
    throw Error(ErrorCode::usage,
                fmt::format("{} tracks; at most {} are written at a time: choose them with "
                            "--head and --tracks",
                            tracks.size(), kMaxFiles));
  std::vector<std::string> paths;
  std::map<std::string, int> n_named;
  for (std::string name : tracks) {
    for (char& c : name)
      if (!is_plain(c)) c = '_';
    // A name may also be what another one becomes.
    std::string own = name;
    while (n_named.count(own) > 0) own = fmt::format("{}-{}", name, ++n_named[name]);
    n_named[own] = 1;
    std::string own_path = path;
    own_path.replace(at, sizeof kTrackPlace - 1, own);
    paths.push_back(std::move(own_path));
  }
  return paths;
}

SignalOutput::SignalOutput(const std::vector<std::string>& paths,
                           std::span<const genome::Contig> contigs) {
  for (const std::string& path : paths) {
    signals_.emplace_back(contigs);
    files_.emplace_back(path);
    files_.back().check(contigs);
  }
}

std::uint64_t SignalOutput::write() {
  std::uint64_t n_bytes = 0;
  for (std::size_t i = 0; i < files_.size(); ++i) {
    files_[i].write(signals_[i]);
    files_[i].finish();
    n_bytes += files_[i].bytes();
  }
  return n_bytes;
}

void SignalOutput::commit() {
  for (genome::SignalFile& file : files_) file.commit();
}

}  // namespace biogpu::app
