#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace biogpu::genome {

// A track that a model predicts, as a line of its table has it.
struct Track {
  std::int64_t index = 0;  // among the outputs of its head
  std::string identifier;  // "ENCFF833POA"
  std::string group;       // what is measured: "DNASE", "CHIP", "CAGE"
  std::string description;
  std::optional<std::int64_t> strand_pair;  // index of the same track on the other strand
  std::vector<std::string> labels = {};     // further groups: an ontology term, an assay
  bool is_padding = false;                  // stands for no track, and is not selected
};

// A table of tracks in a model's folder, as Basenji's targets files are: columns separated by tabs,
// named by the first line, in any order. Needed is `identifier` or `description`; an `index` (or a
// column without a name, as pandas writes it) is the lines' order where it is missing, `group` the
// description up to its first colon; strand_pair may be there, others are not looked at.
//
// Throws Error{bad_input} with file and line for what is malformed: an index that is none of
// 0 to n - 1 or there twice, another number of columns, a pair that is no track or has another
// pair.
std::vector<Track> read_track_table(const std::string& path);

// The indexes of the tracks that a selection names, in its order, each once. A selection is a list
// of items separated by commas, each the first of these that fits: a number or a range of them
// ("5", "0-99", both ends included); an identifier; a group or label; a pattern with * and ? that
// the whole identifier or description matches. Case does not count in the last two. Empty: all
// tracks. table: the file, for errors. Throws Error{usage} for an item that names no track, and for
// a number of padding.
std::vector<std::int64_t> select_tracks(const std::vector<Track>& tracks,
                                        std::string_view selection, const std::string& table);

}  // namespace biogpu::genome
