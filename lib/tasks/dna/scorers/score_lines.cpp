#include "lib/tasks/dna/scorers/score_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <utility>

#include "lib/core/error.hpp"
#include "lib/io/table_fields.hpp"

namespace biogpu::tasks {
namespace {

using genome::TrackMetadata;

constexpr std::array kMetadata{
    "Assay title",          "ontology_curie",       "biosample_name", "biosample_type",
    "biosample_life_stage", "gtex_tissue",          "data_source",    "endedness",
    "genetically_modified", "transcription_factor", "histone_mark"};

bool has_column(const HeadTracks& head, const std::string& column) {
  return std::find(head.columns.begin(), head.columns.end(), column) != head.columns.end();
}

std::string_view metadata_value(const HeadTracks& head, const TrackMetadata& track,
                                const std::string& column) {
  const auto at = std::find(head.columns.begin(), head.columns.end(), column);
  if (at == head.columns.end()) return {};
  return track.values[static_cast<std::size_t>(at - head.columns.begin())];
}

// Tracks of one strand, by their place in the head.
std::vector<std::size_t> tracks_of(const HeadTracks& head, char strand) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < head.tracks.size(); ++i)
    if (head.tracks[i].strand == strand) found.push_back(i);
  return found;
}

}  // namespace

ScoreLines::ScoreLines(Options options) : options_(std::move(options)) {
  for (const char* column : kMetadata)
    if (std::any_of(options_.heads.begin(), options_.heads.end(),
                    [&](const HeadTracks& head) { return has_column(head, column); }))
      metadata_.emplace_back(column);
}

std::string ScoreLines::header(const std::string& first, const std::string& scorer) const {
  std::string line = fmt::format(
      "{}\tgene_id\tgene_name\tgene_type\tgene_strand\tjunction_Start\tjunction_End\toutput_type\t"
      "{}\ttrack_name\ttrack_strand",
      first, scorer);
  for (const std::string& column : metadata_) line += "\t" + column;
  return line + "\traw_score\n";
}

ScoreLines::Scorer ScoreLines::scorer(const std::string& output_type, const std::string& text,
                                      const std::string& head_name, bool is_of_genes) const {
  const HeadTracks& head =
      *std::find_if(options_.heads.begin(), options_.heads.end(),
                    [&](const HeadTracks& of_head) { return of_head.head == head_name; });
  Scorer scorer{fmt::format("\t{}\t{}", output_type, text), {}, {}};
  for (std::size_t i = 0; i < head.tracks.size(); ++i) {
    const auto at = static_cast<std::ptrdiff_t>(i);
    scorer.others.push_back({at, at, describe_track(head, head.tracks[i], head.tracks[i].strand)});
  }
  if (is_of_genes)
    scorer.of_genes = options_.merge_strands ? merged_tracks(head) : stranded_tracks(head);
  return scorer;
}

std::string ScoreLines::describe_track(const HeadTracks& head, const TrackMetadata& track,
                                       char strand) const {
  std::string text = fmt::format("\t{}\t{}", track.name, strand);
  for (const std::string& column : metadata_)
    text += fmt::format("\t{}", metadata_value(head, track, column));
  return text;
}

std::vector<ScoreLines::Track> ScoreLines::stranded_tracks(const HeadTracks& head) const {
  std::vector<Track> tracks;
  for (std::size_t i = 0; i < head.tracks.size(); ++i) {
    const TrackMetadata& track = head.tracks[i];
    const auto at = static_cast<std::ptrdiff_t>(i);
    tracks.push_back({track.strand == '-' ? -1 : at, track.strand == '+' ? -1 : at,
                      describe_track(head, track, track.strand)});
  }
  return tracks;
}

std::vector<ScoreLines::Track> ScoreLines::merged_tracks(const HeadTracks& head) const {
  const std::vector<std::size_t> forward = tracks_of(head, '+'), reverse = tracks_of(head, '-');
  const auto has_one_name = [&](std::size_t a, std::size_t b) {
    return head.tracks[a].name == head.tracks[b].name;
  };
  if (!std::equal(forward.begin(), forward.end(), reverse.begin(), reverse.end(), has_one_name))
    throw Error(ErrorCode::bad_input,
                fmt::format("--merge-strands: the tracks of + and of - of {} have not the same "
                            "names in the same order",
                            head.head));
  std::set<std::string> names;
  for (const std::size_t i : forward) names.insert(head.tracks[i].name);
  std::vector<Track> tracks;
  std::size_t n_forward = 0;
  for (std::size_t i = 0; i < head.tracks.size(); ++i) {
    const TrackMetadata& track = head.tracks[i];
    const auto at = static_cast<std::ptrdiff_t>(i);
    if (track.strand == '+')
      tracks.push_back({at, static_cast<std::ptrdiff_t>(reverse[n_forward++]),
                        describe_track(head, track, '.')});
    else if (track.strand == '.' && names.count(track.name) == 0)
      tracks.push_back({at, at, describe_track(head, track, '.')});
  }
  return tracks;
}

void ScoreLines::append(const std::string& place, const Scorer& scorer,
                        std::span<const ScoreRow> rows, std::string& text) const {
  if (rows.empty()) return;
  // gene_id to junction_End of each row, and whose tracks are written.
  std::vector<std::string> described;
  std::vector<char> strands;
  for (const ScoreRow& row : rows) {
    if (!row.gene) {
      described.emplace_back("\t\t\t\t\t\t");
      strands.push_back('+');
      continue;
    }
    const genome::AnnotatedGene& gene = options_.genes->genes()[*row.gene];
    const std::string junction =
        row.junction ? fmt::format("{}\t{}", row.junction->begin, row.junction->end) : "\t";
    described.push_back(
        fmt::format("\t{}\t{}\t{}\t{}\t{}", io::as_field(genome::without_version(gene.id)),
                    io::as_field(gene.name), io::as_field(gene.type), gene.strand, junction));
    strands.push_back(gene.strand);
  }
  auto out = std::back_inserter(text);
  for (const Track& track : rows.front().gene ? scorer.of_genes : scorer.others)
    for (std::size_t i = 0; i < rows.size(); ++i) {
      // Of a gene without a strand, tracks without one.
      std::ptrdiff_t column = strands[i] == '-' ? track.reverse : track.forward;
      if (strands[i] == '.' && track.forward != track.reverse) column = -1;
      if (column < 0) continue;
      fmt::format_to(out, "{}{}{}{}\t{:.6g}\n", place, described[i], scorer.text, track.text,
                     rows[i].values[static_cast<std::size_t>(column)]);
    }
}

}  // namespace biogpu::tasks
