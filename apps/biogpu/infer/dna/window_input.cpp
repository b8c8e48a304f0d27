#include "apps/biogpu/infer/dna/window_input.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace biogpu::app {

void WindowInput::open(std::unique_ptr<tasks::WindowSource> source, std::uint8_t unknown) {
  source_ = std::move(source);
  unknown_ = unknown;
}

bool WindowInput::read(std::size_t slot) {
  Batch& batch = batches_[slot];
  batch = {};
  tasks::InputWindow window;
  while (batch.windows.size() < n_per_batch_ && source_->next(window)) {
    if (check_) check_(window);
    if (skip(1) > 0) continue;
    std::replace(window.codes.begin(), window.codes.end(), genome::kUnknownLetter, unknown_);
    batch.windows.letters.insert(batch.windows.letters.end(), window.codes.begin(),
                                 window.codes.end());
    batch.windows.keys.push_back(std::move(window.key));
    batch.places.push_back(std::move(window.place));
    if (source_->contigs().empty()) continue;
    batch.positions.push_back(
        {window.contig, window.begin, window.wanted_begin, window.wanted_end});
  }
  return batch.windows.size() > 0;
}

std::vector<report::InputFile> WindowInput::files() const {
  std::vector<report::InputFile> files;
  for (const tasks::WindowSource::File& file : source_->files()) {
    std::error_code error;
    const auto bytes = std::filesystem::file_size(file.path, error);
    files.push_back({file.path, error ? 0 : bytes, file.n_windows});
  }
  return files;
}

}  // namespace biogpu::app
