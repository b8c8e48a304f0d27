#pragma once

#include <functional>
#include <string>

namespace biogpu::io {

using WarningListener = std::function<void(const std::string&)>;

// Gives the text, one line with the file in front, to the listener, by any thread. A text is given
// once, also where a file is opened twice. Dropped without a listener, as in a library.
void add_warning(const std::string& text);

// Sets the listener; nullptr: none. Returns the previous one. The listener must not itself add a
// warning.
WarningListener set_warning_listener(WarningListener listener);

}  // namespace biogpu::io
