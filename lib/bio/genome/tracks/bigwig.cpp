#include "lib/bio/genome/tracks/bigwig.hpp"

#include "lib/core/error.hpp"

#ifdef BIOGPU_HAS_BIGWIG

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <vector>

#include "lib/bio/genome/tracks/bigwig_library.hpp"
#include "lib/core/module.hpp"

namespace biogpu::genome {
namespace {

constexpr char kModule[] = "libbiogpu_bigwig.so";
constexpr std::int32_t kMaxZoomLevels = 10;
constexpr std::uint32_t kBigWigMagic = 0x888FFC26;
constexpr std::size_t kSummaryOffset = 44;  // where the header tells where the summary is
// A block of the file. Version 0.4.7 writes past its buffer of 32 KiB where one call fills it.
constexpr std::int64_t kBlockValues = 4096;

const BigWigLibrary& load_library(const std::string& label) {
  const auto fail = [&](const std::string& why) {
    return Error(ErrorCode::usage, fmt::format("{}: {}; write .bedgraph", label, why));
  };
  const auto path = find_module(kModule);
  if (path.empty()) throw fail(fmt::format("bigWig needs {}, which is not installed", kModule));
  std::string why;
  using Entry = const BigWigLibrary* (*)();
  const auto entry = reinterpret_cast<Entry>(open_module(path, "biogpu_bigwig_library", &why));
  if (entry == nullptr) throw fail("cannot load libBigWig: " + why);
  const BigWigLibrary* const library = entry();
  if (library == nullptr || library->interface != BigWigLibrary::kInterface)
    throw fail(path.string() + " is of another version of biogpu");
  return *library;
}

const BigWigLibrary& bigwig_library(const std::string& label) {
  static const BigWigLibrary& library = load_library(label);
  return library;
}

using BigWigHandle = std::unique_ptr<bigWigFile_t, decltype(&bwClose)>;

// The contigs that have values, sorted by name. Readers search names by bisection, and libBigWig
// looks for each of them among all: 70,000 without values took half a minute.
std::vector<const Contig*> contigs_in_file(std::span<const Contig> contigs,
                                           std::span<const SignalRun> runs) {
  std::vector<const Contig*> used;
  for (const SignalRun& run : runs)  // sorted by contig
    if (used.empty() || used.back() != &contigs[run.contig]) used.push_back(&contigs[run.contig]);
  if (used.empty() && !contigs.empty()) used.push_back(&contigs.front());  // no file has none
  std::sort(used.begin(), used.end(),
            [](const Contig* a, const Contig* b) { return a->name < b->name; });
  return used;
}

BigWigHandle open_bigwig(const BigWigLibrary& library, const io::output::AtomicFile& file,
                         const std::vector<const Contig*>& contigs) {
  const std::string path = fmt::format("/proc/self/fd/{}", file.descriptor());
  BigWigHandle handle(library.open(path.c_str(), nullptr, "w"), library.close);
  if (!handle) file.fail("cannot be written", errno != 0 ? errno : EIO);
  std::vector<const char*> names;
  std::vector<std::uint32_t> lengths;
  for (const Contig* contig : contigs) {
    names.push_back(contig->name.c_str());
    lengths.push_back(static_cast<std::uint32_t>(contig->length));
  }
  if (library.create_header(handle.get(), kMaxZoomLevels) != 0) throw std::bad_alloc();
  handle->cl = library.create_chromosomes(names.data(), lengths.data(), std::ssize(names));
  if (handle->cl == nullptr) throw std::bad_alloc();
  if (library.write_header(handle.get()) != 0)
    file.fail("cannot be written", errno != 0 ? errno : EIO);
  return handle;
}

std::uint64_t read_number(int descriptor, off_t offset, std::size_t n_bytes) {
  std::uint64_t value = 0;
  return pread(descriptor, &value, n_bytes, offset) == static_cast<ssize_t>(n_bytes) ? value : 0;
}

// libBigWig does not say whether closing a file went well: a whole one begins and ends with the
// format's magic number, and its summary counts all letters that have values.
bool is_whole(const std::string& path, std::uint64_t n_letters) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(fopen(path.c_str(), "rb"), fclose);
  if (!file || fseeko(file.get(), -4, SEEK_END) != 0) return false;
  const off_t size = ftello(file.get());
  const int descriptor = fileno(file.get());
  const auto summary = static_cast<off_t>(read_number(descriptor, kSummaryOffset, 8));
  return read_number(descriptor, 0, 4) == kBigWigMagic &&
         read_number(descriptor, size, 4) == kBigWigMagic && summary > 0 &&
         read_number(descriptor, summary, 8) == n_letters;
}

}  // namespace

bool has_bigwig() { return true; }

void check_bigwig(const io::output::AtomicFile& file, std::span<const Contig> contigs) {
  if (!file.is_regular())
    throw Error(ErrorCode::usage,
                file.label() + ": bigWig cannot be written to a pipe; expected a file");
  for (const Contig& contig : contigs)
    if (contig.length > std::numeric_limits<std::uint32_t>::max())
      throw Error(ErrorCode::usage,
                  fmt::format("{}: bigWig cannot hold the {} letters of {}; write .bedgraph",
                              file.label(), contig.length, contig.name));
  (void)bigwig_library(file.label());
}

void write_bigwig(const io::output::AtomicFile& file, std::span<const Contig> contigs,
                  std::span<const SignalRun> runs) {
  check_bigwig(file, contigs);
  const BigWigLibrary& library = bigwig_library(file.label());
  std::uint64_t n_letters = 0;
  errno = 0;
  {
    const BigWigHandle handle = open_bigwig(library, file, contigs_in_file(contigs, runs));
    std::vector<const SignalRun*> in_order;
    for (const SignalRun& run : runs) in_order.push_back(&run);
    std::stable_sort(in_order.begin(), in_order.end(), [&](const SignalRun* a, const SignalRun* b) {
      return contigs[a->contig].name < contigs[b->contig].name;
    });
    for (const SignalRun* const of_run : in_order) {
      const SignalRun& run = *of_run;
      n_letters += static_cast<std::uint64_t>(run.end() - run.begin);
      const auto bin = static_cast<std::uint32_t>(run.bin);
      for (std::int64_t at = 0; at < std::ssize(run.values); at += kBlockValues) {
        const std::int64_t n = std::min(kBlockValues, std::ssize(run.values) - at);
        if (library.add_values(handle.get(), contigs[run.contig].name.c_str(),
                               static_cast<std::uint32_t>(run.begin + at * run.bin), bin, bin,
                               run.values.data() + at, static_cast<std::uint32_t>(n)) != 0)
          file.fail("cannot be written", errno != 0 ? errno : EIO);
      }
    }
  }
  const int error = errno;
  if (!is_whole(fmt::format("/proc/self/fd/{}", file.descriptor()), n_letters))
    file.fail("cannot be written", error != 0 ? error : EIO);
}

}  // namespace biogpu::genome

#else

namespace biogpu::genome {

bool has_bigwig() { return false; }

void check_bigwig(const io::output::AtomicFile& file, std::span<const Contig>) {
  throw Error(ErrorCode::usage,
              file.label() + ": this build has no libBigWig; write .bedgraph, or build with it");
}

void write_bigwig(const io::output::AtomicFile& file, std::span<const Contig> contigs,
                  std::span<const SignalRun>) {
  check_bigwig(file, contigs);
}

}  // namespace biogpu::genome

#endif
