#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace biogpu::models {

// An option that a model declares. The program offers it in every task of that model.
struct ModelOption {
  enum class Kind {
    flag,    // --NAME
    on_off,  // --NAME or --no-NAME; not given: as the model's folder says
    choice,  // --NAME one of `choices`, the first of which is as if nothing were given
  };
  const char* name = "";  // without dashes: "gamma"
  Kind kind = Kind::flag;
  const char* help = "";
  const char* value_name = "";  // of a choice, in the help: "FORM"
  std::vector<const char*> choices = {};
  // How a model without the option refuses it, with {folder}, {model}, {option} and {owners}.
  const char* refusal = "{folder}: {model} has no {option}, which is for {owners}";
};

// The values of options that were given, by their names.
class OptionValues {
 public:
  void set(const std::string& name, std::string value) { values_[name] = std::move(value); }
  void set(const std::string& name, bool is_on) { set(name, std::string(is_on ? "on" : "off")); }

  bool empty() const { return values_.empty(); }
  const std::map<std::string, std::string>& all() const { return values_; }
  // Nothing where the option was not given.
  std::optional<std::string> choice(const std::string& name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? std::nullopt : std::optional(found->second);
  }
  std::optional<bool> on_off(const std::string& name) const {
    const std::optional<std::string> value = choice(name);
    return value ? std::optional(*value == "on") : std::nullopt;
  }
  bool flag(const std::string& name) const { return on_off(name).value_or(false); }

 private:
  std::map<std::string, std::string> values_;
};

}  // namespace biogpu::models
