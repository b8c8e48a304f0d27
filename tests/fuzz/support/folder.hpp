#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/fuzz/support/memory_file.hpp"

namespace biogpu::fuzz {

// A folder in memory where there is one, for readers that take a folder or refuse links.
class Folder {
 public:
  Folder() {
    const std::filesystem::path shared = "/dev/shm";
    std::error_code error;
    const auto parent = std::filesystem::is_directory(shared, error)
                            ? shared
                            : std::filesystem::temp_directory_path();
    std::string name = (parent / "biogpu-fuzz-XXXXXX").string();
    require(mkdtemp(name.data()) != nullptr, "mkdtemp");
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::string& path() const { return path_; }
  std::string write(const std::string& name, const std::uint8_t* bytes, std::size_t n) const {
    std::string path = path_ + "/" + name;
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes), static_cast<std::streamsize>(n));
    return path;
  }

 private:
  std::string path_;
};

}  // namespace biogpu::fuzz
