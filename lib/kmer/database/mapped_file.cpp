#include "lib/kmer/database/mapped_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "lib/core/error.hpp"

namespace biogpu::kmer {

MappedFile::MappedFile(const std::string& path) {
  const auto fail = [&](const char* what, int error) {
    throw Error(ErrorCode::failed,
                fmt::format("{}: {}: {}", path, what, std::generic_category().message(error)));
  };
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail("cannot be opened", errno);
  struct stat status {};
  const bool regular = fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
  if (!regular) {
    close(descriptor);
    throw Error(ErrorCode::failed, fmt::format("{}: is no regular file; look-ups need one", path));
  }
  size_ = static_cast<std::size_t>(status.st_size);
  if (size_ > 0) {
    data_ = mmap(nullptr, size_, PROT_READ, MAP_SHARED, descriptor, 0);
    const int error = errno;
    if (data_ == MAP_FAILED) {
      data_ = nullptr;
      close(descriptor);
      fail("cannot be mapped", error);
    }
  }
  close(descriptor);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(data_, size_);
}

}  // namespace biogpu::kmer
