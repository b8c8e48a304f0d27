#pragma once

#include <array>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

// What --device auto decides by: the seconds that a run would take on the CPU and on a GPU.
// docs/design/auto-device.md has the formulas. Knows no command: those have their own tasks.
namespace biogpu::cost {

// Of one task, a second.
struct Rates {
  // Bytes that reading gives out in a run on the CPU, all files together: by kReaders threads where
  // the task's threads read, else by those that it has.
  double cpu_read = 0;
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

// How the parts of a run lie in time.
struct Shape {
  bool overlaps = true;           // reading goes on while the workers compute
  bool starts_beside = false;     // a device starts while the input is read
  bool cpu_works_beside = false;  // and the CPU computes until it has
  bool copies_to_each = false;    // what is read, such as weights, goes to each device
  bool threads_read = false;  // several threads read a file, as many as there are up to kReaders
};
inline constexpr int kReaders = 8;

// A kind of work whose rates are its own. Whoever has such work defines one, under a name of
// letters and '_' that no other has.
struct Task {
  std::string_view name;
  Shape shape;
  Rates defaults;
};

// The rates of a machine.
class Machine {
 public:
  double start_s = 0.27;  // of a device: driver, context, first kernel
  // Seconds for each further device, which starts at the same time: its context, and its end.
  static constexpr double kFurtherStart = 0.2;

  // What is known of the task, else its defaults.
  Rates of(const Task& task) const;
  void set(const Task& task, const Rates& rates);
  // By "task.rate", which may be of a task that this program has not.
  void set(std::string name, double value) { known_[std::move(name)] = value; }
  const std::map<std::string, double, std::less<>>& known() const { return known_; }

 private:
  std::map<std::string, double, std::less<>> known_;
};

// A run before it begins.
struct Work {
  const Task* task = nullptr;
  double bytes = 0;     // read and handed on, of text
  double units = 0;     // of what the task's rates count
  double inflated = 0;  // of the bytes, those that one thread decompresses
  int n_threads = 1;
};

// Seconds, and what each of the two is limited by: "reading", "computing", "the start", ...
struct Prediction {
  double cpu_s = 0;
  double gpu_s = 0;  // on one
  std::string_view cpu_limit;
  std::string_view gpu_limit;
  int n_gpus = 1;  // each of which shortens the run by more than the prediction can tell

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
