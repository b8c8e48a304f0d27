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
  CHECK(read_list_lines(folder.file("e", "\xef\xbb\xbf" + text)) == expected);
}

TEST_CASE("qc.list_lines: what cannot be read to its end is an error", "[qc]") {
  const TempFolder folder;
  std::vector<std::string> remarks;
  for (const std::string& path :
       {folder.path(""), folder.path("nofile"), std::string("/proc/self/mem")}) {
    CHECK(says(error_of([&] { read_index_list(path); }), "1 " + path + ": "));
    CHECK(says(error_of([&] { read_adapter_fasta(path, Profile::fastp_0_23, remarks); }),
               "1 " + path + ": "));
  }
}

TEST_CASE("qc.list_lines: fastp 1 takes a sequence of several records once", "[qc]") {
  const TempFolder folder;
  std::vector<std::string> remarks;
  const std::string path =
      folder.file("a.fa", ">b\nGGGTTTAAAC\n>a\nCCCTTTGGG\n>c\ngggtttaaac\n>d\nCCCTTTGGG\n");
  CHECK(read_adapter_fasta(path, Profile::fastp_1, remarks) ==
        std::vector<std::string>{"CCCTTTGGG", "GGGTTTAAAC"});
  CHECK(read_adapter_fasta(path, Profile::fastp_0_23, remarks) ==
        std::vector<std::string>{"CCCTTTGGG", "GGGTTTAAAC", "GGGTTTAAAC", "CCCTTTGGG"});
}

TEST_CASE("qc.list_lines: a list has bounds, and messages too", "[qc]") {
  const TempFolder folder;
  std::vector<std::string> remarks;
  std::string many = ">a\n";
  while (many.size() < 17u << 20) many += std::string(60000, 'A') + "\n";
  const std::string path = folder.file("a.fa", many);
  CHECK(says(error_of([&] { read_adapter_fasta(path, Profile::fastp_0_23, remarks); }),
             "3 " + path + ": is larger"));
  const std::string long_line = folder.file("long", ">a\n" + std::string(2u << 20, 'A'));
  CHECK(says(error_of([&] { read_adapter_fasta(long_line, Profile::fastp_1, remarks); }),
             "3 " + long_line + ": line 2: more than 1048576 bytes"));
  const std::string message = error_of(
      [&] { read_index_list(folder.file("b", "ACGT\n" + std::string(100000, 'n') + "\n")); });
  CHECK(says(message, "line 2: 'nnnn"));
  CHECK(says(message, "(100000 bytes) is no barcode"));
  CHECK(message.size() < 400);
}
