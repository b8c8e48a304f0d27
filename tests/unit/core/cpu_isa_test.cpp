#include "lib/core/cpu_isa.hpp"
#include "lib/core/error.hpp"
#include "tests/support/catch.hpp"

using namespace biogpu;

TEST_CASE("core.cpu_isa: an unknown instruction set is a usage error", "[core]") {
  CHECK_THROWS_AS(force_cpu_isa("avx9"), Error);
  force_cpu_isa("");
  CHECK_FALSE(cpu_isa().empty());
}

TEST_CASE("core.cpu_isa: what is forced is what is used", "[core]") {
#if defined(__aarch64__)
  force_cpu_isa("neon");
  CHECK(cpu_isa() == "NEON");
#else
  force_cpu_isa("sse4");
  CHECK(cpu_isa() == "SSE4");
#endif
  force_cpu_isa("");
}
