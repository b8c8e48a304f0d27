#include "apps/biogpu/infer/images/image_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <map>
#include <string_view>
#include <system_error>
#include <utility>

#include "lib/core/error.hpp"
#include "lib/io/line_reader.hpp"

namespace biogpu::app {
namespace {

constexpr std::array<std::string_view, 6> kSuffixes{".png", ".jpg",  ".jpeg",
                                                    ".tif", ".tiff", ".bmp"};

bool is_picture(const std::filesystem::path& path) {
  std::string suffix = path.extension().string();
  std::transform(suffix.begin(), suffix.end(), suffix.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return !path.filename().string().starts_with('.') &&
         std::find(kSuffixes.begin(), kSuffixes.end(), suffix) != kSuffixes.end();
}

std::string stem_of(const std::string& path) {
  return path == "-" ? "stdin" : std::filesystem::path(path).stem().string();
}

// Not standard input or another pipe.
bool can_be_read_again(const std::string& path) {
  std::error_code ignored;
  return path != "-" && std::filesystem::is_regular_file(path, ignored);
}

}  // namespace

std::vector<std::string> find_images(const std::vector<std::string>& inputs,
                                     const std::string& list) {
  std::vector<std::string> paths;
  for (const std::string& input : inputs) {
    if (!std::filesystem::is_directory(input)) {
      paths.push_back(input);
      continue;
    }
    std::vector<std::string> found;
    for (const auto& file : std::filesystem::directory_iterator(input))
      if (is_picture(file.path())) found.push_back(file.path().string());
    if (found.empty())
      throw Error(ErrorCode::bad_input,
                  input + ": holds no picture; expected .png, .jpg, .jpeg, .tif, .tiff or .bmp");
    std::sort(found.begin(), found.end());
    paths.insert(paths.end(), found.begin(), found.end());
  }
  if (!list.empty()) {
    io::LineReader lines(list, "names of pictures, one a line");
    for (std::string line; lines.next(line);)
      if (!line.empty()) paths.push_back(line);
  } else if (paths.empty()) {
    throw Error(ErrorCode::usage, "no picture is given; see --help");
  }
  return paths;
}

void require_own_stems(const std::vector<std::string>& paths, const std::string& folder) {
  std::map<std::string, std::string> seen;
  for (const std::string& path : paths) {
    const auto [other, is_new] = seen.emplace(stem_of(path), path);
    if (!is_new)
      throw Error(ErrorCode::usage,
                  fmt::format("{} and {} would have one name in {}; give them other names",
                              other->second, path, folder));
  }
}

ImageSource::ImageSource(std::vector<std::string> paths, const io::Shard& shard, io::BadRecords bad)
    : paths_(std::move(paths)), bad_(bad), range_{0, std::numeric_limits<std::uint64_t>::max()} {
  if (!shard.is_whole()) count_pages(shard);
}

// A file that cannot be read counts as one page.
void ImageSource::count_pages(const io::Shard& shard) {
  std::uint64_t n_pages = 0;
  for (const std::string& path : paths_) {
    io::require_file_for_shard(path);
    try {
      n_pages += io::images::ImageFile(path).n_pages();
    } catch (const Error& error) {
      if (error.code() != ErrorCode::bad_input) throw;
      ++n_pages;
    }
  }
  range_ = io::shard_range(shard, n_pages);
}

// False at the end of the files.
bool ImageSource::open_next() {
  while (next_path_ < paths_.size()) {
    const std::string& path = paths_[next_path_++];
    try {
      file_.emplace(path);
      next_page_ = 0;
      files_.push_back(input_file(path, file_->n_pages()));
      return true;
    } catch (const Error& error) {
      const std::uint64_t number = next_number_++;
      if (number < range_.begin) continue;
      if (number >= range_.end) return false;
      if (bad_ == io::BadRecords::refuse || error.code() != ErrorCode::bad_input) throw;
      leave_out(error.what());
    }
  }
  return false;
}

bool ImageSource::next(ImageItem& item) {
  while (next_number_ < range_.end) {
    if (!file_ && !open_next()) return false;
    const std::uint32_t page = next_page_++;
    const bool is_last = next_page_ == file_->n_pages(), has_pages = file_->n_pages() > 1;
    const std::uint64_t number = next_number_++;
    const std::string& path = paths_[next_path_ - 1];
    if (number >= range_.begin) {
      try {
        item.original = file_->page(page);
        item.image = models::molscribe::prepare_image(item.original, input_size_);
        if (!keeps_original_ || can_be_read_again(path)) item.original = {};
        item.path = path;
        item.page = page;
        item.key = has_pages ? fmt::format("{}#{}", path, page + 1) : path;
        item.stem = has_pages ? fmt::format("{}.{}", stem_of(path), page + 1) : stem_of(path);
        if (is_last) file_.reset();
        return true;
      } catch (const Error& error) {
        if (bad_ == io::BadRecords::refuse || error.code() != ErrorCode::bad_input) throw;
        leave_out(error.what());
      }
    }
    if (is_last) file_.reset();
  }
  return false;
}

io::images::Image OriginalReader::read(const ImageItem& item) {
  if (item.original.width > 0) return item.original;
  if (!file_ || path_ != item.path) file_.emplace(item.path);
  path_ = item.path;
  return file_->page(item.page);
}

}  // namespace biogpu::app
