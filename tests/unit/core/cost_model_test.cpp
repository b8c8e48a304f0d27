// What --device auto decides, from rates given.
#include "lib/core/cost_model.hpp"

#include <cmath>
#include <limits>

#include "lib/core/auto_device.hpp"
#include "tests/support/catch.hpp"

using namespace biogpu;
using cost::Machine;
using cost::Task;
using cost::Work;

namespace {

// Rates at which nothing costs anything, to be made worse one by one.
Machine fast_machine(Task task) {
  Machine machine = cost::default_machine();
  machine.of(task) = {1e15, 1e15, 1e15, 1e15, 1e15, 1e15};
  machine.start_s = 0.001;
  return machine;
}

constexpr Task kAllTasks[] = {
    Task::align_score, Task::align_rows, Task::align_search, Task::kmer_count, Task::bwt_sort,
    Task::bwt_search,  Task::qc_plain,   Task::qc_gzip,      Task::infer,      Task::design};

// 4 million pairs of 150 letters in two files of 643 MB.
Work pairs_of_150(Task task, int n_threads) { return {task, 1.286e9, 9e10, 0, n_threads}; }

}  // namespace

TEST_CASE("core.cost_model: each rate can force each choice", "[core]") {
  for (const Task task : kAllTasks) {
    INFO(cost::name_of(task));
    const Work work{task, 1e9, 1e9, 0, 2};
    Machine slow_cpu = fast_machine(task);
    slow_cpu.of(task).cpu = 1e8;  // 5 s on 2 threads
    CHECK(cost::predict(slow_cpu, work).takes_gpu());
    CHECK(cost::predict(slow_cpu, work).cpu_limit == "computing");
    CHECK(decide_device(slow_cpu, work).worth_gpu);
    CHECK(decide_device(slow_cpu, work).reason == "found and worth its start");

    Machine slow_start = slow_cpu;
    slow_start.start_s = 6;
    CHECK_FALSE(cost::predict(slow_start, work).takes_gpu());
    CHECK(decide_device(slow_start, work).reason == "the input is too small to pay for a GPU");
    Machine slow_read = slow_cpu;
    slow_read.of(task).gpu_read = 1e8;
    CHECK_FALSE(cost::predict(slow_read, work).takes_gpu());
    CHECK(cost::predict(slow_read, work).gpu_limit == "reading");
    CHECK(decide_device(slow_read, work).reason == "no slower than a GPU: reading decides");
    Machine slow_host = slow_cpu;
    slow_host.of(task).host = 1e8;
    CHECK_FALSE(cost::predict(slow_host, work).takes_gpu());
    CHECK(cost::predict(slow_host, work).gpu_limit == "preparing and formatting");
    for (double cost::Rates::*const rate : {&cost::Rates::transfer, &cost::Rates::device}) {
      Machine slow_device = slow_cpu;
      slow_device.of(task).*rate = 1e8;
      CHECK_FALSE(cost::predict(slow_device, work).takes_gpu());
      CHECK(cost::predict(slow_device, work).gpu_limit == "copies and kernels");
    }
  }
}

TEST_CASE("core.cost_model: reading that both wait for leaves the CPU", "[core]") {
  for (const Task task : kAllTasks) {
    INFO(cost::name_of(task));
    Machine machine = fast_machine(task);
    machine.of(task).cpu_read = machine.of(task).gpu_read = 1e9;
    CHECK_FALSE(cost::predict(machine, {task, 3e9, 3e9, 0, 2}).takes_gpu());
    // One thread that decompresses is such a reader too.
    CHECK_FALSE(cost::predict(fast_machine(task), {task, 3e9, 3e9, 3e9, 2}).takes_gpu());
    CHECK(cost::predict(fast_machine(task), {task, 3e9, 3e9, 3e9, 2}).cpu_limit == "reading");
  }
}

// An H100 host with 16 cores: 1.2 s on its cores, 2.6 s on the device; with paths 1.5 and 2.8 s.
TEST_CASE("core.cost_model: a device that waits for one reading thread is not taken", "[core]") {
  const Machine& machine = cost::default_machine();
  for (const int n_threads : {4, 8, 16}) {
    const auto score = cost::predict(machine, pairs_of_150(Task::align_score, n_threads));
    CHECK_FALSE(score.takes_gpu());
    CHECK(score.gpu_limit == "reading");
    CHECK(std::abs(score.gpu_s - 2.5) < 0.3);
  }
  CHECK(std::abs(cost::predict(machine, pairs_of_150(Task::align_score, 16)).cpu_s - 1.2) < 0.15);
  const auto rows = cost::predict(machine, pairs_of_150(Task::align_rows, 16));
  CHECK_FALSE(rows.takes_gpu());
  CHECK(std::abs(rows.cpu_s - 1.5) < 0.15);
  CHECK(std::abs(rows.gpu_s - 2.8) < 0.3);
  CHECK(cost::predict(machine, pairs_of_150(Task::align_score, 1)).takes_gpu());
  // Long pairs: a hundred times the cells in the same bytes.
  Work long_pairs = pairs_of_150(Task::align_score, 16);
  long_pairs.units *= 100;
  CHECK(cost::predict(machine, long_pairs).takes_gpu());
}

// What was measured of the other commands on such hosts: docs/benchmarks.
TEST_CASE("core.cost_model: the defaults choose what was measured to be faster", "[core]") {
  const Machine& machine = cost::default_machine();
  const auto takes_gpu = [&](Task task, double n, int n_threads) {
    return cost::predict(machine, {task, n, n, 0, n_threads}).takes_gpu();
  };
  CHECK_FALSE(takes_gpu(Task::bwt_sort, 20e6, 4));
  CHECK(takes_gpu(Task::bwt_sort, 60e6, 4));
  CHECK_FALSE(takes_gpu(Task::bwt_sort, 100e6, 16));
  CHECK(takes_gpu(Task::bwt_sort, 250e6, 16));
  CHECK_FALSE(takes_gpu(Task::kmer_count, 100e6, 4));
  CHECK(takes_gpu(Task::kmer_count, 300e6, 4));
  CHECK(takes_gpu(Task::kmer_count, 1.28e9, 16));
  CHECK_FALSE(takes_gpu(Task::qc_plain, 5e9, 16));
  CHECK(takes_gpu(Task::qc_plain, 2e9, 2));
  CHECK_FALSE(takes_gpu(Task::qc_gzip, 0.64e9, 16));
}

TEST_CASE("core.cost_model: nothing to do is left to the CPU", "[core]") {
  for (const Task task : kAllTasks) {
    const auto none = cost::predict(cost::default_machine(), {task, 0, 0, 0, 0});
    CHECK_FALSE(none.takes_gpu());
    CHECK(std::isfinite(none.gpu_s));
  }
}

TEST_CASE("core.cost_model: rates move half way to what a run was seen to do", "[core]") {
  Machine machine = fast_machine(Task::align_score);
  cost::Observed seen;
  seen.work = {Task::align_score, 1e9, 4e9, 0, 4};
  seen.read_s = 1;
  seen.workers_s = 4;
  REQUIRE(cost::learn(machine, seen));
  CHECK(machine.of(Task::align_score).cpu_read == Approx(1e12));  // the mean of 1e15 and 1e9
  CHECK(machine.of(Task::align_score).cpu == Approx(1e12));
  CHECK(machine.of(Task::align_score).gpu_read == Approx(std::sqrt(1e27)));  // half as far
  CHECK(machine.of(Task::align_rows).cpu == cost::default_machine().of(Task::align_rows).cpu);
  for (int i = 0; i < 60; ++i) cost::learn(machine, seen);
  CHECK(cost::predict(machine, seen.work).cpu_s == Approx(1));

  seen.on_gpu = true;
  seen.transfer_s = 0.5;
  seen.device_s = 0.25;
  seen.start_s = 0.2;
  for (int i = 0; i < 60; ++i) cost::learn(machine, seen);
  const cost::Rates& rates = machine.of(Task::align_score);
  CHECK(rates.gpu_read == Approx(1e9));
  CHECK(rates.host == Approx(2.5e8));
  CHECK(rates.transfer == Approx(2e9));
  CHECK(rates.device == Approx(1.6e10));
  CHECK(machine.start_s == Approx(0.2));
}

TEST_CASE("core.cost_model: what was too short or not measured teaches nothing", "[core]") {
  Machine machine = cost::default_machine();
  cost::Observed seen;
  seen.work = {Task::kmer_count, 1e6, 1e6, 0, 2};
  CHECK_FALSE(cost::learn(machine, seen));
  seen.read_s = seen.workers_s = 0.01;
  CHECK_FALSE(cost::learn(machine, seen));
  seen.work = {Task::kmer_count, 1e9, 0, 1e9, 2};  // compressed
  seen.read_s = seen.workers_s = 5;
  CHECK_FALSE(cost::learn(machine, seen));
  seen.work = {Task::kmer_count, std::numeric_limits<double>::infinity(), std::nan(""), 0, 2};
  CHECK_FALSE(cost::learn(machine, seen));
}
