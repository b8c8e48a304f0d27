#include "apps/biogpu/command_line/list_option.hpp"

#include <fmt/format.h>

#include "lib/bio/split.hpp"
#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"

namespace biogpu::app {
namespace {

std::string describe_empty_item(std::string_view text) {
  return fmt::format("{} has an empty item; expected items with one comma between",
                     biogpu::quoted(text));
}

}  // namespace

std::string describe_repeat(std::string_view item) {
  return fmt::format("{} is listed twice; expected each item once", biogpu::quoted(item));
}

std::vector<std::string> split_list(const std::string& option, std::string_view text) {
  std::vector<std::string> items;
  for (const std::string_view item : split(text, ',')) {
    if (item.empty())
      throw Error(ErrorCode::usage, fmt::format("{}: {}", option, describe_empty_item(text)));
    if (std::find(items.begin(), items.end(), item) != items.end())
      throw Error(ErrorCode::usage, fmt::format("{}: {}", option, describe_repeat(item)));
    items.emplace_back(item);
  }
  return items;
}

void refuse_list(const ListOption& list, const std::string& message) {
  throw CLI::ValidationError(list.names.substr(list.names.find("--")), message);
}

std::vector<std::string> read_items(const ListOption& list,
                                    const std::vector<std::string>& values) {
  std::vector<std::string> items;
  for (const std::string& value : values) {
    const auto parts = list.separator == '\0' ? std::vector<std::string_view>{value}
                                              : split(value, list.separator);
    for (const std::string_view part : parts) {
      std::string item(part);
      if (item.empty()) refuse_list(list, describe_empty_item(value));
      if (const std::string wrong = list.check(item); !wrong.empty()) refuse_list(list, wrong);
      items.push_back(std::move(item));
    }
  }
  return items;
}

}  // namespace biogpu::app
