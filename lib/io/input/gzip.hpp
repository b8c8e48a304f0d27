#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "lib/io/input/block_source.hpp"
#include "lib/io/input/raw_file.hpp"

namespace biogpu::io::input {

// Gzip of one or more members, inflated serially by ISA-L. Zero bytes after the last member are
// padding and ignored, as gzip does; anything else there is an error.
class GzipProducer : public BlockProducer {
 public:
  // unread: bytes of file that were read already and come first.
  GzipProducer(RawFile& file, std::string_view unread);
  ~GzipProducer() override;

  bool take(Block& block) override;
  void finish(Block&) override {}

 private:
  struct Inflater;
  bool begin_member();
  bool refill();
  [[noreturn]] void fail(const std::string& what) const;

  RawFile& file_;
  CharBuffer input_;
  std::unique_ptr<Inflater> inflater_;
  std::uint64_t n_members_ = 0;
  bool in_member_ = false;
};

// Up to max_bytes of the text that a gzip file with this beginning starts with; empty when it
// cannot be told.
std::string inflate_head(std::string_view head, std::size_t max_bytes);

}  // namespace biogpu::io::input
