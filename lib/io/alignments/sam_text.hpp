#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "lib/io/alignments/sam_writer.hpp"

namespace biogpu::io::output {

using Targets = std::span<const std::pair<std::string, std::uint64_t>>;

// SamLetters as a table.
class SeqLetters {
 public:
  explicit SeqLetters(const SamLetters& letters);

  void append(std::string& text, std::string_view residues) const;

 private:
  std::array<char, 256> table_{};
};

// Throws Error{bad_input} where a target's name is empty, repeated, or one that SAM cannot hold.
// label: the file of the targets.
void check_target_names(const std::string& label, Targets targets);

// The @HD, @SQ and @PG lines, without the targets that have no residues. Throws what
// check_target_names() does.
std::string sam_header(const std::string& label, Targets targets, const std::string& program_line);

// Throws Error{bad_input}, with label in front, where SAM cannot hold the name of a read.
void check_query_name(const std::string& label, std::string_view name);

// Appends the line of one record, with its line feed.
void append_sam_line(std::string& text, const SamRecord& record, Targets targets,
                     const SeqLetters& letters);

}  // namespace biogpu::io::output
