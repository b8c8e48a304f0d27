#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "lib/bio/genome/tracks/track_table.hpp"
#include "lib/models/base/dna_model.hpp"
#include "lib/tasks/dna/scorers/score_lines.hpp"

namespace biogpu::app {

// Which heads and tracks of a model of DNA are computed.
struct HeadFlags {
  std::vector<std::string> heads;   // empty: all
  std::vector<std::string> tracks;  // empty: all
  std::string targets;              // empty: the table of the model's folder, where it is
  bool all_columns = false;         // padding of heads too
  bool bins_only = false;           // without a choice, only heads whose rows are bins
  bool both_strands = false;        // tracks of one strand are averaged with those of the other
  // Of the heads that are named, those that are not there or have no real track are left out.
  bool leave_out_missing = false;
};

void add_head_flags(CLI::App& command, HeadFlags& flags);

// Throws Error{usage} for a head or a track that is not there, and for tracks of several heads;
// Error{bad_input} for a table that does not fit the head.
std::vector<models::HeadChoice> choose_heads(const HeadFlags& flags, const std::string& folder,
                                             const std::vector<models::TrackHead>& heads);

// What the tracks of all loaded heads are called, in their order: identifiers of the table, or
// numbers; where several heads are loaded, HEAD/TRACK.
std::vector<std::string> track_names(const HeadFlags& flags, const std::string& folder,
                                     const models::DnaModel& model);

// The same with the descriptions that the table has: "ENCFF833POA: DNASE:liver".
std::vector<std::string> described_tracks(const HeadFlags& flags, const std::string& folder,
                                          const models::DnaModel& model);

// The tracks of each loaded head, as the folder's table of all heads has them; without it, they are
// called by their numbers.
std::vector<tasks::HeadTracks> head_tracks(const HeadFlags& flags, const std::string& folder,
                                           const models::DnaModel& model);

}  // namespace biogpu::app
