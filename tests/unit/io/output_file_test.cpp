#include "lib/io/output_file.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "lib/core/error.hpp"
#include "lib/io/commit_guard.hpp"
#include "lib/io/output/stale_files.hpp"
#include "lib/io/output/temp_registry.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/io/files.hpp"

using namespace biogpu;
using namespace biogpu::test;
using Names = std::vector<std::string>;

namespace {

constexpr std::size_t kBuffer = 256u << 10;

std::string write_error(const std::string& path, const std::string& text) {
  try {
    io::OutputFile file(path);
    file.write(text);
    file.commit();
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::failed);
    return error.what();
  }
  return "no error";
}

// What stands before the process in the names of hidden files.
std::string hidden_begin() {
  const std::string own = io::output::next_hidden_name("");
  return own.substr(0, own.find('-', 10));
}

// The number of a process that is no more.
std::string dead_process() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  REQUIRE(waitpid(child, nullptr, 0) == child);
  return std::to_string(child);
}

// What a folder holds under hidden names: nothing, where the file system has unnamed files.
Names hidden_names(const TempFolder& folder) {
  Names names = folder.names();
  std::erase_if(names, [](const std::string& name) { return name[0] != '.'; });
  return names;
}

}  // namespace

TEST_CASE("io.output_file: the name appears at commit and not before", "[io]") {
  const TempFolder folder;
  io::OutputFile file(folder.path("out.tsv"));
  file.write("a\tb\n");
  CHECK(folder.names() == hidden_names(folder));
  file.finish();
  CHECK(folder.names() == hidden_names(folder));
  file.commit();
  CHECK(folder.names() == Names{"out.tsv"});
  CHECK(read_file(folder.path("out.tsv")) == "a\tb\n");
  CHECK(file.bytes() == 4);
}

TEST_CASE("io.output_file: more finished files than descriptors", "[io]") {
  const TempFolder folder;
  rlimit few{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &few) == 0);
  const rlimit before = few;
  few.rlim_cur = 150;
  REQUIRE(setrlimit(RLIMIT_NOFILE, &few) == 0);
  std::vector<io::OutputFile> files;
  for (int i = 0; i < 400; ++i) {
    files.emplace_back(folder.path(std::to_string(i)));
    files.back().write(std::to_string(i));
    files.back().finish();
  }
  setrlimit(RLIMIT_NOFILE, &before);
  CHECK(folder.names() == hidden_names(folder));
  for (io::OutputFile& file : files) file.commit();
  CHECK(folder.names().size() == 400);
  CHECK(hidden_names(folder).empty());
  for (int i = 0; i < 400; i += 57)
    CHECK(read_file(folder.path(std::to_string(i))) == std::to_string(i));
}

TEST_CASE("io.output_file: a file made in the meantime is replaced", "[io]") {
  const TempFolder folder;
  io::OutputFile file(folder.path("out"));
  file.write("ours");
  folder.file("out", "theirs");
  file.commit();
  CHECK(read_file(folder.path("out")) == "ours");
  CHECK(folder.names() == Names{"out"});
}

TEST_CASE("io.output_file: hidden files of dead processes go, others stay", "[io]") {
  const TempFolder folder;
  const std::string path = folder.path("");
  const std::string own = io::output::next_hidden_name("");
  const std::string machine = hidden_begin();
  const std::string dead = dead_process();
  folder.file(machine + "-" + dead + "-1.tmp", "stale");
  folder.file(machine + "-" + dead + "-22.tmp", "stale");
  const Names stay = {own,
                      machine + "-" + std::to_string(getppid()) + "-1.tmp",
                      ".biogpu-0000000000000000-" + dead + "-1.tmp",
                      machine + "-" + dead + "-1.txt",
                      machine + "-" + dead,
                      machine + "--1.tmp",
                      ".biogpu-.tmp"};
  for (const std::string& name : stay) folder.file(name, "in use, or not ours");
  io::output::remove_stale_files(path + "/");
  Names expected = stay;
  std::sort(expected.begin(), expected.end());
  CHECK(folder.names() == expected);
}

TEST_CASE("io.output_file: replacing a file removes what dead processes left", "[io]") {
  const TempFolder folder;
  folder.file(hidden_begin() + "-" + dead_process() + "-4.tmp", "stale");
  folder.file("out", "old");
  io::OutputFile file(folder.path("out"));
  file.write("new");
  file.commit();
  CHECK(folder.names() == Names{"out"});
  CHECK(read_file(folder.path("out")) == "new");
}

TEST_CASE("io.output_file: without commit nothing is left and an older file stays", "[io]") {
  const TempFolder folder;
  folder.file("old.tsv", "old");
  {
    io::OutputFile old(folder.path("old.tsv"));
    io::OutputFile fresh(folder.path("new.gz"), 2);
    old.write(std::string(3 << 20, 'x'));
    fresh.write(std::string(3 << 20, 'x'));
    io::OutputFile moved = std::move(old);
  }
  CHECK(folder.names() == Names{"old.tsv"});
  CHECK(read_file(folder.path("old.tsv")) == "old");
}

TEST_CASE("io.output_file: a link is followed and permissions are kept", "[io]") {
  const TempFolder folder;
  folder.file("real", "old");
  chmod(folder.path("real").c_str(), 0640);
  std::filesystem::create_symlink("real", folder.path("link"));
  io::OutputFile file(folder.path("link"));
  file.write("new");
  file.commit();
  CHECK(std::filesystem::is_symlink(folder.path("link")));
  CHECK(read_file(folder.path("real")) == "new");
  struct stat status {};
  REQUIRE(stat(folder.path("real").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0640);
}

TEST_CASE("io.output_file: sizes around the buffer's edge", "[io]") {
  const TempFolder folder;
  const std::size_t size =
      GENERATE(as<std::size_t>(), 0, 1, kBuffer - 1, kBuffer, kBuffer + 1, 3 * kBuffer + 7);
  const std::string name = GENERATE(as<std::string>(), "x", "x.gz");
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>('A' + i * i % 23);
  io::OutputFile file(folder.path(name), 2);
  for (std::size_t i = 0, step = 1; i < size; i += step, step = step * 3 + 1) {
    file.write(std::string_view(text).substr(i, step));
  }
  file.commit();
  const std::string bytes = read_file(folder.path(name));
  CHECK((name == "x" ? bytes : gunzip(bytes)) == text);
}

TEST_CASE("io.output_file: threads fill reserved room, in any order", "[io]") {
  const TempFolder folder;
  const std::string path = folder.path("out");
  std::string expected = "head";
  {
    io::OutputFile file(path);
    REQUIRE(file.takes_offsets());
    file.write("head");
    std::vector<std::pair<std::uint64_t, std::string>> parts;
    for (std::size_t i = 0; i < 40; ++i) {
      const std::string part(1 + 3000 * i, static_cast<char>('A' + i));
      parts.emplace_back(file.reserve(part.size()), part);
      CHECK(parts.back().first == expected.size());
      expected += part;
      if (i % 10 != 9) continue;
      file.write("between");  // behind what is reserved
      expected += "between";
    }
    std::vector<std::thread> threads;
    for (std::size_t first = 0; first < 4; ++first)
      threads.emplace_back([&, first] {
        for (std::size_t i = parts.size(); i-- > 0;)
          if (i % 4 == first) file.write_at(parts[i].first, parts[i].second);
      });
    for (std::thread& thread : threads) thread.join();
    CHECK(file.bytes() == expected.size());
    file.commit();
  }
  CHECK(read_file(path) == expected);
  CHECK_FALSE(io::OutputFile(folder.path("out.gz")).takes_offsets());
  CHECK_FALSE(io::OutputFile("/dev/null").takes_offsets());
}

TEST_CASE("io.output_file: BGZF has the same bytes for any number of threads", "[io]") {
  const TempFolder folder;
  const auto reads = random_reads(11, 20000, 600, true);
  const std::string text = fastq(reads, "\n");
  std::vector<std::string> packed;
  for (const int n_threads : {1, 2, 7}) {
    io::OutputFile file(folder.path("x.fq.gz"), n_threads);
    for (std::size_t i = 0; i < text.size(); i += 100003) {
      file.write(std::string_view(text).substr(i, 100003));
    }
    file.commit();
    packed.push_back(read_file(folder.path("x.fq.gz")));
    CHECK(read_all(folder.path("x.fq.gz"), n_threads) == reads);
  }
  CHECK(packed[0] == packed[1]);
  CHECK(packed[0] == packed[2]);
  CHECK(gunzip(packed[0]) == text);
}

TEST_CASE("io.output_file: every failure names the file and the reason", "[io]") {
  const TempFolder folder;
  const std::string missing = folder.path("no/such/folder.tsv");
  CHECK(write_error(missing, "x") == missing + ": cannot be written: No such file or directory");
  CHECK(write_error(folder.path(""), "x") ==
        folder.path("") + ": cannot be written: Is a directory");
  CHECK(write_error("/dev/full", "x") == "/dev/full: cannot be written: No space left on device");
  CHECK(write_error("/dev/null", "x") == "no error");
}

TEST_CASE("io.output_file: a pipe whose reader is gone is a ClosedPipe", "[io]") {
  const TempFolder folder;
  std::signal(SIGPIPE, SIG_IGN);
  const std::string path = folder.path("fifo");
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  const int reader = open(path.c_str(), O_RDONLY | O_NONBLOCK);
  io::OutputFile file(path);
  close(reader);
  file.write("x");
  CHECK_THROWS_AS(file.commit(), ClosedPipe);
}

TEST_CASE("io.output_file: a signal handler can remove hidden files", "[io]") {
  const TempFolder folder;
  folder.file("done", "whole");
  std::vector<io::output::TempName*> names;
  const std::string deep = folder.path(std::string(200, 'd'));  // names of unlike length
  std::filesystem::create_directory(deep);
  for (int round = 0; round < 2; ++round) {  // the second finds what the first gave back
    for (int i = 0; i < 300; ++i) {
      const std::string path =
          io::output::next_hidden_name((i % 3 == 0 ? deep : folder.path("")) + "/");
      names.push_back(io::output::register_temp(path));
      std::ofstream(path) << "x";
    }
    CHECK(hidden_names(folder).size() == 200);
    io::remove_unfinished_outputs();
    CHECK(std::filesystem::is_empty(deep));
    CHECK(hidden_names(folder).empty());
    for (auto* const name : names) io::output::unregister_temp(name);
    names.clear();
  }
  CHECK(read_file(folder.path("done")) == "whole");
}

TEST_CASE("io.output_file: a signal waits for the last of the guards", "[io]") {
  static std::atomic<int> n_ended{0};
  n_ended = 0;
  std::signal(SIGUSR1, [](int number) {
    if (!io::defer_signal(number)) ++n_ended;
  });
  {
    const io::CommitGuard outer;
    {
      const io::CommitGuard inner;
      std::raise(SIGUSR1);
      std::thread([] { std::raise(SIGUSR1); }).join();  // any thread may get it
    }
    CHECK(n_ended == 0);
  }
  CHECK(n_ended == 1);
  std::raise(SIGUSR1);
  CHECK(n_ended == 2);
  std::signal(SIGUSR1, SIG_DFL);
}

TEST_CASE("io.commit_guard: outputs that go together all get their names, or none", "[io]") {
  const TempFolder folder;
  for (const bool spoilt : {true, false}) {
    const std::string older = folder.file("older", "before");
    std::filesystem::remove(folder.path("new"));
    std::string message;
    try {
      io::OutputFile first(older);
      io::OutputFile second(folder.path("new"));
      io::OutputFile third(folder.path("third"));
      for (io::OutputFile* const file : {&first, &second, &third}) file->write("whole");
      if (spoilt) std::filesystem::create_directory(folder.path("third"));
      const io::CommitGuard guard;
      for (io::OutputFile* const file : {&first, &second, &third}) file->commit();
    } catch (const Error& error) {
      message = error.what();
    }
    CHECK((message.find("third: cannot be renamed: Is a directory") != message.npos) == spoilt);
    CHECK(read_file(older) == (spoilt ? "before" : "whole"));
    CHECK(std::filesystem::exists(folder.path("new")) == !spoilt);
    const auto names = std::filesystem::directory_iterator(folder.path(""));
    CHECK(std::distance(begin(names), end(names)) == (spoilt ? 2 : 3));
    if (spoilt) std::filesystem::remove(folder.path("third"));
  }
}

TEST_CASE("io.output_file: a link to a file that does not exist is followed", "[io]") {
  const TempFolder folder;
  std::filesystem::create_directory(folder.path("far"));
  std::filesystem::create_symlink("far/second", folder.path("first"));
  std::filesystem::create_symlink("../target", folder.path("far/second"));
  io::OutputFile file(folder.path("first"));
  file.write("whole");
  file.commit();
  CHECK(std::filesystem::is_symlink(folder.path("first")));
  CHECK(std::filesystem::is_symlink(folder.path("far/second")));
  CHECK(read_file(folder.path("target")) == "whole");
}
