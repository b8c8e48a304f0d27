#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "lib/models/base/dna_model.hpp"
#include "lib/tasks/dna/scorers/track_rows.hpp"

namespace biogpu::tasks {

// What scorers read of the predictions of the windows of a pass: sums over masks and rows of some
// heads, in place of all tracks. The model must outlive it.
class ScoreReads {
 public:
  explicit ScoreReads(const models::DnaModel& model);

  // Begins the next window, which has what is added behind it.
  void add_window();
  // shift: of an allele whose rows are aligned with those of the reference, of which the mask is.
  void add_sums(const std::string& head, const RowMask& mask, const AlleleShift& shift = {});
  // Also all between rows of two calls. Of a head of pairs of bins: contacts of these bins.
  void add_rows(const std::string& head, const BinRange& rows);
  // Bases between which junctions are looked for; also all between those of two calls.
  void add_sites(const BinRange& bases);

  bool empty() const { return !reads_some_; }
  bool has_sites() const { return has_sites_; }
  // The request of a pass over the windows; its spans point into this object.
  models::DnaModel::Request request() const;

  // What a pass gave of a window.
  std::vector<double> sum(const models::Outputs& outputs, std::size_t window,
                          const std::string& head, const RowMask& mask,
                          const AlleleShift& shift = {}) const;
  TrackRows rows(const models::Outputs& outputs, std::size_t window, const std::string& head) const;
  // [bins, tracks]: of one bin with each.
  TrackRows contacts(const models::Outputs& outputs, std::size_t window, const std::string& head,
                     std::int64_t bin) const;

 private:
  using Place = std::tuple<std::size_t, std::int64_t, std::int64_t>;  // window, begin, end
  struct Head {
    std::string name;
    std::int64_t n_rows = 0, n_tracks = 0;
    std::vector<models::BinSum> sums;
    std::map<Place, std::size_t> places;  // of sums
    std::vector<models::BinRows> rows;    // of each window
    bool has_rows = false;
  };
  std::size_t find(const std::string& name) const;
  std::size_t n_windows() const { return sites_.size(); }

  std::vector<Head> heads_;  // that are loaded
  std::vector<models::BinRows> sites_;
  bool has_sites_ = false, reads_some_ = false;
};

}  // namespace biogpu::tasks
