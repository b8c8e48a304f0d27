#include "lib/qc/output/async_writer.hpp"

#include <unistd.h>

#include <string>

#include "lib/core/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/io/files.hpp"

using namespace biogpu;
using namespace biogpu::qc;

namespace {

io::CharBuffer buffer_of(const std::string& text) {
  io::CharBuffer buffer;
  buffer.append(text.data(), text.size());
  return buffer;
}

}  // namespace

TEST_CASE("qc.async_writer: texts come in their order, and buffers come back empty", "[qc]") {
  const test::TempFolder folder;
  io::output::AtomicFile file(folder.path("out"));
  std::string expected;
  {
    AsyncWriter writer(file);
    for (int i = 0; i < 500; ++i) {
      const std::string text = std::string(static_cast<std::size_t>(i % 97), 'x') + "\n";
      io::CharBuffer buffer = buffer_of(text);
      writer.write(buffer);
      CHECK(buffer.size() == 0);
      expected += text;
    }
    writer.finish();
  }
  file.commit();
  CHECK(test::read_file(folder.path("out")) == expected);
}

TEST_CASE("qc.async_writer: a full disk is told by finish at the latest", "[qc]") {
  if (access("/dev/full", W_OK) != 0) return;
  io::output::AtomicFile file("/dev/full");
  AsyncWriter writer(file);
  io::CharBuffer buffer = buffer_of("text");
  writer.write(buffer);
  CHECK_THROWS_AS(writer.finish(), Error);
  buffer = buffer_of("text");
  CHECK_THROWS_AS(writer.write(buffer), Error);
}

TEST_CASE("qc.async_writer: without finish nothing waits", "[qc]") {
  const test::TempFolder folder;
  io::output::AtomicFile file(folder.path("out"));
  AsyncWriter writer(file);
  io::CharBuffer buffer = buffer_of(std::string(1 << 20, 'x'));
  writer.write(buffer);
}
