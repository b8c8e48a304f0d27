#pragma once

#include <string>
#include <string_view>

namespace biogpu::io {

// Whether it can be read only once: standard input ("-"), a pipe, a device, a socket. False for
// what does not exist. Opening a named pipe waits for its writer, so that this looks at the name
// alone.
bool passes_once(const std::string& path);

// Throws Error{usage} where it can be read only once; why: what asks for more, "it is read twice".
void require_regular_file(const std::string& path, std::string_view why);

}  // namespace biogpu::io
