#include "lib/bio/genome/tracks/signal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <tuple>
#include <utility>

#include "lib/core/error.hpp"

namespace biogpu::genome {
namespace {

// Bins [first, last) of a run.
SignalRun part_of(const SignalRun& run, std::int64_t first, std::int64_t last) {
  return {run.contig, run.begin + first * run.bin, run.bin,
          std::vector<float>(run.values.begin() + first, run.values.begin() + last), run.place};
}

[[noreturn]] void fail_overlap(const std::string& before, const std::string& after,
                               const Contig& contig, std::int64_t at) {
  throw Error(ErrorCode::bad_input,
              fmt::format("{}: its bins overlap those of {} at {}:{}; bigWig and bedGraph hold one "
                          "value for each base",
                          after, before, contig.name, at + 1));
}

}  // namespace

void Signal::add(SignalRun run) {
  const auto is_finite = [](float value) { return std::isfinite(value); };
  for (auto at = run.values.begin(); at != run.values.end();) {
    const auto begin = std::find_if(at, run.values.end(), is_finite);
    at = std::find_if_not(begin, run.values.end(), is_finite);
    if (begin != at) add_finite(part_of(run, begin - run.values.begin(), at - run.values.begin()));
  }
}

// A bin across an end of the contig becomes a narrower one.
void Signal::add_finite(SignalRun run) {
  const auto length = static_cast<std::int64_t>(contigs_[run.contig].length);
  const auto n = std::ssize(run.values);
  // Whole bins inside are [first, last).
  const std::int64_t first = std::clamp<std::int64_t>((run.bin - 1 - run.begin) / run.bin, 0, n);
  const std::int64_t last =
      run.begin >= length ? 0 : std::clamp<std::int64_t>((length - run.begin) / run.bin, 0, n);
  const auto add_cut = [&](std::int64_t i) {
    if (i < 0 || i >= n) return;
    const std::int64_t begin = std::max<std::int64_t>(run.begin + i * run.bin, 0);
    const std::int64_t end = std::min(run.begin + (i + 1) * run.bin, length);
    const float value = run.values[static_cast<std::size_t>(i)];
    if (begin < end) runs_.push_back({run.contig, begin, end - begin, {value}, run.place});
  };
  if (first > last) {  // one bin across both ends
    add_cut(last);
    return;
  }
  if (run.begin < 0) add_cut(first - 1);
  if (first < last) runs_.push_back(part_of(run, first, last));
  add_cut(last);
}

std::span<const SignalRun> Signal::sorted() {
  std::stable_sort(runs_.begin(), runs_.end(), [](const SignalRun& a, const SignalRun& b) {
    return std::tie(a.contig, a.begin) < std::tie(b.contig, b.begin);
  });
  for (std::size_t i = 1; i < runs_.size(); ++i) {
    const SignalRun &before = runs_[i - 1], &run = runs_[i];
    if (before.contig == run.contig && run.begin < before.end())
      fail_overlap(before.place, run.place, contigs_[run.contig], run.begin);
  }
  return runs_;
}

void SignalPlaces::take(std::size_t contig, std::int64_t begin, std::int64_t end,
                        const std::string& place) {
  begin = std::max<std::int64_t>(begin, 0);
  end = std::min(end, static_cast<std::int64_t>(contigs_[contig].length));
  if (begin >= end) return;
  auto& taken = taken_[contig];
  const auto next = taken.lower_bound(begin);
  if (next != taken.begin()) {
    const auto& before = *std::prev(next);
    if (before.second.end > begin)
      fail_overlap(before.second.place, place, contigs_[contig], begin);
  }
  if (next != taken.end() && next->first < end)
    fail_overlap(next->second.place, place, contigs_[contig], next->first);
  taken.emplace_hint(next, begin, Taken{end, place});
}

}  // namespace biogpu::genome
