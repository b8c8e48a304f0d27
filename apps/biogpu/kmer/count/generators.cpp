#include "apps/biogpu/kmer/count/generators.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "apps/biogpu/terminal/child_processes.hpp"
#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"
#include "lib/io/commit_guard.hpp"

namespace biogpu::app {
namespace {

std::vector<std::string> read_commands(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> commands;
  for (std::string line; std::getline(file, line);) {
    const std::size_t begin = line.find_first_not_of(" \t\v\f\r");
    if (begin != std::string::npos && line[begin] != '#') commands.push_back(line);
  }
  if (!file.eof()) throw Error(ErrorCode::failed, fmt::format("{}: cannot be read", path));
  return commands;
}

std::string default_shell() {
  const char* shell = std::getenv("SHELL");
  return shell != nullptr && *shell != '\0' ? shell : "/bin/sh";
}

[[noreturn]] void fail(const std::string& command, const std::string& what) {
  throw Error(ErrorCode::failed, fmt::format("command {}: {}", quoted(command), what));
}

// A command that runs, its standard output in a pipe.
class Generator {
 public:
  Generator(const std::string& shell, std::string command) : command_(std::move(command)) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) fail(command_, message_of(errno));
    output_ = ends[0];
    int error = 0;
    {
      const io::CommitGuard guard;  // a signal waits until the process can be ended
      error = spawn(shell, ends[1]);
      if (error == 0) note_child(process_);
    }
    close(ends[1]);
    if (error == 0) return;
    close(output_);
    fail(command_, fmt::format("{} cannot be started: {}", shell, message_of(error)));
  }
  ~Generator() {
    if (output_ >= 0) close(output_);  // a command that still writes ends by it
    if (process_ <= 0) return;
    kill(-process_, SIGTERM);  // and one that does not, by this
    wait();
  }
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;

  std::string path() const { return fmt::format("/dev/fd/{}", output_); }

  // Waits for the end of the command, which has to be a success.
  void finish() {
    const int status = wait();
    if (WIFSIGNALED(status)) fail(command_, fmt::format("ended by signal {}", WTERMSIG(status)));
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
      fail(command_, fmt::format("ended with status {}", WEXITSTATUS(status)));
  }

 private:
  static std::string message_of(int error) { return std::generic_category().message(error); }

  int spawn(const std::string& shell, int write_end) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, write_end, STDOUT_FILENO);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t to_default;  // this program ignores SIGPIPE; the command is to end by it
    sigemptyset(&to_default);
    sigaddset(&to_default, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes, &to_default);
    posix_spawnattr_setpgroup(&attributes, 0);  // with what it starts, for end_children()
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    std::string name = shell;
    std::string option = "-c";
    std::string text = command_;
    std::array<char*, 4> arguments{name.data(), option.data(), text.data(), nullptr};
    const int error =
        posix_spawn(&process_, shell.c_str(), &actions, &attributes, arguments.data(), environ);
    if (error != 0) process_ = -1;
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
  }

  int wait() {
    siginfo_t ended{};
    while (waitid(P_PID, static_cast<id_t>(process_), &ended, WEXITED | WNOWAIT) < 0 &&
           errno == EINTR) {
    }
    forget_child(process_);  // before the number may be that of another process
    int status = 0;
    while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    process_ = -1;
    return status;
  }

  const std::string command_;
  int output_ = -1;
  pid_t process_ = -1;
};

}  // namespace

void run_generators(
    const std::string& path, const std::string& shell, int n_at_once,
    const std::function<void(const std::string& command, const std::string& path)>& read) {
  const std::vector<std::string> commands = read_commands(path);
  const std::string program = shell.empty() ? default_shell() : shell;
  std::mutex mutex;
  std::size_t next = 0;
  std::exception_ptr error;
  const auto take = [&]() -> const std::string* {
    const std::lock_guard lock(mutex);
    return error || next == commands.size() ? nullptr : &commands[next++];
  };
  const auto run_one = [&](const std::string& command) {
    Generator generator(program, command);
    try {
      read(command, generator.path());
    } catch (const Error& failure) {
      throw Error(failure.code(), fmt::format("command {}: {}", quoted(command), failure.what()));
    }
    generator.finish();
  };
  const auto run_some = [&] {
    try {
      while (const std::string* command = take()) run_one(*command);
    } catch (...) {
      {
        const std::lock_guard lock(mutex);
        if (!error) error = std::current_exception();
      }
      end_children();  // the output of the others is not read
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int i = 1; i < n_at_once; ++i) threads.emplace_back(run_some);
    run_some();
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace biogpu::app
