#pragma once

#include <string>
#include <type_traits>

namespace biogpu {

// A text that only an error message needs ("proteins.fa: record 3 (P12345)"): it is made when str()
// is called. Refers to what it is made from, so it is for arguments of functions alone.
class LazyText {
 public:
  LazyText(const char* text)
      : object_(text),
        make_([](const void* from) { return std::string(static_cast<const char*>(from)); }) {}
  LazyText(const std::string& text)
      : object_(&text),
        make_([](const void* from) { return *static_cast<const std::string*>(from); }) {}
  // make() returns the text.
  template <class Make, class = std::enable_if_t<std::is_invocable_r_v<std::string, const Make&>>>
  LazyText(const Make& make)
      : object_(&make),
        make_([](const void* from) -> std::string { return (*static_cast<const Make*>(from))(); }) {
  }

  std::string str() const { return make_(object_); }

 private:
  const void* object_;
  std::string (*make_)(const void* from);
};

}  // namespace biogpu
