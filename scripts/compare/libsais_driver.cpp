// Suffix array and transform of texts in memory, by libsais and by biogpu in turns.
//
//   libsais_driver LETTERS THREADS REPEATS [random | hard | none] [NAME=FILE...]
//
// Texts are made here, or are the bytes of the files. The results of both are compared first; a
// line of JSON for each text tells the seconds of every run and its CPU seconds. Both begin with
// one byte a letter, and the memory of their results is new in every run. On a machine that others
// use too: OMP_WAIT_POLICY=passive.
#include <libsais.h>
#include <time.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "lib/bwt/suffix/suffix_array.hpp"
#include "lib/bwt/transform.hpp"
#include "lib/core/big_array.hpp"
#include "tests/unit/bwt/texts.hpp"

using namespace biogpu;

namespace {

struct Runs {
  std::vector<double> wall_s;
  std::vector<double> cpu_s;  // of all threads
};

double cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

template <class Job>
void timed(Runs& runs, const Job& job) {
  const auto begin = std::chrono::steady_clock::now();
  const double cpu_begin = cpu_seconds();
  job();
  runs.cpu_s.push_back(cpu_seconds() - cpu_begin);
  runs.wall_s.push_back(
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
}

std::string list(const char* name, const std::vector<double>& seconds) {
  std::string text = std::string("\"") + name + "\": [";
  for (std::size_t i = 0; i < seconds.size(); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(seconds[i]);
  return text + "]";
}

std::string json_of(const char* name, const Runs& runs) {
  return std::string(", \"") + name + "\": {" + list("wall_s", runs.wall_s) + ", " +
         list("cpu_s", runs.cpu_s) + "}";
}

const std::uint8_t* bytes_of(const std::string& text) {
  return reinterpret_cast<const std::uint8_t*>(text.data());
}

// False where the two disagree.
bool measure(const std::string& name, const std::string& letters, int n_threads, int repeats) {
  const auto n = static_cast<std::int32_t>(letters.size());
  Runs our_sa, their_sa, our_bwt, their_bwt;
  for (int i = 0; i < repeats; ++i) {
    BigArray<std::int32_t> theirs(letters.size());
    BigArray<std::uint32_t> ours;
    timed(their_sa,
          [&] { libsais_omp(bytes_of(letters), theirs.data(), n, 0, nullptr, n_threads); });
    timed(our_sa, [&] { ours = bwt::suffix_array_of(letters, n_threads); });
    if (i == 0 && !std::equal(ours.begin(), ours.end(), theirs.begin())) return false;
  }
  for (int i = 0; i < repeats; ++i) {
    BigArray<std::int32_t> room(letters.size());
    BigArray<std::uint8_t> theirs(letters.size());
    bwt::ByteBwt ours;
    std::int32_t primary = 0;
    timed(their_bwt, [&] {
      primary =
          libsais_bwt_omp(bytes_of(letters), theirs.data(), room.data(), n, 0, nullptr, n_threads);
    });
    timed(our_bwt, [&] { ours = bwt::transform_bytes(letters, {n_threads}); });
    if (i == 0 && (ours.primary != static_cast<std::uint64_t>(primary) ||
                   !std::equal(theirs.begin(), theirs.end(), bytes_of(ours.bytes))))
      return false;
  }
  std::printf("{\"text\": \"%s\", \"letters\": %d, \"threads\": %d%s%s%s%s}\n", name.c_str(), n,
              n_threads, json_of("biogpu_sa", our_sa).c_str(),
              json_of("libsais_sa", their_sa).c_str(), json_of("biogpu_bwt", our_bwt).c_str(),
              json_of("libsais_bwt", their_bwt).c_str());
  std::fflush(stdout);
  return true;
}

std::string bytes_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(file), {});
  if (!file || bytes.empty() || bytes.size() > std::numeric_limits<std::int32_t>::max()) return {};
  return bytes;
}

// False where the results differ, or there is no text.
bool measure_or_say(const std::string& name, const std::string& letters, int n_threads,
                    int repeats) {
  if (!letters.empty() && measure(name, letters, n_threads, repeats)) return true;
  std::fprintf(stderr, "libsais_driver: %s: %s\n", name.c_str(),
               letters.empty() ? "no text of 1 to 2^31 - 1 bytes" : "the results differ");
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const std::size_t n = std::strtoull(argv[1], nullptr, 10);
  const int n_threads = std::atoi(argv[2]);
  const int repeats = std::atoi(argv[3]);
  const std::string made = argc > 4 ? argv[4] : "random";
  std::vector<std::pair<std::string, std::string>> texts;
  if (made != "none") texts.emplace_back("random", test::random_text(1, n, "ACGT"));
  if (made == "hard")
    for (auto& text : test::hard_texts(n)) texts.push_back(std::move(text));
  for (const auto& [name, letters] : texts)
    if (!measure_or_say(name, letters, n_threads, repeats)) return 1;
  for (int i = 5; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::size_t equals = argument.find('=');
    if (equals == std::string::npos) return 2;
    const std::string letters = bytes_of_file(argument.substr(equals + 1));
    if (!measure_or_say(argument.substr(0, equals), letters, n_threads, repeats)) return 1;
  }
}
