#pragma once

#include <array>
#include <string>

#include "lib/core/cost_model.hpp"
#include "lib/core/stage_times.hpp"

// The kinds of work of the commands, and the rates that decide on a machine that has run none yet:
// those of a host of 16 cores with one H100 or H200.
namespace biogpu::app::works {

namespace detail {
inline constexpr cost::Shape kReadAhead{.threads_read = true};
inline constexpr cost::Shape kReadFirst{.overlaps = false, .starts_beside = true};
inline constexpr cost::Shape kCpuBegins{.starts_beside = true, .cpu_works_beside = true};
inline constexpr cost::Shape kInTurn{.overlaps = false, .copies_to_each = true};
}  // namespace detail

// Units: cells.
inline constexpr cost::Task kAlignScore{
    "align_score", detail::kReadAhead, {4.2e9, 4.2e9, 1.1e10, 0.56e9, 4e9, 3e12}};
// Of alignments with ends, statistics or paths.
inline constexpr cost::Task kAlignRows{
    "align_rows", detail::kReadAhead, {4.2e9, 4.2e9, 3.7e9, 0.5e9, 4e9, 1e12}};
inline constexpr cost::Task kAlignSearch{
    "align_search", detail::kReadAhead, {4.2e9, 4.2e9, 1.2e10, 1e9, 4e9, 6e12}};
// Letters and qualities: bytes of text.
inline constexpr cost::Task kKmerCount{
    "kmer_count", detail::kReadFirst, {1e10, 1e10, 0.8e8, 2e8, 2e10, 1e10}};
// Letters.
inline constexpr cost::Task kBwtSort{
    "bwt_sort", detail::kReadFirst, {1e10, 1e10, 1.2e7, 2.05e7, 1e10, 1e10}};
// Bytes of queries.
inline constexpr cost::Task kBwtSearch{
    "bwt_search", detail::kReadAhead, {1.5e9, 1.5e9, 1.5e8, 4e8, 1e10, 1e10}};
// Bytes of text.
inline constexpr cost::Task kQcPlain{
    "qc_plain", detail::kCpuBegins, {2.2e9, 2.2e9, 4e8, 1.2e9, 1e10, 1e10}};
// The same, where the output is compressed.
inline constexpr cost::Task kQcGzip{
    "qc_gzip", detail::kCpuBegins, {2.2e9, 2.2e9, 5.2e7, 5.6e7, 1e10, 1e10}};
// Bytes of weights times tokens.
inline constexpr cost::Task kInfer{"infer", detail::kInTurn, {1e10, 1e10, 1e11, 1e10, 3e9, 4e14}};
// Sequences.
inline constexpr cost::Task kDesign{"design", detail::kInTurn, {1e10, 1e10, 20, 1e10, 3e9, 2000}};

inline constexpr std::array<const cost::Task*, 10> kAll{
    &kAlignScore, &kAlignRows, &kAlignSearch, &kKmerCount, &kBwtSort,
    &kBwtSearch,  &kQcPlain,   &kQcGzip,      &kInfer,     &kDesign};

}  // namespace biogpu::app::works

namespace biogpu::app {

// Adds the text of a file to the bytes of a work that is predicted: that of a name with the suffix
// of a compressed file is taken for four times as long as the file. A pipe adds nothing.
void add_file(cost::Work& work, const std::string& path);

// Seconds of reading of a stage: busy seconds by the number of its threads.
double read_seconds(const StageTimes& stage);

}  // namespace biogpu::app
