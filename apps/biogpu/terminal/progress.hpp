#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace biogpu::app {

enum class ProgressWhen { automatic, always, never };

// Writes to standard error; what cannot be written there is lost.
void to_stderr(std::string_view text);

// The line of a Progress that stands on the terminal, if one does: taken away before other text, or
// ended, so that what follows stands below it. The second may be called by a signal handler.
void clear_progress_line();
void end_progress_line();

// One line on standard error with share done, rate and remaining time. On a terminal it is redrawn
// in place, at most 5 times a second; elsewhere, and only with `always`, it is a new line once a
// second.
class Progress {
 public:
  Progress(std::string command, ProgressWhen when, bool quiet);
  ~Progress();  // clears the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // fraction: of the input, 0 when its size is unknown.
  void update(double fraction, std::uint64_t n_pairs, std::uint64_t n_cells);
  // The same with another text than pairs and cells.
  void update(double fraction, const std::string& done);
  // At once, and without a share: the step that a command of unknown progress is at.
  void stage(const std::string& what);
  void clear();

 private:
  void draw(const std::string& text);

  using Clock = std::chrono::steady_clock;
  const std::string command_;
  bool terminal_ = false;
  bool shown_ = false;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point last_;
};

}  // namespace biogpu::app
