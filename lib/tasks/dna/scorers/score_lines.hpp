#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lib/bio/genome/genes/gene_annotation.hpp"
#include "lib/bio/genome/tracks/track_metadata.hpp"

namespace biogpu::tasks {

// The loaded tracks of a head, by the table of the model's folder.
struct HeadTracks {
  std::string head;                  // "rna_seq/1"
  std::vector<std::string> columns;  // of the table behind strand
  std::vector<genome::TrackMetadata> tracks;
};

// Scores of all tracks of a scorer's head.
struct ScoreRow {
  std::size_t scorer = 0;                     // of those of the table
  std::optional<std::size_t> gene;            // of the annotation
  std::vector<float> values;                  // of each track
  std::optional<genome::Span> junction = {};  // the intron that was scored
};

// The lines of tables of scores, columns separated by tabs: those of DeepMind's tidy tables, but
// for quantile_score. Of the table of tracks those columns are there that the client knows. Of
// scores of genes, tracks of the gene's strand and of none are written; merged strands: as one
// track without strand for both, as which a track without strand of the same name is not written.
class ScoreLines {
 public:
  struct Options {
    std::vector<HeadTracks> heads;
    const genome::GeneAnnotation* genes = nullptr;
    bool merge_strands = false;
  };
  // What is written of a track: which one for genes of + and of -, or none, and how it is called.
  struct Track {
    std::ptrdiff_t forward = -1, reverse = -1;
    std::string text;
  };
  struct Scorer {
    std::string text;  // output_type and the scorer
    std::vector<Track> of_genes, others;
  };

  explicit ScoreLines(Options options);

  // first: columns in front of the gene's. scorer: the name of the column of scorers.
  std::string header(const std::string& first, const std::string& scorer) const;
  // Throws Error{bad_input} where strands of a scorer of genes cannot be merged.
  Scorer scorer(const std::string& output_type, const std::string& text, const std::string& head,
                bool is_of_genes) const;
  // rows: of one scorer. place: the first columns.
  void append(const std::string& place, const Scorer& scorer, std::span<const ScoreRow> rows,
              std::string& text) const;

 private:
  std::string describe_track(const HeadTracks& head, const genome::TrackMetadata& track,
                             char strand) const;
  std::vector<Track> stranded_tracks(const HeadTracks& head) const;
  std::vector<Track> merged_tracks(const HeadTracks& head) const;

  const Options options_;
  std::vector<std::string> metadata_;  // columns of tracks that are written
};

}  // namespace biogpu::tasks
