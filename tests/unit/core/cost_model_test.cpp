// What --device auto decides, from rates given.
#include "lib/core/cost_model.hpp"

#include <cmath>
#include <limits>

#include "apps/biogpu/run/cost_tasks.hpp"
#include "lib/core/auto_device.hpp"
#include "tests/support/catch.hpp"

using namespace biogpu;
using cost::Machine;
using cost::Task;
using cost::Work;
namespace works = biogpu::app::works;

namespace {

// Rates at which nothing costs anything, to be made worse one by one.
Machine fast_machine(const Task& task) {
  Machine machine;
  machine.set(task, {1e15, 1e15, 1e15, 1e15, 1e15, 1e15});
  machine.start_s = 0.001;
  return machine;
}

void change(Machine& machine, const Task& task, double cost::Rates::*rate, double value) {
  cost::Rates rates = machine.of(task);
  rates.*rate = value;
  machine.set(task, rates);
}

// 4 million pairs of 150 letters in two files of 643 MB.
Work pairs_of_150(const Task& task, int n_threads) { return {&task, 1.286e9, 9e10, 0, n_threads}; }

}  // namespace

TEST_CASE("core.cost_model: each rate can force each choice", "[core]") {
  for (const Task* const each : works::kAll) {
    const Task& task = *each;
    INFO(task.name);
    const Work work{&task, 1e9, 1e9, 0, 2};
    Machine slow_cpu = fast_machine(task);
    change(slow_cpu, task, &cost::Rates::cpu, 1e8);  // 5 s on 2 threads
    CHECK(cost::predict(slow_cpu, work).takes_gpu());
    CHECK(cost::predict(slow_cpu, work).cpu_limit == "computing");
    CHECK(decide_device(slow_cpu, work).worth_gpu);
    CHECK(decide_device(slow_cpu, work).reason == "found and worth its start");

    Machine slow_start = slow_cpu;
    slow_start.start_s = 6;
    CHECK_FALSE(cost::predict(slow_start, work).takes_gpu());
    CHECK(decide_device(slow_start, work).reason == "the input is too small to pay for a GPU");
    Machine slow_read = slow_cpu;
    change(slow_read, task, &cost::Rates::gpu_read, 1e8);
    CHECK_FALSE(cost::predict(slow_read, work).takes_gpu());
    CHECK(cost::predict(slow_read, work).gpu_limit == "reading");
    CHECK(decide_device(slow_read, work).reason == "no slower than a GPU: reading decides");
    Machine slow_host = slow_cpu;
    change(slow_host, task, &cost::Rates::host, 1e8);
    CHECK_FALSE(cost::predict(slow_host, work).takes_gpu());
    CHECK(cost::predict(slow_host, work).gpu_limit == "preparing and formatting");
    for (double cost::Rates::*const rate : {&cost::Rates::transfer, &cost::Rates::device}) {
      Machine slow_device = slow_cpu;
      change(slow_device, task, rate, 1e8);
      CHECK_FALSE(cost::predict(slow_device, work).takes_gpu());
      CHECK(cost::predict(slow_device, work).gpu_limit == "copies and kernels");
    }
  }
}

TEST_CASE("core.cost_model: reading that both wait for leaves the CPU", "[core]") {
  for (const Task* const each : works::kAll) {
    const Task& task = *each;
    INFO(task.name);
    Machine machine = fast_machine(task);
    change(machine, task, &cost::Rates::cpu_read, 1e9);
    change(machine, task, &cost::Rates::gpu_read, 1e9);
    CHECK_FALSE(cost::predict(machine, {&task, 3e9, 3e9, 0, 2}).takes_gpu());
    // One thread that decompresses is such a reader too.
    CHECK_FALSE(cost::predict(fast_machine(task), {&task, 3e9, 3e9, 3e9, 2}).takes_gpu());
    CHECK(cost::predict(fast_machine(task), {&task, 3e9, 3e9, 3e9, 2}).cpu_limit == "reading");
  }
}

// An H100 host with 16 cores: 0.62 to 0.69 s on its cores, 0.61 to 0.67 s on the device; with paths
// 1.44 to 1.55 s and 0.76 to 0.86 s.
TEST_CASE("core.cost_model: a device whose start takes longer than it saves is not taken",
          "[core]") {
  const Machine machine;
  const auto score = cost::predict(machine, pairs_of_150(works::kAlignScore, 16));
  CHECK_FALSE(score.takes_gpu());
  CHECK(std::abs(score.cpu_s - 0.6) < 0.15);
  CHECK(std::abs(score.gpu_s - 0.65) < 0.15);
  const auto rows = cost::predict(machine, pairs_of_150(works::kAlignRows, 16));
  CHECK(rows.takes_gpu());
  CHECK(std::abs(rows.cpu_s - 1.5) < 0.15);
  CHECK(std::abs(rows.gpu_s - 0.8) < 0.15);
  CHECK(cost::predict(machine, pairs_of_150(works::kAlignScore, 2)).takes_gpu());
  // Long pairs: a hundred times the cells in the same bytes.
  Work long_pairs = pairs_of_150(works::kAlignScore, 16);
  long_pairs.units *= 100;
  CHECK(cost::predict(machine, long_pairs).takes_gpu());
}

TEST_CASE("core.cost_model: the end of a device counts", "[core]") {
  Machine machine = fast_machine(works::kAlignScore);
  const Work work{&works::kAlignScore, 1e6, 1e6, 0, 8};
  const double before = cost::predict(machine, work).gpu_s;
  machine.start_s += 1;
  CHECK(cost::predict(machine, work).gpu_s > before + 1.2);
}

// What was measured of the other commands on such hosts: docs/benchmarks.
TEST_CASE("core.cost_model: the defaults choose what was measured to be faster", "[core]") {
  const Machine machine;
  const auto takes_gpu = [&](const Task& task, double n, int n_threads) {
    return cost::predict(machine, {&task, n, n, 0, n_threads}).takes_gpu();
  };
  CHECK_FALSE(takes_gpu(works::kBwtSort, 20e6, 4));
  CHECK(takes_gpu(works::kBwtSort, 60e6, 4));
  CHECK_FALSE(takes_gpu(works::kBwtSort, 100e6, 16));
  CHECK(takes_gpu(works::kBwtSort, 250e6, 16));
  CHECK_FALSE(takes_gpu(works::kKmerCount, 100e6, 4));
  CHECK(takes_gpu(works::kKmerCount, 300e6, 4));
  CHECK(takes_gpu(works::kKmerCount, 1.28e9, 16));
  CHECK_FALSE(takes_gpu(works::kQcPlain, 5e9, 16));
  CHECK(takes_gpu(works::kQcPlain, 2e9, 2));
  CHECK_FALSE(takes_gpu(works::kQcGzip, 0.64e9, 16));
}

// Two H200: what a second device adds to files of reads and genomes is its start.
TEST_CASE("core.cost_model: a further device is used where it pays for its start", "[core]") {
  const Machine machine;
  const auto n_gpus = [&](const Task& task, double bytes, double units) {
    return cost::predict(machine, {&task, bytes, units, 0, 32}).n_gpus;
  };
  CHECK(n_gpus(works::kKmerCount, 1e9, 1e9) == 1);
  CHECK(n_gpus(works::kBwtSort, 3e8, 3e8) == 1);
  CHECK(n_gpus(works::kQcPlain, 2e9, 2e9) == 1);
  CHECK(n_gpus(works::kAlignRows, 1.2e9, 8.3e10) == 1);
  CHECK(n_gpus(works::kAlignRows, 1.2e9, 8.3e12) > 1);  // 8 s of kernels
  CHECK(n_gpus(works::kInfer, 2.6e9, 2.6e9 * 1e3) == 1);
  CHECK(n_gpus(works::kInfer, 2.6e9, 2.6e9 * 3e6) > 1);  // 20 s
  // Each of many devices saves less than the one before.
  CHECK(n_gpus(works::kInfer, 2.6e9, 2.6e9 * 3e6) < 20);
  CHECK(n_gpus(works::kInfer, 1, std::numeric_limits<double>::infinity()) == 1);
}

TEST_CASE("core.cost_model: nothing to do is left to the CPU", "[core]") {
  for (const Task* const each : works::kAll) {
    const Task& task = *each;
    const auto none = cost::predict(Machine{}, {&task, 0, 0, 0, 0});
    CHECK_FALSE(none.takes_gpu());
    CHECK(std::isfinite(none.gpu_s));
  }
}

TEST_CASE("core.cost_model: rates move half way to what a run was seen to do", "[core]") {
  Machine machine = fast_machine(works::kAlignScore);
  cost::Observed seen;
  seen.work = {&works::kAlignScore, 1e9, 4e9, 0, 8};
  seen.read_s = 1;
  seen.workers_s = 4;
  REQUIRE(cost::learn(machine, seen));
  CHECK(machine.of(works::kAlignScore).cpu_read == Approx(1e12));  // the mean of 1e15 and 1e9
  CHECK(machine.of(works::kAlignScore).cpu == Approx(1e12));
  CHECK(machine.of(works::kAlignScore).gpu_read == Approx(std::sqrt(1e27)));  // half as far
  CHECK(machine.of(works::kAlignRows).cpu == Machine{}.of(works::kAlignRows).cpu);
  for (int i = 0; i < 60; ++i) cost::learn(machine, seen);
  CHECK(cost::predict(machine, seen.work).cpu_s == Approx(1));

  seen.on_gpu = true;
  seen.transfer_s = 0.5;
  seen.device_s = 0.25;
  seen.start_s = 0.2;
  for (int i = 0; i < 60; ++i) cost::learn(machine, seen);
  const cost::Rates rates = machine.of(works::kAlignScore);
  CHECK(rates.gpu_read == Approx(1e9));
  CHECK(rates.host == Approx(2.5e8));
  CHECK(rates.transfer == Approx(2e9));
  CHECK(rates.device == Approx(1.6e10));
  CHECK(machine.start_s == Approx(0.2));
}

// A run on few threads tells what more of them do.
TEST_CASE("core.cost_model: rates of reading are those of threads", "[core]") {
  cost::Observed seen;
  seen.work = {&works::kAlignScore, 1e9, 0, 0, 2};
  seen.read_s = 1;
  Machine machine;
  for (int i = 0; i < 60; ++i) REQUIRE(cost::learn(machine, seen));
  const auto read_s = [&](const Task& task, int n_threads) {
    return cost::predict(machine, {&task, 1e9, 0, 0, n_threads}).cpu_s;
  };
  CHECK(read_s(works::kAlignScore, 1) == Approx(2));
  CHECK(read_s(works::kAlignScore, 2) == Approx(1));
  CHECK(read_s(works::kAlignScore, 8) == Approx(0.25));
  CHECK(read_s(works::kAlignScore, 64) == Approx(0.25));
  // Each file has one thread there, however many others there are.
  seen.work.task = &works::kQcPlain;
  for (int i = 0; i < 60; ++i) REQUIRE(cost::learn(machine, seen));
  CHECK(read_s(works::kQcPlain, 2) == Approx(1));
  CHECK(read_s(works::kQcPlain, 16) == Approx(1));
}

TEST_CASE("core.cost_model: what was too short or not measured teaches nothing", "[core]") {
  Machine machine;
  cost::Observed seen;
  seen.work = {&works::kKmerCount, 1e6, 1e6, 0, 2};
  CHECK_FALSE(cost::learn(machine, seen));
  seen.read_s = seen.workers_s = 0.01;
  CHECK_FALSE(cost::learn(machine, seen));
  seen.work = {&works::kKmerCount, 1e9, 0, 1e9, 2};  // compressed
  seen.read_s = seen.workers_s = 5;
  CHECK_FALSE(cost::learn(machine, seen));
  seen.work = {&works::kKmerCount, std::numeric_limits<double>::infinity(), std::nan(""), 0, 2};
  CHECK_FALSE(cost::learn(machine, seen));
}
