#include "lib/bio/genome/tracks/track_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <numeric>

#include "lib/bio/split.hpp"
#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"
#include "lib/io/line_reader.hpp"
#include "lib/io/table_fields.hpp"

namespace biogpu::genome {
namespace {

// Where in a line its fields are.
struct TrackColumns {
  std::size_t n = 0;
  std::optional<std::size_t> index, identifier, group, description, strand_pair;
};

TrackColumns parse_track_header(std::string_view line, const std::string& label) {
  TrackColumns columns;
  const std::vector<std::string> names = io::split_table_line(line, '\t', label + ": line 1");
  columns.n = names.size();
  const auto find = [&](std::string_view name) -> std::optional<std::size_t> {
    const auto at = std::find(names.begin(), names.end(), name);
    if (at == names.end()) return std::nullopt;
    return static_cast<std::size_t>(at - names.begin());
  };
  columns.index = find("index");
  if (!columns.index && names.front().empty()) columns.index = 0;
  columns.identifier = find("identifier");
  columns.group = find("group");
  columns.description = find("description");
  columns.strand_pair = find("strand_pair");
  if (!columns.identifier && !columns.description)
    throw Error(ErrorCode::bad_input,
                label +
                    ": line 1: expected a table of tracks with a column 'identifier' or "
                    "'description'");
  return columns;
}

std::optional<std::int64_t> parse_track_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

std::int64_t require_track_number(std::string_view text, const char* column,
                                  const std::string& place) {
  if (const auto value = parse_track_number(text)) return *value;
  throw Error(ErrorCode::bad_input,
              fmt::format("{}: {} {}; expected a number from 0 on", place, column, quoted(text)));
}

Track parse_track(std::string_view line, const TrackColumns& columns, std::size_t number,
                  const std::string& place) {
  const std::vector<std::string> fields = io::split_table_line(line, '\t', place);
  if (fields.size() != columns.n)
    throw Error(ErrorCode::bad_input, fmt::format("{}: {} columns; the first line has {}", place,
                                                  fields.size(), columns.n));
  Track track;
  track.index = static_cast<std::int64_t>(number);
  if (columns.index) track.index = require_track_number(fields[*columns.index], "index", place);
  if (columns.description) track.description = fields[*columns.description];
  track.identifier =
      io::as_field(columns.identifier ? fields[*columns.identifier] : track.description);
  track.group = columns.group ? fields[*columns.group]
                              : track.description.substr(0, track.description.find(':'));
  if (columns.strand_pair)
    track.strand_pair = require_track_number(fields[*columns.strand_pair], "strand_pair", place);
  return track;
}

// Puts the tracks in the order of their indexes, which are 0 to n - 1.
void order_tracks(std::vector<Track>& tracks, const std::string& label) {
  std::stable_sort(tracks.begin(), tracks.end(),
                   [](const Track& a, const Track& b) { return a.index < b.index; });
  const auto n = std::ssize(tracks);
  for (std::size_t i = 0; i < tracks.size(); ++i) {
    if (tracks[i].index != static_cast<std::int64_t>(i))
      throw Error(ErrorCode::bad_input,
                  fmt::format("{}: no track has index {}, or two have the one before it; expected "
                              "0 to {}",
                              label, i, n - 1));
    if (tracks[i].strand_pair && *tracks[i].strand_pair >= n)
      throw Error(ErrorCode::bad_input, fmt::format("{}: track {}: strand_pair {} of {} tracks",
                                                    label, i, *tracks[i].strand_pair, n));
  }
}

// Two strands are averaged with each other, or a track with itself.
void require_mutual_pairs(const std::vector<Track>& tracks, const std::string& label) {
  for (const Track& track : tracks) {
    if (!track.strand_pair) continue;
    const Track& partner = tracks[static_cast<std::size_t>(*track.strand_pair)];
    if (partner.strand_pair != track.index)
      throw Error(ErrorCode::bad_input,
                  fmt::format("{}: track {}: strand_pair {}, but track {} has strand_pair {}; "
                              "expected {}",
                              label, track.index, partner.index, partner.index,
                              partner.strand_pair.value(), track.index));
  }
}

char lower_of(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) {
           return lower_of(x) == lower_of(y);
         });
}

// Whether a text matches a pattern with * and ?. Time is at most the product of both lengths: of
// two stars only the last is ever tried at another place.
bool matches(std::string_view text, std::string_view pattern) {
  std::size_t t = 0, p = 0;
  std::size_t star = pattern.npos, star_text = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_text = t;
    } else if (p < pattern.size() &&
               (pattern[p] == '?' || lower_of(pattern[p]) == lower_of(text[t]))) {
      ++p;
      ++t;
    } else if (star != pattern.npos) {
      p = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == pattern.npos;
}

template <class Predicate>
std::vector<std::int64_t> tracks_where(const std::vector<Track>& tracks, const Predicate& holds) {
  std::vector<std::int64_t> found;
  for (const Track& track : tracks)
    if (!track.is_padding && holds(track)) found.push_back(track.index);
  return found;
}

// "5" and "0-99"; nothing where the item is neither.
std::optional<std::vector<std::int64_t>> tracks_by_number(std::string_view item, std::int64_t n) {
  const std::size_t dash = item.find('-');
  const auto first = parse_track_number(item.substr(0, dash));
  const auto last = dash == item.npos ? first : parse_track_number(item.substr(dash + 1));
  if (!first || !last) return std::nullopt;
  if (*first > *last || *last >= n)
    throw Error(ErrorCode::usage,
                fmt::format("--tracks: {} of {} tracks; expected 0 to {}", quoted(item), n, n - 1));
  std::vector<std::int64_t> found(static_cast<std::size_t>(*last - *first) + 1);
  std::iota(found.begin(), found.end(), *first);
  return found;
}

std::vector<std::int64_t> select_item(const std::vector<Track>& tracks, std::string_view item,
                                      const std::string& table) {
  if (auto found = tracks_by_number(item, std::ssize(tracks))) {
    for (const std::int64_t index : *found)
      if (tracks[static_cast<std::size_t>(index)].is_padding)
        throw Error(ErrorCode::usage,
                    fmt::format("--tracks: {}: column {} of {} is padding; --all-columns takes it",
                                quoted(item), index, table));
    return *found;
  }
  auto found = tracks_where(tracks, [&](const Track& t) { return t.identifier == item; });
  if (!found.empty()) return found;
  found = tracks_where(tracks, [&](const Track& t) {
    return (!t.group.empty() && equal_ignoring_case(t.group, item)) ||
           std::any_of(t.labels.begin(), t.labels.end(), [&](const std::string& label) {
             return !label.empty() && equal_ignoring_case(label, item);
           });
  });
  if (!found.empty()) return found;
  if (item.find_first_of("*?") != item.npos)
    found = tracks_where(tracks, [&](const Track& t) {
      return matches(t.identifier, item) || matches(t.description, item);
    });
  if (!found.empty()) return found;
  throw Error(ErrorCode::usage,
              fmt::format("--tracks: {} is no track of {}; expected a number, an identifier, a "
                          "group or a pattern with *",
                          quoted(item), table));
}

}  // namespace

std::vector<Track> read_track_table(const std::string& path) {
  io::LineReader lines(path, "a table of tracks");
  std::string line;
  if (!lines.next(line))
    throw Error(ErrorCode::bad_input, lines.label() + ": is empty; expected a table of tracks");
  const TrackColumns columns = parse_track_header(line, lines.label());
  std::vector<Track> tracks;
  while (lines.next(line)) {
    if (line.empty()) continue;
    tracks.push_back(parse_track(line, columns, tracks.size(),
                                 fmt::format("{}: line {}", lines.label(), lines.number())));
  }
  order_tracks(tracks, lines.label());
  require_mutual_pairs(tracks, lines.label());
  return tracks;
}

std::vector<std::int64_t> select_tracks(const std::vector<Track>& tracks,
                                        std::string_view selection, const std::string& table) {
  std::vector<std::int64_t> selected;
  std::vector<bool> seen(tracks.size(), false);
  if (selection.empty()) return tracks_where(tracks, [](const Track&) { return true; });
  for (const std::string_view item : split(selection, ',')) {
    if (item.empty())
      throw Error(
          ErrorCode::usage,
          fmt::format("--tracks: {} has an empty item; expected items with one comma between",
                      quoted(selection)));
    for (const std::int64_t index : select_item(tracks, item, table)) {
      if (seen[static_cast<std::size_t>(index)]) continue;
      seen[static_cast<std::size_t>(index)] = true;
      selected.push_back(index);
    }
  }
  return selected;
}

}  // namespace biogpu::genome
