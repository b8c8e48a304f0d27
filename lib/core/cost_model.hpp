#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

// What --device auto decides by: the seconds that a run would take on the CPU and on a GPU.
// docs/design/auto-device.md has the formulas and where the default rates come from.
namespace biogpu::cost {

// Kinds of work whose rates differ.
enum class Task : std::uint8_t {
  align_score,   // units: cells
  align_rows,    // cells of alignments with ends, statistics or paths
  align_search,  // cells
  kmer_count,    // letters and qualities: bytes of text
  bwt_sort,      // letters
  bwt_search,    // bytes of queries
  qc_plain,      // bytes of text
  qc_gzip,       // bytes of text, where the output is compressed
  infer,         // bytes of weights times tokens
  design,        // sequences
};
inline constexpr std::size_t kTasks = 10;
std::string_view name_of(Task task);

// Of one task, a second.
struct Rates {
  double cpu_read = 0;  // bytes that reading gives out in a run on the CPU, all files together
  double gpu_read = 0;  // the same in a run on a GPU
  double cpu = 0;       // units that one thread of the CPU works off
  double host = 0;      // bytes that one thread prepares and formats in a run on a GPU
  double transfer = 0;  // bytes copied to a device, with what comes back
  double device = 0;    // units that the kernels of one device work off
};
struct RateName {
  std::string_view name;
  double Rates::*rate;
};
inline constexpr std::array<RateName, 6> kRateNames{{{"cpu_read", &Rates::cpu_read},
                                                     {"gpu_read", &Rates::gpu_read},
                                                     {"cpu", &Rates::cpu},
                                                     {"host", &Rates::host},
                                                     {"transfer", &Rates::transfer},
                                                     {"device", &Rates::device}}};

// The rates of a machine.
struct Machine {
  double start_s = 0;  // of a device: driver, context, first kernel
  std::array<Rates, kTasks> rates;

  const Rates& of(Task task) const { return rates[static_cast<std::size_t>(task)]; }
  Rates& of(Task task) { return rates[static_cast<std::size_t>(task)]; }
};

// Rates measured on a host of 16 cores with one H100 or H200.
const Machine& default_machine();

// A run before it begins.
struct Work {
  Task task = Task::align_score;
  double bytes = 0;     // read and handed on, of text
  double units = 0;     // what Task says
  double inflated = 0;  // of the bytes, those that one thread decompresses
  int n_threads = 1;
};

// Seconds, and what each of the two is limited by: "reading", "computing", "the start", ...
struct Prediction {
  double cpu_s = 0;
  double gpu_s = 0;
  std::string_view cpu_limit;
  std::string_view gpu_limit;

  // A GPU has to be faster by more than the prediction can tell.
  bool takes_gpu() const { return gpu_s < kClearly * cpu_s; }
  static constexpr double kClearly = 0.95;
};
Prediction predict(const Machine& machine, const Work& work);

// What a run was seen to do; 0: not measured.
struct Observed {
  Work work;
  bool on_gpu = false;
  double read_s = 0;      // busy seconds of reading, by the number of its threads
  double workers_s = 0;   // busy seconds of the workers, summed, without those of devices
  double transfer_s = 0;  // of the devices
  double device_s = 0;
  double start_s = 0;
};
// Moves the rates half way to what was seen, those that took long enough to tell; the rate of
// reading of the other kind of run moves half as far. False where none did.
bool learn(Machine& machine, const Observed& seen);

// Whether a rate, or the seconds of a start, may be one.
bool is_plausible(double value);

}  // namespace biogpu::cost
