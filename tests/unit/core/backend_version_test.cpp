// A backend module of another build next to the program is refused and never called.
#include "lib/core/device.hpp"
#include "lib/core/error.hpp"
#include "lib/core/gpu_backend.hpp"
#include "tests/support/catch.hpp"

using namespace biogpu;

TEST_CASE("core.gpu_backend: a module of another build is refused by name", "[core]") {
  std::string why;
  CHECK(gpu_backend(&why) == nullptr);
  CHECK(why.find("libbiogpu_rocm.so is of another build of biogpu; install both from one build") !=
        std::string::npos);
}

TEST_CASE("core.gpu_backend: a refused module leaves the CPU", "[core]") {
  std::string why;
  CHECK(list_devices(&why).empty());
  CHECK(why.find("another build") != std::string::npos);
  const DeviceChoice choice = choose_device(parse_device_request("auto"), true, kAllGpus);
  CHECK_FALSE(choice.on_gpu());
  CHECK(choice.reason == why);
  CHECK_THROWS_AS(choose_device(parse_device_request("0"), true, kAllGpus), Error);
}
