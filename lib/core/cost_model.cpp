#include "lib/core/cost_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace biogpu::cost {
namespace {

// What the end of a process with a device takes, as a share of its start: no run sees it of itself.
constexpr double kEndShare = 0.4;
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

std::string full_name(const Task& task, const RateName& rate) {
  return fmt::format("{}.{}", task.name, rate.name);
}

// Of what kReaders threads read in a second, what these do.
double share_of_readers(const Task& task, int n_threads) {
  if (!task.shape.threads_read) return 1;
  return static_cast<double>(std::clamp(n_threads, 1, kReaders)) / kReaders;
}

constexpr int kMaxGpus = 256;  // the numbers that --device takes
constexpr double kMinValue = 1e-6;
constexpr double kMaxValue = 1e18;

}  // namespace

bool is_plausible(double value) {
  return std::isfinite(value) && value >= kMinValue && value <= kMaxValue;
}

Rates Machine::of(const Task& task) const {
  Rates rates = task.defaults;
  for (const RateName& rate : kRateNames) {
    const auto found = known_.find(full_name(task, rate));
    if (found != known_.end()) rates.*rate.rate = found->second;
  }
  return rates;
}

void Machine::set(const Task& task, const Rates& rates) {
  for (const RateName& rate : kRateNames) known_[full_name(task, rate)] = rates.*rate.rate;
}

namespace {

struct GpuSeconds {
  double seconds = 0;
  std::string_view limit;
};

// The kernels of a run are shared evenly by n_gpus devices, and its copies where each has its own.
GpuSeconds predict_gpu(const Machine& machine, const Work& work, double cpu_s, int n_gpus) {
  const Shape& shape = work.task->shape;
  const Rates rates = machine.of(*work.task);
  const double readers = share_of_readers(*work.task, work.n_threads);
  const double start_s = machine.start_s + (n_gpus - 1) * Machine::kFurtherStart;
  Stages gpu(shape.overlaps);
  double read_s = std::max(work.bytes / (rates.gpu_read * readers), work.inflated / kInflateRate);
  const bool start_decides = shape.starts_beside && !shape.overlaps && start_s > read_s;
  if (start_decides) read_s = start_s;
  gpu.add(start_decides ? "the start of a device" : "reading", read_s);
  gpu.add("preparing and formatting", work.bytes / (rates.host * std::max(1, work.n_threads)));
  const double copy_s = work.bytes / rates.transfer / (shape.copies_to_each ? 1 : n_gpus);
  gpu.add("copies and kernels", copy_s + work.units / rates.device / n_gpus);

  GpuSeconds result{gpu.seconds, gpu.limit};
  if (shape.cpu_works_beside) {
    // What the CPU does until the device is there is not left to it.
    const double left = std::max(0.0, 1 - start_s / std::max(1e-9, cpu_s));
    result.seconds = std::min(start_s, cpu_s) + left * gpu.seconds;
  } else if (!shape.starts_beside) {
    result.seconds += start_s;
    if (start_s > gpu.longest) result.limit = "the start of a device";
  }
  result.seconds += kEndShare * machine.start_s;
  return result;
}

}  // namespace

Prediction predict(const Machine& machine, const Work& work) {
  const Rates rates = machine.of(*work.task);
  const double readers = share_of_readers(*work.task, work.n_threads);
  Stages cpu(work.task->shape.overlaps);
  cpu.add("reading",
          std::max(work.bytes / (rates.cpu_read * readers), work.inflated / kInflateRate));
  cpu.add("computing", work.units / (rates.cpu * std::max(1, work.n_threads)));

  const GpuSeconds gpu = predict_gpu(machine, work, cpu.seconds, 1);
  Prediction result{cpu.seconds, gpu.seconds, cpu.limit, gpu.limit};
  for (double before = gpu.seconds; result.n_gpus < kMaxGpus; ++result.n_gpus) {
    const double with_one_more = predict_gpu(machine, work, cpu.seconds, result.n_gpus + 1).seconds;
    if (!(with_one_more < Prediction::kClearly * before)) break;
    before = with_one_more;
  }
  return result;
}

bool learn(Machine& machine, const Observed& seen) {
  constexpr double kMinSeconds = 0.05;
  bool changed = false;
  const auto blend = [&](double& value, double measured) {
    if (!is_plausible(measured)) return;
    value = std::sqrt(value * measured);
    changed = true;
  };
  const auto learn_rate = [&](double& rate, double amount, double seconds) {
    if (amount > 0 && seconds >= kMinSeconds) blend(rate, amount / seconds);
  };
  const Task& task = *seen.work.task;
  Rates rates = machine.of(task);
  // The speed of a decompressor says nothing of plain text.
  if (seen.work.inflated == 0) {
    double& own = seen.on_gpu ? rates.gpu_read : rates.cpu_read;
    double& other = seen.on_gpu ? rates.cpu_read : rates.gpu_read;
    const double before = own;
    learn_rate(own, seen.work.bytes / share_of_readers(task, seen.work.n_threads), seen.read_s);
    // Both read alike, and where `auto` never takes one of them nothing else tells of it.
    const double moved = other * std::sqrt(own / before);
    if (is_plausible(moved)) other = moved;
  }
  if (seen.on_gpu) {
    learn_rate(rates.host, seen.work.bytes, seen.workers_s);
    learn_rate(rates.transfer, seen.work.bytes, seen.transfer_s);
    learn_rate(rates.device, seen.work.units, seen.device_s);
  } else {
    learn_rate(rates.cpu, seen.work.units, seen.workers_s);
  }
  if (changed) machine.set(task, rates);
  if (seen.on_gpu && seen.start_s > 0) blend(machine.start_s, seen.start_s);
  return changed;
}

}  // namespace biogpu::cost
