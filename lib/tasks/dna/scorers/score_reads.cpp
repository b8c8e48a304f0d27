#include "lib/tasks/dna/scorers/score_reads.hpp"

#include <algorithm>
#include <stdexcept>

namespace biogpu::tasks {
namespace {

void extend(models::BinRows& rows, const BinRange& by) {
  if (rows.begin == rows.end)
    rows = {by.begin, by.end};
  else
    rows = {std::min(rows.begin, by.begin), std::max(rows.end, by.end)};
}

}  // namespace

ScoreReads::ScoreReads(const models::DnaModel& model) {
  for (const models::HeadChoice& choice : model.heads()) {
    const models::TrackHead& loaded = model.head(choice);
    Head& head = heads_.emplace_back();
    head.name = choice.name;
    head.n_rows = loaded.row_shape.empty() ? loaded.bins.n_bins : loaded.row_shape.front();
    head.n_tracks = static_cast<std::int64_t>(model.n_tracks(choice));
  }
}

std::size_t ScoreReads::find(const std::string& name) const {
  const auto found = std::find_if(heads_.begin(), heads_.end(),
                                  [&](const Head& head) { return head.name == name; });
  if (found == heads_.end()) throw std::out_of_range("no head " + name);
  return static_cast<std::size_t>(found - heads_.begin());
}

void ScoreReads::add_window() {
  for (Head& head : heads_) head.rows.emplace_back();
  sites_.emplace_back();
}

void ScoreReads::add_sums(const std::string& name, const RowMask& mask, const AlleleShift& shift) {
  Head& head = heads_[find(name)];
  const std::size_t window = n_windows() - 1;
  for (const BinRange& range : mask) {
    const SourceRows source = find_sources(shift, range, head.n_rows);
    const BinRange& rows = source.rows;
    if (rows.begin >= rows.end) continue;
    if (source.has_maximum) {
      add_rows(name, rows);
      continue;
    }
    const bool is_new =
        head.places.emplace(Place{window, rows.begin, rows.end}, head.sums.size()).second;
    if (is_new) head.sums.push_back({window, rows.begin, rows.end, 1});
    reads_some_ = true;
  }
}

void ScoreReads::add_rows(const std::string& name, const BinRange& rows) {
  if (rows.begin >= rows.end) return;
  Head& head = heads_[find(name)];
  extend(head.rows.back(), rows);
  head.has_rows = reads_some_ = true;
}

void ScoreReads::add_sites(const BinRange& bases) {
  extend(sites_.back(), bases);
  has_sites_ = reads_some_ = true;
}

models::DnaModel::Request ScoreReads::request() const {
  models::DnaModel::Request request;
  request.tracks = false;
  for (const Head& head : heads_) {
    request.sums.emplace_back(head.sums);
    request.rows.push_back(head.has_rows ? std::span<const models::BinRows>(head.rows)
                                         : std::span<const models::BinRows>());
  }
  if (has_sites_) request.site_bases = sites_;
  return request;
}

std::vector<double> ScoreReads::sum(const models::Outputs& outputs, std::size_t window,
                                    const std::string& name, const RowMask& mask,
                                    const AlleleShift& shift) const {
  const Head& head = heads_[find(name)];
  const auto n_tracks = static_cast<std::size_t>(head.n_tracks);
  std::vector<double> sums(n_tracks);
  for (const BinRange& range : mask) {
    const SourceRows source = find_sources(shift, range, head.n_rows);
    if (source.rows.begin >= source.rows.end) continue;
    if (source.has_maximum) {
      const std::vector<double> of_range =
          sum_rows(AlignedRows(rows(outputs, window, name), shift), {range});
      for (std::size_t t = 0; t < n_tracks; ++t) sums[t] += of_range[t];
      continue;
    }
    const std::size_t place = head.places.at({window, source.rows.begin, source.rows.end});
    const std::vector<double>& of_head = outputs.at("sums." + name).doubles;
    for (std::size_t t = 0; t < n_tracks; ++t) sums[t] += of_head[place * n_tracks + t];
  }
  return sums;
}

TrackRows ScoreReads::rows(const models::Outputs& outputs, std::size_t window,
                           const std::string& name) const {
  const Head& head = heads_[find(name)];
  const models::BinRows& of_window = head.rows[window];
  if (of_window.begin == of_window.end) return {{}, head.n_tracks, 0, head.n_rows};
  const io::SharedArray& values = outputs.at("rows." + name).values;
  const std::size_t of_one = values.size() / n_windows();
  return {
      {values.data() + window * of_one, static_cast<std::size_t>(of_window.size() * head.n_tracks)},
      head.n_tracks,
      of_window.begin,
      head.n_rows};
}

TrackRows ScoreReads::contacts(const models::Outputs& outputs, std::size_t window,
                               const std::string& name, std::int64_t bin) const {
  const Head& head = heads_[find(name)];
  const models::BinRows& of_window = head.rows[window];
  if (bin < of_window.begin || bin >= of_window.end)
    throw std::out_of_range("contacts of a bin that were not read");
  const io::SharedArray& values = outputs.at("rows." + name).values;
  const auto of_bin = static_cast<std::size_t>(head.n_rows * head.n_tracks);
  const float* const first = values.data() + window * (values.size() / n_windows()) +
                             static_cast<std::size_t>(bin - of_window.begin) * of_bin;
  return {{first, of_bin}, head.n_tracks};
}

}  // namespace biogpu::tasks
