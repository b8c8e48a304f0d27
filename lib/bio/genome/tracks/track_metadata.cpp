#include "lib/bio/genome/tracks/track_metadata.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>

#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"
#include "lib/io/line_reader.hpp"
#include "lib/io/table_fields.hpp"

namespace biogpu::genome {
namespace {

constexpr std::array kFirstColumns{"head", "index", "name", "strand"};

[[noreturn]] void throw_bad_metadata(const std::string& place, const std::string& what) {
  throw Error(ErrorCode::bad_input, fmt::format("{}: {}", place, what));
}

std::vector<std::string> parse_metadata_header(std::string_view line, const std::string& place) {
  std::vector<std::string> names = io::split_table_line(line, '\t', place);
  if (names.size() < kFirstColumns.size() ||
      !std::equal(kFirstColumns.begin(), kFirstColumns.end(), names.begin()))
    throw_bad_metadata(place,
                       fmt::format("expected a table of tracks that begins with the columns {}",
                                   fmt::join(kFirstColumns, ", ")));
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty()) throw_bad_metadata(place, fmt::format("column {} has no name", i + 1));
    if (std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]) !=
        names.begin() + static_cast<std::ptrdiff_t>(i))
      throw_bad_metadata(place, fmt::format("two columns are named {}", quoted(names[i])));
  }
  names.erase(names.begin(), names.begin() + kFirstColumns.size());
  return names;
}

TrackMetadata parse_metadata(std::string_view line, std::size_t n_columns,
                             std::map<std::string, std::int64_t>& n_of_head,
                             const std::string& place) {
  std::vector<std::string> fields = io::split_table_line(line, '\t', place);
  if (fields.size() != kFirstColumns.size() + n_columns)
    throw_bad_metadata(place, fmt::format("{} columns; the first line has {}", fields.size(),
                                          kFirstColumns.size() + n_columns));
  TrackMetadata track;
  track.head = fields[0];
  if (track.head.empty()) throw_bad_metadata(place, "no head");
  track.index = n_of_head[track.head]++;
  if (fields[1] != std::to_string(track.index))
    throw_bad_metadata(place, fmt::format("index {} of head {}; expected {}, the next column",
                                          quoted(fields[1]), quoted(track.head), track.index));
  track.name = io::as_field(fields[2]);
  if (track.name.empty()) throw_bad_metadata(place, "no name");
  if (fields[3] != "+" && fields[3] != "-" && fields[3] != ".")
    throw_bad_metadata(place, fmt::format("strand {}; expected +, - or .", quoted(fields[3])));
  track.strand = fields[3].front();
  for (std::size_t i = kFirstColumns.size(); i < fields.size(); ++i)
    track.values.push_back(io::as_field(fields[i]));
  return track;
}

}  // namespace

bool TrackMetadata::is_padding() const {
  constexpr std::string_view kPadding = "padding";
  return std::equal(name.begin(), name.end(), kPadding.begin(), kPadding.end(),
                    [](unsigned char a, char b) { return std::tolower(a) == b; });
}

std::vector<TrackMetadata> TrackMetadataTable::of_head(std::string_view head) const {
  std::vector<TrackMetadata> found;
  for (const TrackMetadata& track : tracks)
    if (track.head == head) found.push_back(track);
  return found;
}

std::string_view TrackMetadataTable::value(const TrackMetadata& track,
                                           std::string_view column) const {
  const auto at = std::find(columns.begin(), columns.end(), column);
  if (at == columns.end()) return {};
  return track.values[static_cast<std::size_t>(at - columns.begin())];
}

TrackMetadataTable read_track_metadata(const std::string& path) {
  io::LineReader lines(path, "a table of tracks");
  std::string line;
  if (!lines.next(line)) throw_bad_metadata(lines.label(), "is empty; expected a table of tracks");
  TrackMetadataTable table;
  table.path = lines.label();
  table.columns = parse_metadata_header(line, lines.label() + ": line 1");
  std::map<std::string, std::int64_t> n_of_head;
  while (lines.next(line)) {
    if (line.empty()) continue;
    table.tracks.push_back(
        parse_metadata(line, table.columns.size(), n_of_head,
                       fmt::format("{}: line {}", lines.label(), lines.number())));
  }
  return table;
}

std::vector<Track> make_tracks(const TrackMetadataTable& table, const std::string& head,
                               bool both_strands, bool twice) {
  std::vector<TrackMetadata> columns = table.of_head(head);
  const auto n_lines = static_cast<std::int64_t>(columns.size());
  for (std::int64_t i = 0; twice && i < n_lines; ++i) {
    columns[static_cast<std::size_t>(i)].strand = '+';
    columns.push_back(columns[static_cast<std::size_t>(i)]);
    columns.back().strand = '-';
    columns.back().index = n_lines + i;
  }
  if (columns.empty())
    throw_bad_metadata(table.path, fmt::format("has no line of the head {}", quoted(head)));
  const auto others = other_strands(columns);
  if (both_strands && !others)
    throw_bad_metadata(table.path, fmt::format("the head {} has not as many tracks of + as of -, "
                                               "so that both strands are no pairs",
                                               quoted(head)));
  std::vector<Track> tracks;
  for (const TrackMetadata& column : columns) {
    Track track;
    track.index = column.index;
    track.identifier =
        column.strand == '.' ? column.name : fmt::format("{} ({})", column.name, column.strand);
    track.labels.push_back(column.name);
    for (std::size_t i = 0; i < column.values.size(); ++i)
      if (table.columns[i] != "nonzero_mean" && !column.values[i].empty())
        track.labels.push_back(column.values[i]);
    track.description = fmt::format("{}", fmt::join(track.labels, ", "));
    if (others) track.strand_pair = (*others)[static_cast<std::size_t>(column.index)];
    track.is_padding = column.is_padding();
    tracks.push_back(std::move(track));
  }
  return tracks;
}

std::optional<std::vector<std::int64_t>> other_strands(const std::vector<TrackMetadata>& tracks) {
  std::vector<std::int64_t> others(tracks.size());
  std::vector<std::size_t> forward, reverse;
  for (std::size_t i = 0; i < tracks.size(); ++i) {
    others[i] = static_cast<std::int64_t>(i);
    if (tracks[i].strand == '+') forward.push_back(i);
    if (tracks[i].strand == '-') reverse.push_back(i);
  }
  if (forward.size() != reverse.size()) return std::nullopt;
  for (std::size_t k = 0; k < forward.size(); ++k) {
    others[forward[k]] = static_cast<std::int64_t>(reverse[k]);
    others[reverse[k]] = static_cast<std::int64_t>(forward[k]);
  }
  return others;
}

}  // namespace biogpu::genome
