#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/bio/genome/tracks/track_table.hpp"

namespace biogpu::genome {

// A column of a head's tensor: what was measured.
struct TrackMetadata {
  std::string head;                 // "atac", for every resolution
  std::int64_t index = 0;           // among the columns of the head
  std::string name;                 // "CL:0000084 ATAC-seq"
  char strand = '.';                // + - .
  std::vector<std::string> values;  // of the table's further columns; empty: not known

  // A column that stands for no track: models pad their heads to fixed widths.
  bool is_padding() const;
};

// The metadata of all tracks that a model predicts for an organism, as tracks_ORGANISM.tsv in a
// model's folder has them. Columns are separated by tabs. The first line begins with
// `head index name strand`; further columns have any names (ontology_curie, biosample_name, "Assay
// title" ...), each once. Every further line is a column of a head's tensor, in the order of the
// tensor; the heads are in any order. Padding has the name Padding.
struct TrackMetadataTable {
  std::string path;                   // for errors
  std::vector<std::string> columns;   // behind strand
  std::vector<TrackMetadata> tracks;  // in the order of the file

  // The tracks of a head, in the order of its tensor.
  std::vector<TrackMetadata> of_head(std::string_view head) const;
  // A value of a track; empty where the table has no such column or it is not known.
  std::string_view value(const TrackMetadata& track, std::string_view column) const;
};

// Throws Error{bad_input} with file and line for what is malformed.
TrackMetadataTable read_track_metadata(const std::string& path);

// For each track of a head the one of the other strand, the k-th of + and the k-th of - being a
// pair; a track without strand is its own. Nothing where there are not as many of + as of -.
std::optional<std::vector<std::int64_t>> other_strands(const std::vector<TrackMetadata>& tracks);

// A head's columns for select_tracks(): the identifier is the name, with its strand where it has
// one ("hCAGE CL:0000077 (+)"); labels are the name and every further value but nonzero_mean; the
// description is all of them. Throws Error{bad_input} for a head that the table does not have.
// both_strands: strands must be in pairs. twice: each line is a track of + and, behind all of
// these, one of -.
std::vector<Track> make_tracks(const TrackMetadataTable& table, const std::string& head,
                               bool both_strands, bool twice = false);

}  // namespace biogpu::genome
