#include "lib/qc/output_names.hpp"

#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "lib/core/error.hpp"
#include "lib/io/file_clash.hpp"
#include "lib/qc/output/part_name.hpp"

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
          {"--json", options.json},
          {"--html", options.html},
          {"--part", options.part_out}};
}

// Adds the first part of `out`, and each that bears the name of one of `others`.
void add_parts(const Options& options, const io::NamedFile& out, const Files& others,
               Files& files) {
  if (out.path.empty()) return;
  files.push_back({out.option, part_name(out.path, 0, options.split_digits)});
  for (const io::NamedFile& other : others) {
    std::error_code ignored;
    const auto name = std::filesystem::weakly_canonical(other.path, ignored).filename().string();
    std::size_t n = 0;
    std::from_chars(name.data(), name.data() + name.size(), n);
    if (n < 2 || (options.split_files > 0 && n > static_cast<std::size_t>(options.split_files)))
      continue;
    const std::string part = part_name(out.path, n - 1, options.split_digits);
    if (std::filesystem::path(part).filename() == name) files.push_back({out.option, part});
  }
}

}  // namespace

void check_output_names(const Options& options) {
  const Files inputs{{"--in1", options.in1},
                     {"--in2", options.in2},
                     {"--adapter_fasta", options.adapter_fasta},
                     {"--filter_by_index1", options.index_file1},
                     {"--filter_by_index2", options.index_file2}};
  Files outputs = outputs_of(options);
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
