#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lib/models/base/kept_store.hpp"
#include "lib/models/base/model.hpp"
#include "lib/models/base/splice_sites.hpp"
#include "lib/ops/activation.hpp"

namespace biogpu::models {

// The bins of a window that predictions are for.
struct BinGrid {
  std::int64_t bin_size = 0;    // bases
  std::int64_t first_base = 0;  // of the window that the first bin covers
  std::int64_t n_bins = 0;
  // On the reverse complement a bin is that many bins further on than where it would be in the
  // opposite order, and those in front of the first are 0: AlphaGenome's DNase, whose cuts are
  // between two bases.
  std::int64_t reverse_shift = 0;

  std::int64_t n_bases() const { return n_bins * bin_size; }
  bool covers_the_same(const BinGrid& other) const {
    return bin_size == other.bin_size && first_base == other.first_base && n_bins == other.n_bins;
  }
  bool operator==(const BinGrid&) const = default;
};

// A head of a model of DNA: a number for each bin and track.
struct TrackHead {
  std::string name;  // "human"
  std::int64_t n_tracks = 0;
  BinGrid bins = {};
  ops::Activation activation = ops::Activation::softplus;
  // What a row is where it is no bin ("pairs of bins"): such a head has arrays, but no signal along
  // the genome, and variants are not scored by it.
  std::string row_kind = {};
  // The table in the model's folder that names the tracks: lines of `table_head` in a table of all
  // heads (lib/bio/genome/tracks/track_metadata.hpp). Empty: targets_NAME.txt, a table of its own.
  std::string table = {};
  std::string table_head = {};
  // The axes of the rows, where they are not one: [s, s] of pairs of bins.
  std::vector<std::int64_t> row_shape = {};
  // Rows differ by window: run() gives tracks.NAME.WINDOW [rows, rows, tracks] and
  // positions.NAME.WINDOW for each window.
  bool is_ragged = false;
  std::int64_t max_rows = 0;  // of a window, where they differ
  // Tracks of a line of the table: with 2, all lines for + and then all for -.
  int strands_of_line = 1;
};

// Null where there is no such head.
const TrackHead* find_head(const std::vector<TrackHead>& heads, const std::string& name);

// A vector for each bin, which heads read.
struct Embedding {
  std::string name;  // "", or "128bp" where a model has several
  std::int64_t width = 0;
  BinGrid bins = {};
  std::vector<std::int64_t> row_shape = {};  // as TrackHead has it

  std::string output() const { return name.empty() ? "embedding" : "embedding." + name; }
};

// Which tracks of a head are computed.
struct HeadChoice {
  std::string name;
  std::vector<std::int64_t> tracks;  // below n_tracks, in the order of the output; empty: all
  // Where predictions of both strands are averaged and tracks of one strand are known: of each
  // track of the output, which of `tracks`, or of all, is the same on the other strand. Those
  // behind the output's are computed for it alone. Empty: each track is its own.
  std::vector<std::size_t> other_strand = {};
};

// Loaded heads [first, end).
struct HeadRange {
  std::size_t first = 0;
  std::size_t end = SIZE_MAX;

  bool has(std::size_t head) const { return head >= first && head < end; }
  bool operator==(const HeadRange&) const = default;
};

// A window that was run, and where its model keeps what is kept of it.
struct KeptWindow {
  std::vector<std::uint8_t> letters;
  KeptStore::Slot slot;
};

// A window like a kept one, but for some of its letters.
struct ChangedWindow {
  const KeptWindow* kept = nullptr;
  std::span<const std::uint8_t> letters;
};

// Bins [begin, end) of a window of a pass, whose predictions are multiplied and added up.
struct BinSum {
  std::size_t window = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;  // none where it is begin
  double factor = 1;
};

// Bins [begin, end) of a window of a pass whose predictions are wanted as they are.
struct BinRows {
  std::int64_t begin = 0;
  std::int64_t end = 0;  // none where it is begin

  std::int64_t size() const { return end - begin; }
};

// A model from windows of DNA to tracks over bins.
class DnaModel : public Model {
 public:
  struct Info {
    std::string architecture;        // "Enformer"
    std::int64_t window = 0;         // bases of the input
    std::uint64_t n_parameters = 0;  // those in use
    std::vector<TrackHead> heads;    // of the model
    std::vector<Embedding> embeddings;
    // Choices that were made in loading, by name, for the summary: "gamma".
    std::vector<std::pair<std::string, std::string>> choices = {};
    std::string warning = {};  // of one that is likely to be wrong, or empty
  };
  // What a pass gives: tracks.NAME [windows * rows, tracks] of each loaded head,
  // Embedding::output() [windows * bins, width], and for tests what every part of the model gives.
  // And sums.NAME, fp64 [at least one row for each of its sums, tracks of the output]: sum i in row
  // i, from 0 on in the order of bins, each step rounded, the same bytes wherever it is computed.
  // And rows.NAME [windows * n, tracks], n being at least the number of bins that are wanted of any
  // window: those of window w from row w * n on. Of pairs of bins, each bin has a row for its pair
  // with each bin of the window.
  struct Request {
    bool tracks = true;
    bool embedding = false;
    bool parts = false;
    // Where given, the windows are added to it, with what the model keeps of them.
    std::vector<KeptWindow>* kept = nullptr;
    // Where given, the windows are added to it for run_junctions(), instead of junctions between
    // the sites of each window.
    std::vector<SiteWindow>* sites = nullptr;
    std::vector<std::span<const BinSum>> sums = {};  // of each of heads(), or none
    // For sums: the windows are reverse complements, and HeadChoice::other_strand is taken.
    bool other_strand = false;
    // Of each of heads(), of each window; empty for heads of which none are wanted; or none at all.
    std::vector<std::span<const BinRows>> rows = {};
    // The bases of each window that sites are looked for in, where only sums and rows are asked for
    // besides; none: all.
    std::span<const BinRows> site_bases = {};
    HeadRange heads = {};  // whose tracks are asked for

    // What is asked for of a loaded head. Others are not computed.
    bool wants_tracks(std::size_t head) const { return tracks && heads.has(head); }
    bool wants_sums(std::size_t head) const { return !sums.empty() && !sums[head].empty(); }
    bool wants_rows(std::size_t head) const { return !rows.empty() && !rows[head].empty(); }
    bool wants(std::size_t head) const {
      return wants_tracks(head) || wants_sums(head) || wants_rows(head);
    }
  };

  const Info& info() const { return info_; }
  const std::vector<HeadChoice>& heads() const { return heads_; }  // as they were loaded
  const TrackHead& head(const HeadChoice& choice) const;
  // Tracks of the output.
  std::size_t n_tracks(const HeadChoice& choice) const;
  // Bins of the loaded heads, each once. Throws Error{usage} for a head whose rows are no bins.
  std::vector<BinGrid> grids() const;
  // Throws Error{usage} where bins of a window's reverse complement are not those of the window.
  void require_strands() const;

  // letters: codes of lib/ops/convolution/conv1d_letters.hpp, windows one after the other.
  virtual Outputs run(std::span<const std::uint8_t> letters, const Request& request) = 0;

  // Substitutions reach only some of what a model computes first. Where it is worth it, it keeps
  // the rest of a window and computes changed ones with less work, to the same bytes.
  const KeptStore& kept_store() const { return kept_store_; }
  // Makes room for so many windows that are kept at a time; see KeptStore::reserve().
  void reserve_kept(std::size_t n_windows) { kept_store_.reserve(n_windows); }
  // Bytes of the context's memory that may be reserved: a quarter of what is free, and not what a
  // pass over one window needs.
  std::uint64_t room_for_kept() const;
  // Whether less work suffices for a window.
  virtual bool is_near(std::span<const std::uint8_t> kept,
                       std::span<const std::uint8_t> changed) const;
  // What run() gives of windows, all of which are near their kept ones.
  virtual Outputs run_changed(std::span<const ChangedWindow> windows, const Request& request);

  // Makes room for so many windows of Request::sites at a time, where none is in use.
  virtual void reserve_sites(std::size_t n_windows);
  // The most probable sites of a window, as the model takes them for its junctions. probabilities:
  // as SiteWindow has them.
  virtual SpliceSites select_sites(std::span<const float> probabilities) const;
  // The counts of junctions between sites: `junctions` [donors, acceptors, tracks], as many as the
  // strand with more of them has. Of a model with a loaded head of junctions.
  virtual Outputs run_junctions(const SiteWindow& window, const SpliceSites& sites,
                                const SiteRows& rows);

  // Tracks of a window in passes of their own, where they are too large to be there at a time: a
  // model that offers it keeps the embeddings that loaded heads read.
  virtual bool keeps_embeddings() const { return false; }
  // letters: of one window.
  virtual KeptStore::Slot run_embeddings(std::span<const std::uint8_t> letters);
  // What run() gives of it with Request::heads.
  virtual Outputs run_kept(const KeptStore::Slot& window, const HeadRange& heads);

  // Bytes of a pass over so many windows.
  virtual std::size_t measure(std::int64_t n_windows, const Request& request) const = 0;

 protected:
  // kept: of what a window's slot is made of.
  explicit DnaModel(tensor::Context& context, std::vector<KeptStore::Array> kept = {})
      : Model(context), kept_store_(context, std::move(kept)) {}

  Info info_;
  std::vector<HeadChoice> heads_;
  KeptStore kept_store_;
};

}  // namespace biogpu::models
