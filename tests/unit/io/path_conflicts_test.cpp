#include "lib/io/output/path_conflicts.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "lib/core/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/io/files.hpp"

using namespace biogpu;
using namespace biogpu::test;

namespace {

std::string clash(const std::vector<io::NamedFile>& inputs,
                  const std::vector<io::NamedFile>& outputs) {
  try {
    io::require_distinct_files(inputs, outputs);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::usage);
    return error.what();
  }
  return "none";
}

std::string clash_of_outputs(const std::string& a, const std::string& b) {
  return clash({}, {{"-o", a}, {"-j", b}});
}

}  // namespace

TEST_CASE("io.path_conflicts: one file under several names", "[io]") {
  const TempFolder folder;
  const std::string there = folder.file("there", "x");
  const std::string missing = folder.path("missing");
  std::filesystem::create_symlink("there", folder.path("link"));
  std::filesystem::create_hard_link(there, folder.path("twin"));
  std::filesystem::create_directory(folder.path("sub"));
  std::filesystem::create_directory_symlink(".", folder.path("here"));
  for (const std::string name : {"there", "./there", "sub/../there", "link", "twin", "here/link"})
    CHECK(clash({{"-i", there}}, {{"-o", folder.path(name)}}) ==
          "-i and -o name the same file: " + folder.path(name) +
              "; expected an output that is no input");
  for (const std::string name : {"missing", "./missing", "sub/../missing", "here/missing"})
    CHECK(clash_of_outputs(missing, folder.path(name)) ==
          "-o and -j name the same file: " + folder.path(name) +
              "; expected a file for each output");
  CHECK(clash_of_outputs("new", "./new") ==
        "-o and -j name the same file: ./new; expected a file for each output");
}

TEST_CASE("io.path_conflicts: other files, and what is no file", "[io]") {
  const TempFolder folder;
  const std::string there = folder.file("there", "x");
  const std::string pipe = folder.path("pipe");
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(clash({{"-i", there}, {"-I", there}}, {{"-o", folder.path("b")}}) == "none");
  CHECK(clash_of_outputs(folder.path("a"), folder.path("b")) == "none");
  CHECK(clash_of_outputs("no/such/folder/a", "no/such/folder/b") == "none");
  for (const std::string& path : {std::string(), std::string("/dev/null"), pipe})
    CHECK(clash({{"-i", path}}, {{"-o", path}, {"-j", path}}) == "none");
  CHECK(clash({{"-i", "-"}}, {{"-o", "-"}}) == "none");
  for (const std::string& path : {std::string("-"), std::string("/dev/stdout")})
    CHECK(clash_of_outputs("-", path) ==
          "-o and -j cannot both go to standard output; give one of them a file");
}

TEST_CASE("io.path_conflicts: inputs that can be read only once", "[io]") {
  const TempFolder folder;
  const std::string pipe = folder.path("pipe");
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  std::filesystem::create_symlink("pipe", folder.path("link"));
  CHECK(clash({{"-i", "-"}}, {}) == "none");
  CHECK(clash({{"-i", "-"}, {"-i", "-"}}, {}) ==
        "'-' is given twice; standard input can be read only once");
  CHECK(clash({{"-i", "-"}, {"-I", "-"}}, {}) ==
        "-i '-' and -I '-' are the same stream; standard input can be read only once");
  CHECK(clash({{"-i", pipe}, {"-i", pipe}}, {}) ==
        "'" + pipe + "' is given twice; a pipe can be read only once");
  CHECK(clash({{"-i", pipe}, {"-I", folder.path("link")}}, {}) ==
        "-i '" + pipe + "' and -I '" + folder.path("link") +
            "' are the same stream; a pipe can be read only once");
  CHECK(clash({{"-i", "/dev/null"}, {"-i", "/dev/null"}}, {}) == "none");
}

TEST_CASE("io.path_conflicts: indexes, descriptors and links to nothing", "[io]") {
  const TempFolder folder;
  const std::string genome = folder.file("g.fa", "x");
  for (const char* const suffix : {".fai", ".gzi", ".csi"})
    CHECK(clash({{"-i", genome}}, {{"-o", genome + suffix}}) ==
          "the index of -i and -o name the same file: " + genome + suffix +
              "; expected an output that is no input");
  std::filesystem::create_symlink("missing", folder.path("link"));
  CHECK(clash_of_outputs(folder.path("missing"), folder.path("link")) ==
        "-o and -j name the same file: " + folder.path("link") +
            "; expected a file for each output");
  const std::string path = folder.file("stream", "");
  const int descriptor = open(path.c_str(), O_WRONLY);  // NOLINT: inherited ones have no O_CLOEXEC
  REQUIRE(descriptor >= 0);
  const std::string name = "/dev/fd/" + std::to_string(descriptor);
  CHECK(clash({{"-i", path}}, {{"-o", name}}) ==
        "-i and -o name the same file: " + name + "; expected an output that is no input");
  CHECK(clash_of_outputs(name, path) ==
        "-o and -j name the same file: " + path + "; expected a file for each output");
  CHECK(clash_of_outputs(name, "/proc/self/fd/" + std::to_string(descriptor)) ==
        "-o and -j cannot both go to descriptor " + std::to_string(descriptor) +
            "; give one of them a file");
  CHECK(io::is_standard_stream(name));
  CHECK(!io::is_standard_stream(path));
  close(descriptor);
}
