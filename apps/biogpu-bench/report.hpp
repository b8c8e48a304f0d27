#pragma once

#include <string>
#include <vector>

namespace biogpu::bench {

// One measured figure. value is the median of n_runs runs; lowest and highest show the spread.
struct Figure {
  std::string name;  // "device copy"
  std::string unit;  // "GB/s"
  double value = 0;
  double lowest = 0;
  double highest = 0;
  int n_runs = 0;
  std::string how;  // what was done, in a few words
};

// Calls rate() n_runs times and keeps median, lowest and highest.
template <class Rate>
Figure measure(std::string name, std::string unit, std::string how, int n_runs, Rate&& rate);

struct Report {
  std::string machine;  // "Intel(R) Xeon(R) Processor, 2 threads"
  std::string device;   // empty without a GPU
  std::vector<Figure> figures;
};

std::string as_table(const Report& report);  // Markdown
std::string as_json(const Report& report);

Figure summarise(Figure figure, std::vector<double> runs);

template <class Rate>
Figure measure(std::string name, std::string unit, std::string how, int n_runs, Rate&& rate) {
  rate();  // warms caches, clocks and lazily loaded code
  std::vector<double> runs;
  runs.reserve(static_cast<std::size_t>(n_runs));
  for (int i = 0; i < n_runs; ++i) runs.push_back(rate());
  Figure figure;
  figure.name = std::move(name);
  figure.unit = std::move(unit);
  figure.how = std::move(how);
  return summarise(std::move(figure), std::move(runs));
}

// Memory bandwidth and parse rate of the host.
std::vector<Figure> measure_host(int n_threads);

// Copies, gathers, sorts, issue rates and matrix rates of one GPU. quick: tiny sizes, to see that
// it runs (the emulated platform is slow).
std::vector<Figure> measure_gpu(int device, bool quick);
// Name and architecture of the device, or an empty string with *why set.
std::string describe_gpu(int device, std::string* why);

}  // namespace biogpu::bench
