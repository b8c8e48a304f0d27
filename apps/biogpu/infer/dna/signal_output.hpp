#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lib/bio/genome/contig.hpp"
#include "lib/bio/genome/tracks/signal.hpp"
#include "lib/bio/genome/tracks/signal_file.hpp"

namespace biogpu::app {

// What stands in the name of an output for the name of a track.
inline constexpr char kTrackPlace[] = "{track}";

// Tracks along a genome, a file each.
class SignalOutput {
 public:
  // The files of tracks of these names: path, in which kTrackPlace stands for the name, whose
  // characters other than letters, digits and '.', '+', '-' become '_'; a name that comes again has
  // "-2" and so on behind it. Throws Error{usage} where one path stands for several tracks, or
  // there are more files than kMaxFiles.
  static std::vector<std::string> paths(const std::string& path,
                                        const std::vector<std::string>& tracks);
  static constexpr std::size_t kMaxFiles = 500;  // open at a time

  // Errors: those of SignalFile and its check().
  SignalOutput(const std::vector<std::string>& paths, std::span<const genome::Contig> contigs);

  void add(std::size_t track, genome::SignalRun run) { signals_[track].add(std::move(run)); }
  // Once, when all is added. Returns the bytes of all files.
  std::uint64_t write();
  void commit();

 private:
  std::vector<genome::Signal> signals_;
  std::vector<genome::SignalFile> files_;
};

}  // namespace biogpu::app
