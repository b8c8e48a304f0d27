#include "lib/models/protein_outputs.hpp"

#include <fmt/format.h>

#include <charconv>

namespace biogpu::models {

std::string hidden_of_residues(int layer) { return fmt::format("hidden.{}", layer); }
std::string mean_hidden(int layer) { return fmt::format("hidden.{}.mean", layer); }
std::string begin_hidden(int layer) { return fmt::format("hidden.{}.begin", layer); }

std::optional<int> hidden_layer(std::string_view name) {
  constexpr std::string_view kPrefix = "hidden.";
  if (!name.starts_with(kPrefix)) return {};
  name.remove_prefix(kPrefix.size());
  int layer = 0;
  const char* const end = name.data() + name.size();
  const auto read = std::from_chars(name.data(), end, layer);
  const std::string_view rest(read.ptr, static_cast<std::size_t>(end - read.ptr));
  if (read.ec != std::errc() || !(rest.empty() || rest == ".mean" || rest == ".begin")) return {};
  return layer;
}

}  // namespace biogpu::models
