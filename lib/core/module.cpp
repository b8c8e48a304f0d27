#include "lib/core/module.hpp"

#include <dlfcn.h>

#include <system_error>
#include <vector>

namespace biogpu {
namespace {

// Of the program or the shared library that this file is linked into.
std::filesystem::path own_folder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&own_folder), &info) == 0 || info.dli_fname == nullptr)
    return {};
  return std::filesystem::path(info.dli_fname).parent_path();
}

}  // namespace

// Next to the binary (a build tree) and where modules are installed, of another program that uses
// the library of potentials too. Never in the current folder: a program that the shell found has a
// name without a folder, and where /proc is missing the binary has none.
std::filesystem::path find_module(const char* file) {
  std::error_code ignored;
  const auto binary = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  const auto own = own_folder();
  std::vector<std::filesystem::path> folders;
  if (!binary.empty()) folders = {binary, binary / "../lib/biogpu", binary / "../../../lib/biogpu"};
  if (!own.empty()) folders.push_back(own / "biogpu");
  for (const auto& folder : folders) {
    if (std::filesystem::exists(folder / file, ignored)) return folder / file;
  }
  return {};
}

void* open_module(const std::filesystem::path& path, const char* function, std::string* why) {
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* const address = handle == nullptr ? nullptr : dlsym(handle, function);
  if (address == nullptr) *why = dlerror();
  return address;
}

}  // namespace biogpu
