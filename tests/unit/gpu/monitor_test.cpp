// What is told of devices without a context on them.
#include "gpu/rt/monitor.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/catch.hpp"

using namespace biogpu;

TEST_CASE("gpu.monitor: a list names architectures as a whole", "[gpu]") {
  CHECK(gpu::names_architecture("80-real,90-real,90-virtual", "sm_90"));
  CHECK(gpu::names_architecture("80-real,90-real,90-virtual", "sm_80"));
  CHECK(gpu::names_architecture("gfx90a:xnack-,gfx942", "gfx942"));
  CHECK(gpu::names_architecture("gfx90a:xnack-,gfx942", "gfx90a"));
  CHECK_FALSE(gpu::names_architecture("80-real,90-real", "sm_86"));
  CHECK_FALSE(gpu::names_architecture("90a-real", "sm_90"));
  CHECK_FALSE(gpu::names_architecture("gfx942", "gfx94"));
  CHECK_FALSE(gpu::names_architecture("", "sm_90"));
  CHECK_FALSE(gpu::names_architecture("", ""));
  CHECK_FALSE(gpu::names_architecture(",,", ""));
}

TEST_CASE("gpu.monitor: memory by a library that is opened at run time", "[gpu]") {
  const auto ask = [](const char* library, const char* bus_id) {
    return gpu::Nvml(library).memory(bus_id);
  };
  const auto memory = ask(FAKE_NVML_PATH, "0000:1B:00.0");
  REQUIRE(memory);
  CHECK(memory->total_bytes == 1000);
  CHECK(memory->free_bytes == 600);
  CHECK_FALSE(ask(FAKE_NVML_PATH, "0000:1C:00.0"));
  for (const char* const step : {"init", "find", "memory", "nothing", "nonsense"}) {
    INFO(step);
    setenv("FAKE_NVML", step, 1);
    CHECK_FALSE(ask(FAKE_NVML_PATH, "0000:1B:00.0"));
  }
  unsetenv("FAKE_NVML");
  CHECK_FALSE(ask("libm.so.6", "0000:1B:00.0"));  // has no such functions
  CHECK_FALSE(ask("/nowhere/libnvidia-ml.so.1", "0000:1B:00.0"));
}

TEST_CASE("gpu.monitor: memory by files of the driver", "[gpu]") {
  char name[] = "/tmp/biogpu-pci-XXXXXX";
  const std::filesystem::path bus = mkdtemp(name);
  const auto device = bus / "0000:1b:00.0";
  std::filesystem::create_directory(device);
  const auto write = [&](const char* file, const char* text) {
    std::ofstream(device / file) << text;
  };
  CHECK_FALSE(gpu::sysfs_memory(bus, "0000:1B:00.0"));
  write("mem_info_vram_total", "1000\n");
  CHECK_FALSE(gpu::sysfs_memory(bus, "0000:1B:00.0"));
  write("mem_info_vram_used", "400\n");
  const auto memory = gpu::sysfs_memory(bus, "0000:1B:00.0");
  REQUIRE(memory);
  CHECK(memory->total_bytes == 1000);
  CHECK(memory->free_bytes == 600);
  for (const char* const used : {"", "x", "1001", "-1"}) {
    INFO("'" << used << "'");
    write("mem_info_vram_used", used);
    CHECK_FALSE(gpu::sysfs_memory(bus, "0000:1B:00.0"));
  }
  write("mem_info_vram_used", "0");
  write("mem_info_vram_total", "0");
  CHECK_FALSE(gpu::sysfs_memory(bus, "0000:1B:00.0"));
  std::filesystem::remove_all(bus);
}
