#include "apps/biogpu/infer/dna/head_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <optional>

#include "apps/biogpu/command_line/list_option.hpp"
#include "apps/biogpu/command_line/option_group.hpp"
#include "lib/bio/genome/tracks/track_metadata.hpp"
#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"

namespace biogpu::app {

void add_head_flags(CLI::App& command, HeadFlags& flags) {
  const OptionGroup options(command);
  add_list(command, {"--head", "compute these heads of the model, as human [all]", "NAME,..."},
           flags.heads);
  add_list(command,
           {"--tracks",
            "compute these tracks of one head: numbers from 0 (17, 17-20), identifiers, groups "
            "(DNASE), ontology terms (CL:0000084), assays, patterns (*liver*) [all]",
            "TRACK,..."},
           flags.tracks);
  options.option("--targets", flags.targets,
                 "read the names of the tracks from this table [the one in the model's folder]",
                 "FILE");
  options.flag("--all-columns", flags.all_columns,
               "compute also columns that stand for no track (AlphaGenome's padding)");
}

namespace {

struct HeadTracks {
  std::string table;  // for errors
  std::vector<genome::Track> tracks;
};

// The tracks of heads, by the file of --targets or of the folder, or by number alone.
class TrackTables {
 public:
  TrackTables(const HeadFlags& flags, const std::string& folder) : flags_(flags), folder_(folder) {}

  HeadTracks of(const models::TrackHead& head) {
    std::string path = flags_.targets;
    if (path.empty())
      path =
          fmt::format("{}/{}", folder_,
                      head.table.empty() ? fmt::format("targets_{}.txt", head.name) : head.table);
    if (flags_.targets.empty() && !std::filesystem::exists(path)) return by_number(head);
    std::vector<genome::Track> tracks =
        head.table.empty() ? genome::read_track_table(path) : of_all_heads(path, head);
    if (std::ssize(tracks) != head.n_tracks)
      throw Error(ErrorCode::bad_input, fmt::format("{}: has {} tracks; the head {} has {}", path,
                                                    tracks.size(), head.name, head.n_tracks));
    if (flags_.all_columns)
      for (genome::Track& track : tracks) track.is_padding = false;
    return {path, std::move(tracks)};
  }

  // Lines of a table of all heads.
  tasks::HeadTracks metadata_of(const models::TrackHead& head) {
    const std::string path = fmt::format("{}/{}", folder_, head.table);
    tasks::HeadTracks found{head.name, {}, {}};
    if (head.table.empty() || !std::filesystem::exists(path)) {
      for (const genome::Track& track : by_number(head).tracks)
        found.tracks.push_back({head.table_head, track.index, track.identifier, '.', {}});
      return found;
    }
    if (!metadata_) metadata_ = genome::read_track_metadata(path);
    found.columns = metadata_->columns;
    found.tracks = metadata_->of_head(head.table_head);
    return found;
  }

 private:
  static HeadTracks by_number(const models::TrackHead& head) {
    std::vector<genome::Track> tracks;
    for (std::int64_t i = 0; i < head.n_tracks; ++i)
      tracks.push_back({i, std::to_string(i), {}, {}, {}});
    return {"head " + head.name, std::move(tracks)};
  }

  std::vector<genome::Track> of_all_heads(const std::string& path, const models::TrackHead& head) {
    if (!metadata_) metadata_ = genome::read_track_metadata(path);
    return genome::make_tracks(*metadata_, head.table_head, flags_.both_strands,
                               head.strands_of_line == 2);
  }

  const HeadFlags& flags_;
  const std::string folder_;
  std::optional<genome::TrackMetadataTable> metadata_;  // of all heads
};

// Also computes the partner of each chosen stranded track.
void add_other_strand(const std::vector<genome::Track>& tracks, models::HeadChoice& choice) {
  const bool any = std::any_of(tracks.begin(), tracks.end(), [](const genome::Track& track) {
    return track.strand_pair && *track.strand_pair != track.index;
  });
  if (!any) return;
  std::vector<std::int64_t> chosen = choice.tracks;
  if (chosen.empty()) {
    chosen.resize(tracks.size());
    std::iota(chosen.begin(), chosen.end(), 0);
  }
  const std::size_t n_out = chosen.size();
  std::vector<std::optional<std::size_t>> columns(tracks.size());
  for (std::size_t i = 0; i < n_out; ++i) columns[static_cast<std::size_t>(chosen[i])] = i;
  for (std::size_t i = 0; i < n_out; ++i) {
    const genome::Track& track = tracks[static_cast<std::size_t>(chosen[i])];
    const std::int64_t other = track.strand_pair.value_or(track.index);
    std::optional<std::size_t>& column = columns[static_cast<std::size_t>(other)];
    if (!column) {
      column = chosen.size();
      chosen.push_back(other);
    }
    choice.other_strand.push_back(*column);
  }
  if (!choice.tracks.empty()) choice.tracks = std::move(chosen);
}

// Nothing where all columns of the head are padding and none is asked for by name.
std::optional<models::HeadChoice> choose_tracks(const HeadFlags& flags, TrackTables& tables,
                                                const models::TrackHead& head) {
  models::HeadChoice choice{head.name, {}};
  const bool selected = !flags.tracks.empty() || !flags.targets.empty();
  if (!selected && !flags.both_strands && head.table.empty()) return choice;
  const auto [table, tracks] = tables.of(head);
  const std::vector<std::int64_t> chosen =
      genome::select_tracks(tracks, fmt::format("{}", fmt::join(flags.tracks, ",")), table);
  if (chosen.empty()) return std::nullopt;
  if (selected || chosen.size() < tracks.size()) choice.tracks = chosen;
  if (flags.both_strands) add_other_strand(tracks, choice);
  return choice;
}

}  // namespace

std::vector<models::HeadChoice> choose_heads(const HeadFlags& flags, const std::string& folder,
                                             const std::vector<models::TrackHead>& heads) {
  std::vector<std::string> names = flags.heads;
  if (names.empty())
    for (const models::TrackHead& head : heads)
      if (head.row_kind.empty() || !flags.bins_only) names.push_back(head.name);
  if (!(flags.tracks.empty() && flags.targets.empty()) && names.size() > 1)
    throw Error(ErrorCode::usage,
                fmt::format("--tracks and --targets are for one head; choose it with --head: {}",
                            fmt::join(names, ", ")));
  TrackTables tables(flags, folder);
  std::vector<models::HeadChoice> choices;
  for (const std::string& name : names) {
    const models::TrackHead* const head = models::find_head(heads, name);
    if (head == nullptr && flags.leave_out_missing) continue;
    if (head == nullptr) {
      std::vector<std::string> known;
      for (const models::TrackHead& h : heads) known.push_back(h.name);
      throw Error(ErrorCode::usage, fmt::format("--head {}: the model has {}", biogpu::quoted(name),
                                                fmt::join(known, ", ")));
    }
    if (const auto choice = choose_tracks(flags, tables, *head))
      choices.push_back(*choice);
    else if (!flags.heads.empty() && !flags.leave_out_missing)
      throw Error(ErrorCode::usage,
                  fmt::format("--head {}: all its columns are padding in {}; --all-columns takes "
                              "them",
                              name, head->table));
  }
  if (choices.empty() && flags.leave_out_missing)
    throw Error(ErrorCode::usage,
                fmt::format("{}: the model has no tracks of {}", folder, fmt::join(names, ", ")));
  if (choices.empty())
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: no head has a track; --all-columns takes padding", folder));
  return choices;
}

std::vector<tasks::HeadTracks> head_tracks(const HeadFlags& flags, const std::string& folder,
                                           const models::DnaModel& model) {
  std::vector<tasks::HeadTracks> heads;
  TrackTables tables(flags, folder);
  for (const models::HeadChoice& choice : model.heads()) {
    tasks::HeadTracks head = tables.metadata_of(model.head(choice));
    std::vector<genome::TrackMetadata> chosen;
    // Columns of + and, behind them, of - are one track.
    const models::TrackHead& loaded = model.head(choice);
    if (loaded.strands_of_line == 2) {
      head.tracks.resize(static_cast<std::size_t>(loaded.n_tracks / 2));
      for (genome::TrackMetadata& track : head.tracks) track.strand = '.';
    }
    for (const std::int64_t index : choice.tracks)
      if (index < std::ssize(head.tracks))
        chosen.push_back(head.tracks[static_cast<std::size_t>(index)]);
    if (!choice.tracks.empty()) head.tracks = std::move(chosen);
    heads.push_back(std::move(head));
  }
  return heads;
}

namespace {

// name: of a Track.
template <class Name>
std::vector<std::string> names_of_tracks(const HeadFlags& flags, const std::string& folder,
                                         const models::DnaModel& model, Name name) {
  std::vector<std::string> names;
  TrackTables tables(flags, folder);
  for (const models::HeadChoice& choice : model.heads()) {
    const std::vector<genome::Track> tracks = tables.of(model.head(choice)).tracks;
    for (std::size_t i = 0; i < model.n_tracks(choice); ++i) {
      const std::int64_t index =
          choice.tracks.empty() ? static_cast<std::int64_t>(i) : choice.tracks[i];
      const std::string text = name(tracks[static_cast<std::size_t>(index)]);
      names.push_back(model.heads().size() > 1 ? choice.name + "/" + text : text);
    }
  }
  return names;
}

std::string name_of_track(const genome::Track& track) {
  return track.identifier.empty() ? track.description : track.identifier;
}

}  // namespace

std::vector<std::string> track_names(const HeadFlags& flags, const std::string& folder,
                                     const models::DnaModel& model) {
  return names_of_tracks(flags, folder, model, name_of_track);
}

std::vector<std::string> described_tracks(const HeadFlags& flags, const std::string& folder,
                                          const models::DnaModel& model) {
  return names_of_tracks(flags, folder, model, [](const genome::Track& track) {
    std::string name = name_of_track(track);
    const bool tells_more = !track.description.empty() && track.description != name;
    return tells_more ? name + ": " + track.description : name;
  });
}

}  // namespace biogpu::app
