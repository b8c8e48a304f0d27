#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "lib/io/input/block_source.hpp"
#include "lib/io/input/gzip.hpp"
#include "lib/io/input/raw_file.hpp"

namespace biogpu::io::input {

// The size of the BGZF block whose first bytes these are: 0 when they are too few to tell, -1 when
// this is no BGZF block. Format: SAM/BAM specification, section 4.1.
int bgzf_block_bytes(std::string_view head);

// What is said of a BGZF file without its last, empty block.
inline constexpr std::string_view kNoEndMarker =
    "ends without BGZF's end marker; the file may be cut short";

// BGZF: gzip members of at most 64 KiB of text that carry their own size, so that groups of them
// can be inflated in parallel (libdeflate). A file may go on with gzip members of any other kind.
//
// Without the empty block that ends a BGZF file it may have been cut at a block's edge. Formats
// whose writers never leave it out (BAM) require it. Of text it is a warning where the last line is
// whole: some writers (bcl2fastq) leave it out, and a cut inside a block or a line is an error all
// the same.
enum class EndMarker { required, expected };

class BgzfProducer : public BlockProducer {
 public:
  explicit BgzfProducer(RawFile& file, EndMarker end_marker = EndMarker::expected);

  bool take(Block& block) override;
  void finish(Block& block) override;

 private:
  std::string_view unread() const { return input_.view().substr(begin_); }
  bool refill();
  void check_end_marker();
  [[noreturn]] void fail(const std::string& what) const;

  RawFile& file_;
  const EndMarker end_marker_;
  CharBuffer input_;
  std::size_t begin_ = 0;  // of what is unread in input_
  bool saw_end_marker_ = false;
  std::string last_block_;              // the last that has text
  std::unique_ptr<GzipProducer> gzip_;  // for what follows the last BGZF block
};

}  // namespace biogpu::io::input
