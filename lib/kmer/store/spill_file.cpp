#include "lib/kmer/store/spill_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "lib/core/error.hpp"

namespace biogpu::kmer {

SpillFile::~SpillFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

void SpillFile::open() {
  descriptor_ = ::open(folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor_ >= 0) return;
  // Not every file system has unnamed files.
  std::string name = folder_ + "/biogpu-XXXXXX";
  descriptor_ = mkostemp(name.data(), O_CLOEXEC);
  if (descriptor_ < 0) fail("no temporary file can be made here");
  unlink(name.c_str());
}

std::uint64_t SpillFile::append(const void* bytes, std::size_t n) {
  if (descriptor_ < 0) open();
  const std::uint64_t offset = end_;
  const auto* from = static_cast<const char*>(bytes);
  for (std::size_t done = 0; done < n;) {
    const ssize_t wrote =
        pwrite(descriptor_, from + done, n - done, static_cast<off_t>(offset + done));
    if (wrote >= 0)
      done += static_cast<std::size_t>(wrote);
    else if (errno != EINTR)
      fail("bins cannot be written");
  }
  end_ += n;
  return offset;
}

void SpillFile::read(std::uint64_t offset, void* bytes, std::size_t n) const {
  auto* to = static_cast<char*>(bytes);
  for (std::size_t done = 0; done < n;) {
    const ssize_t got = pread(descriptor_, to + done, n - done, static_cast<off_t>(offset + done));
    if (got > 0)
      done += static_cast<std::size_t>(got);
    else if (got == 0 || errno != EINTR)
      fail("bins cannot be read back");
  }
}

void SpillFile::fail(const char* what) const {
  throw Error(ErrorCode::failed,
              fmt::format("{}: {}: {}; use another --tmp-dir or a larger --max-memory", folder_,
                          what, std::generic_category().message(errno)));
}

}  // namespace biogpu::kmer
