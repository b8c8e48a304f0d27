#include "apps/biogpu/command_line/usage_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "apps/biogpu/command_line/habits.hpp"
#include "apps/biogpu/command_line/value_checks.hpp"
#include "lib/core/quote.hpp"

namespace biogpu::app {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t same = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, same});
    }
  }
  return row[b.size()];
}

std::string without_dashes(std::string_view name) {
  std::string text(name.substr(std::min(name.find_first_not_of('-'), name.size())));
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

// How far a word is from a name: letters to change, none where one begins with the other.
std::size_t distance(std::string_view word, std::string_view name) {
  constexpr std::size_t kMinBeginning = 3;
  const std::string a = without_dashes(word);
  const std::string b = without_dashes(name);
  if (std::min(a.size(), b.size()) >= kMinBeginning && (a.starts_with(b) || b.starts_with(a)))
    return 0;
  return edit_distance(a, b);
}

const CLI::App& innermost(const CLI::App& app) {
  const CLI::App* inner = &app;
  while (!inner->get_subcommands().empty()) inner = inner->get_subcommands().front();
  return *inner;
}

std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  return names;
}

// Long names that the help shows, those of aliases with dashes for underscores left out.
std::vector<std::string> long_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    if (!option->get_group().empty())
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

// What of the command line belongs to no option or argument, told by its first option, if it has
// one: only that one is wrong for sure. Empty where nothing is left over.
std::string tell_unexpected(const CLI::App& inner, std::vector<std::string> rest,
                            const std::vector<std::string>& words) {
  // Behind "--" every word is an argument.
  const auto mark = std::find(words.begin(), words.end(), "--");
  const auto is_option = [&](const std::string& word) {
    if (word.size() < 2 || word[0] != '-') return false;
    return std::find(words.begin(), mark, word) != mark ||
           std::find(mark, words.end(), word) == words.end();
  };
  rest.erase(std::remove(rest.begin(), rest.end(), "--"), rest.end());
  // Where a command was expected, what follows the wrong one is of no interest.
  const std::vector<std::string> commands = command_names(inner);
  const auto word = std::find_if_not(rest.begin(), rest.end(), is_option);
  if (!commands.empty() && word != rest.end())
    return fmt::format("no command {}{}", biogpu::quoted(*word), did_you_mean(*word, commands));
  const auto found = std::find_if(rest.begin(), rest.end(), is_option);
  if (found == rest.end())
    return rest.empty() ? std::string()
                        : fmt::format("one argument too many: {}{}", biogpu::quoted(rest.front()),
                                      hint_for_argument(inner));
  const std::string option = found->substr(0, found->find('='));
  std::string hint = hint_for_option(inner, option);
  if (hint.empty() && option.starts_with("--")) hint = did_you_mean(option, long_names(inner));
  return fmt::format("no option {}{}", biogpu::quoted(option), hint);
}

// The option that the parser stopped at: values are checked and then read, option by option.
const CLI::Option* stopped_at(const CLI::App& inner, bool was_checked) {
  const CLI::Option* last = nullptr;
  for (const CLI::Option* option : inner.get_options()) {
    if (option->count() == 0) continue;
    if (!was_checked && !option->get_callback_run()) return option;
    if (option->get_callback_run()) last = option;
  }
  return last;
}

// The variable of the environment where a value came from there, else the option's name.
std::string source_of(const CLI::Option& option, const std::vector<std::string>& words) {
  const std::string variable = option.get_envname();
  if (variable.empty() || std::getenv(variable.c_str()) == nullptr) return option.get_name();
  const std::vector<std::string> names = names_of(option);
  const bool is_given = std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return std::any_of(names.begin(), names.end(),
                       [&](const std::string& name) { return word.starts_with(name); });
  });
  return is_given ? option.get_name() : variable;
}

std::string tell_refused(const CLI::App& inner, const CLI::ParseError& error,
                         const std::vector<std::string>& words) {
  // The text is that of a check of value_checks.hpp, behind the option's name.
  const CLI::Option* option = stopped_at(inner, false);
  std::string text = error.what();
  // A variable of the environment is read for all commands of the group.
  if (option == nullptr || !text.starts_with(option->get_name() + ": "))
    option = inner.get_option_no_throw(text.substr(0, text.find(": ")));
  if (option == nullptr) return text;
  return source_of(*option, words) + text.substr(option->get_name().size());
}

std::string tell_unreadable(const CLI::App& inner, const std::vector<std::string>& words) {
  const CLI::Option* const option = stopped_at(inner, true);
  if (option == nullptr) return "a value cannot be read";
  const std::string found = option->results().empty() ? std::string() : option->results().back();
  const std::string type = option->get_type_name();
  std::string expected = "another value";
  if (option->get_items_expected_max() == 0) expected = "no value behind a flag";
  if (type.starts_with("INT")) expected = "a whole number";
  if (type.starts_with("UINT")) expected = "a whole number, 0 or more";
  if (type.starts_with("FLOAT")) expected = "a number";
  return fmt::format("{}: {}; expected {}", source_of(*option, words), biogpu::quoted(found),
                     expected);
}

std::string tell_missing(const CLI::App& inner) {
  for (const CLI::Option* option : inner.get_options())
    if (option->get_required() && option->count() == 0) return option->get_name() + " is required";
  return "no command given; expected " + any_of(command_names(inner));
}

// The pair of options that exclude each other, or of which one wants the other.
std::string tell_pair(const CLI::App& inner) {
  for (const CLI::Option* option : inner.get_options()) {
    if (option->count() == 0) continue;
    for (const CLI::Option* other : option->get_needs())
      if (other->count() == 0)
        return fmt::format("{} needs {} too", option->get_name(), other->get_name());
    for (const CLI::Option* other : option->get_excludes())
      if (other->count() > 0)
        return fmt::format("{} and {} exclude each other", option->get_name(), other->get_name());
  }
  return "options that exclude each other";
}

// An option at the end without its value, or one that was given more often than it may be.
std::string tell_miscounted(const CLI::App& inner, const std::vector<std::string>& words) {
  const std::string last = words.empty() ? std::string() : words.back();
  for (const CLI::Option* option : inner.get_options()) {
    const int most = option->get_items_expected_max();
    if (most > 0 && option->results().size() > static_cast<std::size_t>(most))
      return fmt::format("{} is given twice; expected it once", option->get_name());
    const std::vector<std::string> names = names_of(*option);
    const bool is_last = std::find(names.begin(), names.end(), last) != names.end() ||
                         (!last.starts_with("--") && last.size() > 2 &&
                          option->check_sname(last.substr(last.size() - 1)));
    if (most == 0 || !is_last) continue;
    const std::string kind = option->get_option_text();
    return fmt::format("{} is the last word; expected a value{} behind it", last,
                       kind.find_first_not_of(' ') == std::string::npos ? "" : ", " + kind + ",");
  }
  return "an option lacks its value";
}

}  // namespace

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  constexpr std::size_t kFarthest = 2;
  std::size_t least = kFarthest + 1;
  std::string nearest;
  for (const std::string& name : candidates) {
    const std::size_t now = distance(word, name);
    // A word of as many letters as there are to change is another word.
    if (now >= least || now >= without_dashes(name).size()) continue;
    least = now;
    nearest = name;
  }
  return nearest.empty() ? std::string() : fmt::format("; did you mean '{}'?", nearest);
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

std::string suggest_command(const CLI::App& app, std::string_view word) {
  if (word == "-v" || word == "-V") return "; did you mean '--version'?";
  if (word.starts_with('-')) return did_you_mean(word, {"--help", "--version"});
  if (std::string hint = hint_for_command(word); !hint.empty()) return hint;
  std::vector<std::string> paths;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    for (const std::string& name : command_names(*command))
      if (word == name) paths.push_back(fmt::format("'{} {}'", command->get_name(), name));
  if (!paths.empty()) return fmt::format("; did you mean {}?", any_of(paths));
  return did_you_mean(word, command_names(app));
}

std::string describe_usage_error(const CLI::App& app, const CLI::ParseError& error,
                                 const std::vector<std::string>& words) {
  const CLI::App& inner = innermost(app);
  const auto code = static_cast<CLI::ExitCodes>(error.get_exit_code());
  std::string unexpected = tell_unexpected(inner, app.remaining(true), words);
  // What is missing may be what stands behind an argument that is not known.
  if (!unexpected.empty() && (unexpected.starts_with("no ") || code == CLI::ExitCodes::ExtrasError))
    return unexpected;
  switch (code) {
    case CLI::ExitCodes::ValidationError:
      return tell_refused(inner, error, words);
    case CLI::ExitCodes::ConversionError:
      return tell_unreadable(inner, words);
    case CLI::ExitCodes::RequiredError:
      return tell_missing(inner);
    case CLI::ExitCodes::RequiresError:
    case CLI::ExitCodes::ExcludesError:
      return tell_pair(inner);
    case CLI::ExitCodes::ArgumentMismatch:
      return tell_miscounted(inner, words);
    default:
      return "the command line cannot be read";
  }
}

}  // namespace biogpu::app
