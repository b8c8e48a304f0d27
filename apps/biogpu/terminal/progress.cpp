#include "apps/biogpu/terminal/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <string_view>
#include <utility>

#include "lib/report/counted.hpp"

namespace biogpu::app {
namespace {

constexpr double kRedrawSeconds = 0.2;
constexpr double kLineSeconds = 1.0;

// There is one terminal. Lock-free, for a signal handler reads it.
std::atomic<bool> is_line_drawn{false};

// "1:02:03" or "2:03".
std::string clock_text(double seconds) {
  const auto whole = std::llround(seconds);
  if (whole >= 3600)
    return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

}  // namespace

void to_stderr(std::string_view text) {
  [[maybe_unused]] const auto ignored = ::write(STDERR_FILENO, text.data(), text.size());
}

Progress::Progress(std::string command, ProgressWhen when, bool quiet)
    : command_(std::move(command)), terminal_(isatty(STDERR_FILENO) != 0) {
  // A line that stays is worth writing at once, one that is taken away again is not.
  if (terminal_) last_ = begin_;
  shown_ = when == ProgressWhen::always || (when == ProgressWhen::automatic && terminal_ && !quiet);
}

void clear_progress_line() {
  if (is_line_drawn.exchange(false)) to_stderr("\r\033[K");
}

void end_progress_line() {
  if (is_line_drawn.exchange(false)) to_stderr("\n");
}

Progress::~Progress() { clear(); }

void Progress::update(double fraction, std::uint64_t n_pairs, std::uint64_t n_cells) {
  if (!shown_) return;
  const double elapsed = std::chrono::duration<double>(Clock::now() - begin_).count();
  update(fraction, fmt::format("{}, {:.1f} GCUPS", report::counted(n_pairs, "pairs"),
                               1e-9 * static_cast<double>(n_cells) / elapsed));
}

void Progress::update(double fraction, const std::string& done) {
  if (!shown_) return;
  const auto now = Clock::now();
  const double since_last = std::chrono::duration<double>(now - last_).count();
  if (since_last < (terminal_ ? kRedrawSeconds : kLineSeconds)) return;
  last_ = now;
  const double elapsed = std::chrono::duration<double>(now - begin_).count();
  std::string line;
  if (fraction > 0) line += fmt::format("{:.0f}%, ", 100 * fraction);
  line += done;
  if (fraction > 0)
    line += fmt::format(", {} left", clock_text(elapsed * (1 - fraction) / fraction));
  draw(line);
}

void Progress::stage(const std::string& what) {
  if (!shown_) return;
  last_ = Clock::now();
  draw(what);
}

// As the lines of Log, and unlike those of errors.
void Progress::draw(const std::string& text) {
  const double elapsed = std::chrono::duration<double>(Clock::now() - begin_).count();
  const std::string line = fmt::format("[biogpu {} {:.1f}s] {}", command_, elapsed, text);
  if (!terminal_) return to_stderr(line + "\n");
  to_stderr("\r\033[K" + line);
  is_line_drawn = true;
}

void Progress::clear() { clear_progress_line(); }

}  // namespace biogpu::app
