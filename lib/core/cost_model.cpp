#include "lib/core/cost_model.hpp"

#include <algorithm>
#include <cmath>

namespace biogpu::cost {
namespace {

// How the parts of a run lie in time.
struct Shape {
  std::string_view name;
  bool overlaps = true;           // reading goes on while the workers compute
  bool starts_beside = false;     // a device starts while the input is read
  bool cpu_works_beside = false;  // and the CPU computes until it has
};
constexpr std::array<Shape, kTasks> kShapes{{{"align_score"},
                                             {"align_rows"},
                                             {"align_search"},
                                             {"kmer_count", false, true},
                                             {"bwt_sort", false, true},
                                             {"bwt_search"},
                                             {"qc_plain", true, true, true},
                                             {"qc_gzip", true, true, true},
                                             {"infer", false},
                                             {"design", false}}};

// Text that one thread inflates in a second.
constexpr double kInflateRate = 0.35e9;

// The longest of several stages that run at once, or their sum.
struct Stages {
  explicit Stages(bool at_once) : overlaps(at_once) {}

  const bool overlaps;
  double seconds = 0;
  double longest = -1;
  std::string_view limit;

  void add(std::string_view name, double more) {
    seconds = overlaps ? std::max(seconds, more) : seconds + more;
    if (more > longest) {
      longest = more;
      limit = name;
    }
  }
};

constexpr double kLeastValue = 1e-6;
constexpr double kGreatestValue = 1e18;

}  // namespace

std::string_view name_of(Task task) { return kShapes[static_cast<std::size_t>(task)].name; }

bool is_plausible(double value) {
  return std::isfinite(value) && value >= kLeastValue && value <= kGreatestValue;
}

const Machine& default_machine() {
  static const Machine machine = [] {
    Machine all;
    all.start_s = 0.37;
    all.of(Task::align_score) = {1.17e9, 0.65e9, 1.6e10, 0.56e9, 4e9, 3e12};
    all.of(Task::align_rows) = {1.17e9, 0.54e9, 3.7e9, 0.5e9, 2e9, 1e12};
    all.of(Task::align_search) = {1e9, 1e9, 1.2e10, 1e9, 4e9, 6e12};
    all.of(Task::kmer_count) = {1e10, 1e10, 0.8e8, 2e8, 2e10, 1e10};
    all.of(Task::bwt_sort) = {1e10, 1e10, 1.2e7, 2.05e7, 1e10, 1e10};
    all.of(Task::bwt_search) = {1.5e9, 1.5e9, 1.5e8, 4e8, 1e10, 1e10};
    all.of(Task::qc_plain) = {2.2e9, 2.2e9, 4e8, 1.2e9, 1e10, 1e10};
    all.of(Task::qc_gzip) = {2.2e9, 2.2e9, 5.2e7, 5.6e7, 1e10, 1e10};
    all.of(Task::infer) = {1e10, 1e10, 1e11, 1e10, 3e9, 4e14};
    all.of(Task::design) = {1e10, 1e10, 20, 1e10, 3e9, 2000};
    return all;
  }();
  return machine;
}

Prediction predict(const Machine& machine, const Work& work) {
  const Shape& shape = kShapes[static_cast<std::size_t>(work.task)];
  const Rates& rates = machine.of(work.task);
  const double n_threads = std::max(1, work.n_threads);
  const double inflate_s = work.inflated / kInflateRate;

  Stages cpu(shape.overlaps);
  cpu.add("reading", std::max(work.bytes / rates.cpu_read, inflate_s));
  cpu.add("computing", work.units / (rates.cpu * n_threads));

  Stages gpu(shape.overlaps);
  double read_s = std::max(work.bytes / rates.gpu_read, inflate_s);
  const bool start_decides = shape.starts_beside && !shape.overlaps && machine.start_s > read_s;
  if (start_decides) read_s = machine.start_s;
  gpu.add(start_decides ? "the start of a device" : "reading", read_s);
  gpu.add("preparing and formatting", work.bytes / (rates.host * n_threads));
  gpu.add("copies and kernels", work.bytes / rates.transfer + work.units / rates.device);

  Prediction result{cpu.seconds, gpu.seconds, cpu.limit, gpu.limit};
  if (shape.cpu_works_beside) {
    // What the CPU does until the device is there is not left to it.
    const double left = std::max(0.0, 1 - machine.start_s / std::max(1e-9, cpu.seconds));
    result.gpu_s = std::min(machine.start_s, cpu.seconds) + left * gpu.seconds;
  } else if (!shape.starts_beside) {
    result.gpu_s += machine.start_s;
    if (machine.start_s > gpu.longest) result.gpu_limit = "the start of a device";
  }
  return result;
}

bool learn(Machine& machine, const Observed& seen) {
  constexpr double kLeastSeconds = 0.05;
  bool changed = false;
  const auto blend = [&](double& value, double measured) {
    if (!is_plausible(measured)) return;
    value = std::sqrt(value * measured);
    changed = true;
  };
  const auto learn_rate = [&](double& rate, double amount, double seconds) {
    if (amount > 0 && seconds >= kLeastSeconds) blend(rate, amount / seconds);
  };
  Rates& rates = machine.of(seen.work.task);
  // The speed of a decompressor says nothing of plain text.
  if (seen.work.inflated == 0) {
    double& own = seen.on_gpu ? rates.gpu_read : rates.cpu_read;
    double& other = seen.on_gpu ? rates.cpu_read : rates.gpu_read;
    const double before = own;
    learn_rate(own, seen.work.bytes, seen.read_s);
    // Both read alike, and where `auto` never takes one of them nothing else tells of it.
    const double moved = other * std::sqrt(own / before);
    if (is_plausible(moved)) other = moved;
  }
  if (!seen.on_gpu) {
    learn_rate(rates.cpu, seen.work.units, seen.workers_s);
    return changed;
  }
  learn_rate(rates.host, seen.work.bytes, seen.workers_s);
  learn_rate(rates.transfer, seen.work.bytes, seen.transfer_s);
  learn_rate(rates.device, seen.work.units, seen.device_s);
  if (seen.start_s > 0) blend(machine.start_s, seen.start_s);
  return changed;
}

}  // namespace biogpu::cost
