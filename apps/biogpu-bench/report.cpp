#include "apps/biogpu-bench/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace biogpu::bench {

Figure summarise(Figure figure, std::vector<double> runs) {
  std::sort(runs.begin(), runs.end());
  figure.n_runs = static_cast<int>(runs.size());
  figure.value = runs[runs.size() / 2];
  figure.lowest = runs.front();
  figure.highest = runs.back();
  return figure;
}

std::string as_table(const Report& report) {
  std::string text = fmt::format("Host: {}\n", report.machine);
  if (!report.device.empty()) text += fmt::format("Device: {}\n", report.device);
  text +=
      "\n| limit | median | lowest - highest | unit | how |\n| --- | ---: | ---: | --- | --- |\n";
  for (const Figure& figure : report.figures) {
    text += fmt::format("| {} | {:.4g} | {:.4g} - {:.4g} | {} | {} |\n", figure.name, figure.value,
                        figure.lowest, figure.highest, figure.unit, figure.how);
  }
  return text;
}

std::string as_json(const Report& report) {
  nlohmann::ordered_json figures = nlohmann::ordered_json::array();
  for (const Figure& figure : report.figures) {
    figures.push_back({{"name", figure.name},
                       {"unit", figure.unit},
                       {"median", figure.value},
                       {"lowest", figure.lowest},
                       {"highest", figure.highest},
                       {"runs", figure.n_runs},
                       {"how", figure.how}});
  }
  const nlohmann::ordered_json whole = {{"schema_version", 1},
                                        {"machine", report.machine},
                                        {"device", report.device},
                                        {"figures", figures}};
  return whole.dump(2) + "\n";
}

}  // namespace biogpu::bench
