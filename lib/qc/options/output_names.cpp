#include "lib/qc/options/output_names.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "lib/core/error.hpp"
#include "lib/io/output/path_conflicts.hpp"
#include "lib/io/output/suffix.hpp"

namespace biogpu::qc {
namespace {

using Files = std::vector<io::NamedFile>;

Files outputs_of(const Options& options) {
  return {{"--out1", options.out1},
          {"--out2", options.out2},
          {"--merged_out", options.merged_out},
          {"--unpaired1", options.unpaired1},
          // The two unpaired outputs may share a name.
          {"--unpaired2", options.unpaired2 == options.unpaired1 ? "" : options.unpaired2},
          {"--failed_out", options.failed_out},
          {"--overlapped_out", options.overlapped_out},
          {"--stdout", options.use_stdout ? "-" : ""},
          {"--json", options.json},
          {"--html", options.html},
          {"--part", options.part_out}};
}

// The number of the part of `out` with this name, counted from 1; 0 where it is none.
std::size_t part_number(const Options& options, const io::NamedFile& out, const std::string& name) {
  std::size_t n = 0;
  std::from_chars(name.data(), name.data() + name.size(), n);
  if (n == 0 || (options.split_files > 0 && n > static_cast<std::size_t>(options.split_files)))
    return 0;
  const std::filesystem::path part = part_name(out.path, n - 1, options.split_digits);
  return part.filename() == name ? n : 0;
}

// Adds the parts of `out` that may be another file: the first, those that bear the name of one of
// `others`, and those that are there, perhaps as a link to one.
void add_parts(const Options& options, const io::NamedFile& out, const Files& others,
               Files& files) {
  if (out.path.empty()) return;
  std::set<std::size_t> numbers{1};
  std::error_code ignored;
  for (const io::NamedFile& other : others) {
    const auto path = std::filesystem::weakly_canonical(other.path, ignored);
    numbers.insert(part_number(options, out, path.filename().string()));
  }
  const std::filesystem::path folder = std::filesystem::path(out.path).parent_path();
  for (const auto& file :
       std::filesystem::directory_iterator(folder.empty() ? "." : folder, ignored))
    numbers.insert(part_number(options, out, file.path().filename().string()));
  for (const std::size_t n : numbers)
    if (n > 0) files.push_back({out.option, part_name(out.path, n - 1, options.split_digits)});
}

// As fastp, any name that is not another format's.
void check_suffixes(const Files& outputs) {
  for (const io::NamedFile& output : outputs) {
    if (output.option == "--part") continue;
    const std::string format = output.option == "--json"   ? "json"
                               : output.option == "--html" ? "html"
                                                           : "fastq";
    const std::string wrong = io::check_suffix(output.path, std::vector<std::string>{format, "txt"},
                                               io::OtherSuffixes::accept);
    if (!wrong.empty()) throw Error(ErrorCode::usage, fmt::format("{}: {}", output.option, wrong));
  }
}

}  // namespace

std::string part_name(const std::string& path, std::size_t n, int digits) {
  const std::size_t slash = path.rfind('/');
  const std::size_t base = slash == std::string::npos ? 0 : slash + 1;
  return fmt::format("{}{:0{}}.{}", path.substr(0, base), n + 1, digits, path.substr(base));
}

void check_output_names(const Options& options) {
  const Files inputs{{"--in1", options.in1},
                     {"--in2", options.in2},
                     {"--adapter_fasta", options.adapter_fasta},
                     {"--filter_by_index1", options.index_file1},
                     {"--filter_by_index2", options.index_file2}};
  Files outputs = outputs_of(options);
  check_suffixes(outputs);
  if (options.dont_overwrite)
    for (const io::NamedFile& output : outputs)
      if (!output.path.empty() && access(output.path.c_str(), F_OK) == 0)
        throw Error(ErrorCode::failed,
                    output.path + ": exists already, and --dont_overwrite forbids to replace it");
  if (options.split()) {
    // Beside the parts a split writes only reports.
    const Files reads(outputs.begin(), outputs.begin() + 2);
    outputs.erase(outputs.begin(), outputs.end() - 3);
    Files others = inputs;
    others.insert(others.end(), outputs.begin(), outputs.end());
    for (const io::NamedFile& out : reads) add_parts(options, out, others, outputs);
  }
  io::require_distinct_files(inputs, outputs);
}

}  // namespace biogpu::qc
