#pragma once

#include <memory>
#include <string>

namespace biogpu::io::output {

struct TempName;

// A name that an output got while a CommitGuard exists.
struct NewName {
  std::string path;
  std::string previous;             // the hidden name of what bore it before; empty: nothing did
  TempName* registered = nullptr;   // previous, for the signal handler
  std::unique_ptr<NewName> before;  // the one that was given before
};

// Any thread, while a CommitGuard exists. Allocates nothing. When the last guard goes, what bore
// the name before is removed; or, where an output failed, it gets its name back, and a name that
// nothing bore is removed.
void add_name(std::unique_ptr<NewName> name) noexcept;

}  // namespace biogpu::io::output
