#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/biogpu/infer/run/item_input.hpp"
#include "lib/io/images/image_file.hpp"
#include "lib/models/molscribe/preprocess.hpp"

namespace biogpu::app {

// A page of a file, prepared for the network.
struct ImageItem {
  std::string path;
  std::uint32_t page = 0;  // from 0
  std::string key;         // the path, of several pages with "#2"
  std::string stem;        // of files that are named after it
  models::molscribe::PreparedImage image;
  io::images::Image original;  // of a pipe, where it is wanted: OriginalReader
};

// The pages of picture files, in order; of the shard alone.
class ImageSource : public ItemSource<ImageItem> {
 public:
  ImageSource(std::vector<std::string> paths, const io::Shard& shard, io::BadRecords bad);

  // Before the first next(): size of the network's input, and whether originals are wanted.
  void prepare_for(std::int64_t input_size, bool keeps_original) {
    input_size_ = input_size;
    keeps_original_ = keeps_original;
  }
  bool next(ImageItem& item) override;
  std::vector<report::InputFile> files() const override { return files_; }

 private:
  bool open_next();
  void count_pages(const io::Shard& shard);

  const std::vector<std::string> paths_;
  const io::BadRecords bad_;
  std::int64_t input_size_ = 0;
  bool keeps_original_ = false;
  io::RecordRange range_;
  std::size_t next_path_ = 0;
  std::optional<io::images::ImageFile> file_;
  std::uint32_t next_page_ = 0;
  std::uint64_t next_number_ = 0;
  std::vector<report::InputFile> files_;
};

// Originals of items one after the other: a file is read again, so that a batch does not hold the
// pixels of all its pictures.
class OriginalReader {
 public:
  io::images::Image read(const ImageItem& item);

 private:
  std::string path_;
  std::optional<io::images::ImageFile> file_;
};

// Folders replaced by the pictures in them, sorted, and the names in a list added behind.
std::vector<std::string> find_images(const std::vector<std::string>& inputs,
                                     const std::string& list);

// Throws Error{usage} where two of the pictures would give outputs one name.
void require_own_stems(const std::vector<std::string>& paths, const std::string& folder);

}  // namespace biogpu::app
