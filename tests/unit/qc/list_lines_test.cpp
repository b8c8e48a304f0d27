#include "lib/qc/options/list_lines.hpp"

#include "lib/core/error.hpp"
#include "lib/qc/options/options.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/io/files.hpp"
#include "tests/unit/qc/says.hpp"

using namespace biogpu;
using namespace biogpu::qc;
using biogpu::test::says;
using biogpu::test::TempFolder;

namespace {

// "1 path: reason": the exit code and the message.
template <class Function>
std::string error_of(Function&& function) {
  try {
    function();
  } catch (const Error& error) {
    return std::to_string(static_cast<int>(error.code())) + " " + error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("qc.list_lines: lines of any end, plain and compressed", "[qc]") {
  const TempFolder folder;
  const std::string text = "ACGT\r\n\nTT\n\nGG";
  const std::vector<std::string> expected{"ACGT", "", "TT", "", "GG"};
  CHECK(read_list_lines(folder.file("a", text)) == expected);
  CHECK(read_list_lines(folder.file("b", text + "\n")) == expected);
  CHECK(read_list_lines(folder.file("c", test::gzip(text))) == expected);
  CHECK(read_list_lines(folder.file("d", "")).empty());
}

TEST_CASE("qc.list_lines: what cannot be read to its end is an error", "[qc]") {
  const TempFolder folder;
  std::vector<std::string> remarks;
  for (const std::string& path :
       {folder.path(""), folder.path("nofile"), std::string("/proc/self/mem")}) {
    CHECK(says(error_of([&] { read_index_list(path); }), "1 " + path + ": "));
    CHECK(says(error_of([&] { read_adapter_fasta(path, remarks); }), "1 " + path + ": "));
  }
}

TEST_CASE("qc.list_lines: a list has bounds, and messages too", "[qc]") {
  const TempFolder folder;
  std::vector<std::string> remarks;
  const std::string path = folder.file("a.gz", test::gzip(">a\n" + std::string(17u << 20, 'A')));
  CHECK(says(error_of([&] { read_adapter_fasta(path, remarks); }), "3 " + path + ": is larger"));
  const std::string message = error_of(
      [&] { read_index_list(folder.file("b", "ACGT\n" + std::string(100000, 'n') + "\n")); });
  CHECK(says(message, "line 2: 'nnnn"));
  CHECK(says(message, "(100000 bytes) is no barcode"));
  CHECK(message.size() < 400);
}
