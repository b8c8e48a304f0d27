// Files that another process makes shorter while they are read.
#include <unistd.h>

#include <string>
#include <vector>

#include "lib/core/error.hpp"
#include "lib/io/input/raw_file.hpp"
#include "lib/io/mapped_file.hpp"
#include "lib/io/output_file.hpp"
#include "lib/io/sequence_reader.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/io/files.hpp"

using namespace biogpu;
using test::TempFolder;

namespace {

template <class Function>
std::string message_of(Function&& function) {
  try {
    function();
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::failed);
    return error.what();
  }
  return "";
}

std::string text_of_records(int n, const std::string& record) {
  std::string text;
  for (int i = 0; i < n; ++i) text += record;
  return text;
}

}  // namespace

TEST_CASE("io.raw_file: the end of a file that became shorter is an error", "[io]") {
  const TempFolder folder;
  const std::string path = folder.file("a", std::string(300'000, 'x'));
  io::input::RawFile file(path);
  std::vector<char> bytes(1000);
  CHECK(file.read(bytes.data(), bytes.size()) == 1000);
  REQUIRE(::truncate(path.c_str(), 200'000) == 0);
  bytes.resize(400'000);
  CHECK(message_of([&] { file.read(bytes.data(), bytes.size()); }) ==
        path + ": " + std::string(io::kBecameShorter));
  // One that grows is no error.
  io::input::RawFile grows(path);
  REQUIRE(::truncate(path.c_str(), 250'000) == 0);
  CHECK(grows.read(bytes.data(), bytes.size()) == 250'000);
}

TEST_CASE("io.sequence_reader: a file that became shorter at a record's end is not whole", "[io]") {
  for (const std::string& record :
       {std::string(">r\nACGTACGT\n"), std::string("@r\nACGT\n+\nIIII\n"),
        std::string("r\t4\t*\t0\t0\t*\t*\t0\t0\tACGT\tIIII\n")}) {
    CAPTURE(record);
    const TempFolder folder;
    const int n = 60'000;
    const std::string path = folder.file("a", text_of_records(n, record));
    io::SequenceReader reader(path);
    io::SequenceBatch batch;
    CHECK(reader.read(batch, {5, 1000}));
    const auto n_left = static_cast<off_t>(record.size() * (n - 10));
    REQUIRE(::truncate(path.c_str(), n_left) == 0);
    CHECK(message_of([&] {
            while (reader.read(batch)) {
            }
          }).starts_with(path + ": became shorter"));
  }
}

TEST_CASE("io.mapped_file: no output gets its name after a mapped file became shorter", "[io]") {
  const TempFolder folder;
  const std::string path = folder.file("a", std::string(5000, 'x'));
  {
    const io::MappedFile other(folder.file("b", "y"));
    const io::MappedFile file(path);
    CHECK(io::mapped_file_at(file.data() + 4999) == path);
    CHECK(io::mapped_file_at(&folder) == nullptr);
    io::check_mapped_files();
    io::OutputFile before(folder.path("before"));
    before.commit();
    // Within its last page, where nothing else would tell.
    REQUIRE(::truncate(path.c_str(), 4500) == 0);
    io::OutputFile after(folder.path("after"));
    CHECK(message_of([&] { after.commit(); }) == path + ": " + std::string(io::kBecameShorter));
  }
  {  // Nor when it is no longer mapped.
    io::OutputFile later(folder.path("later"));
    CHECK(message_of([&] { later.commit(); }).starts_with(path));
  }
  CHECK(folder.names() == std::vector<std::string>{"a", "b", "before"});
}
