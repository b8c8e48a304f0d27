#include <new>
#include <numeric>
#include <string>
#include <vector>

#include "gpu/ops/gather/gather_rows.hpp"
#include "gpu/prim/device_sort.hpp"
#include "gpu/rt/buffer.hpp"
#include "gpu/rt/device.hpp"
#include "gpu/rt/error.hpp"
#include "gpu/rt/monitor.hpp"
#include "gpu/rt/stream.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/gpu/gpu_support.hpp"

using namespace biogpu;

TEST_CASE("gpu.device: a listed device has a name, an architecture and memory", "[gpu][device]") {
  if (!test::has_gpu()) return;
  const auto devices = gpu::list_devices(nullptr);
  for (const auto& device : devices) {
    CHECK_FALSE(device.name.empty());
    CHECK_FALSE(device.architecture.empty());
    CHECK(device.memory_total_bytes > 0);
    CHECK(device.memory_free_bytes <= device.memory_total_bytes);
    CHECK((device.wave_width == 32 || device.wave_width == 64));
  }
}

TEST_CASE("gpu.device: what is described is what a listing with contexts finds", "[gpu][device]") {
  if (!test::has_gpu()) return;
  std::string why;
  const auto listed = gpu::list_devices(&why);
  auto described = gpu::describe_devices(&why);
  REQUIRE(described.size() == listed.size());
  for (std::size_t i = 0; i < listed.size(); ++i) {
    CHECK(described[i].index == listed[i].index);
    CHECK(described[i].name == listed[i].name);
    CHECK(described[i].why_not == listed[i].why_not);
    CHECK(described[i].memory_total_bytes == listed[i].memory_total_bytes);
    CHECK(described[i].memory_free_bytes <= described[i].memory_total_bytes);
    CHECK(described[i].memory_free_bytes > 0);
    gpu::set_device(0);
    gpu::open_device(described[i]);
    CHECK(described[i].why_not.empty());
    CHECK(gpu::current_device() == 0);  // as it was
  }
}

TEST_CASE("gpu.device: a device that is not there is named as unavailable", "[gpu][device]") {
  if (!test::has_gpu()) return;
  try {
    gpu::set_device(200);
    FAIL("device 200 was accepted");
  } catch (const gpu::DeviceError& error) {
    CHECK(error.kind() == gpu::DeviceError::Kind::unavailable);
    CHECK(std::string(error.what()).find("hipSetDevice") != std::string::npos);
  }
}

TEST_CASE("gpu.buffer: copies come back as they were, on two streams", "[gpu][device]") {
  if (!test::has_gpu()) return;
  gpu::Stream first;
  gpu::Stream second;
  const std::size_t n = GENERATE(0, 1, 255, 256, 100000);
  gpu::PinnedBuffer<std::uint32_t> host(n);
  for (std::size_t i = 0; i < n; ++i) host.data()[i] = static_cast<std::uint32_t>(i * 7);
  const gpu::DeviceBuffer<std::uint32_t> a(n);
  const gpu::DeviceBuffer<std::uint32_t> b(n);
  gpu::Event copied;
  first.copy_to_device(a.data(), host.data(), host.bytes());
  copied.record(first);
  second.wait_for(copied);
  second.copy_on_device(b.data(), a.data(), a.bytes());
  const auto back = test::to_host(b, second);
  CHECK(std::equal(back.begin(), back.end(), host.data()));
}

TEST_CASE("gpu.buffer: out of memory says how much was asked for and is free", "[gpu][device]") {
  if (!test::has_gpu()) return;
  const std::size_t too_much = gpu::memory_info().total_bytes + (std::size_t{1} << 20);
  try {
    const gpu::DeviceBuffer<std::uint8_t> buffer(too_much);
    FAIL("an allocation above the device's memory succeeded");
  } catch (const gpu::DeviceError& error) {
    CHECK(error.kind() == gpu::DeviceError::Kind::out_of_memory);
    CHECK(std::string(error.what()).find(std::to_string(too_much)) != std::string::npos);
  }
  CHECK_NOTHROW(gpu::DeviceBuffer<std::uint8_t>(1024));  // the error does not linger
}

TEST_CASE("gpu.buffer: no pinned memory is a lack of host memory, not of the device's",
          "[gpu][device]") {
  if (!test::has_gpu()) return;
  const std::size_t too_much = std::size_t{1} << 46;
  try {
    const gpu::PinnedBuffer<std::uint8_t> buffer(too_much);
    FAIL("64 TiB of pinned memory were given");
  } catch (const std::bad_alloc& error) {
    CHECK(std::string(error.what()).find(std::to_string(too_much)) != std::string::npos);
  }
  CHECK_NOTHROW(gpu::PinnedBuffer<std::uint8_t>(1024));  // the error does not linger
}

TEST_CASE("gpu.buffer: memory is given back", "[gpu][device]") {
  if (!test::has_gpu()) return;
  const std::size_t before = gpu::memory_info().free_bytes;
  for (int i = 0; i < 50; ++i) gpu::DeviceBuffer<std::uint8_t>(std::size_t{64} << 20);
  CHECK(gpu::memory_info().free_bytes + (std::size_t{64} << 20) > before);
}

TEST_CASE("gpu.arena: pieces are aligned, apart and refused when it is full", "[gpu][device]") {
  if (!test::has_gpu()) return;
  gpu::Arena arena(4096);
  auto* const a = arena.take<std::uint8_t>(1);
  auto* const b = arena.take<std::uint64_t>(100);
  REQUIRE(a != nullptr);
  REQUIRE(b != nullptr);
  CHECK(reinterpret_cast<std::uintptr_t>(b) - reinterpret_cast<std::uintptr_t>(a) == 256);
  CHECK(arena.used_bytes() == 256 + 800);
  CHECK(arena.take<std::uint8_t>(4096) == nullptr);
  arena.reset();
  CHECK(arena.take<std::uint8_t>(4096) == a);
}

TEST_CASE("gpu.event: time between two events is not negative", "[gpu][device]") {
  if (!test::has_gpu()) return;
  gpu::Stream stream;
  const gpu::DeviceBuffer<std::uint8_t> memory(1 << 20);
  gpu::Event start;
  gpu::Event stop;
  start.record(stream);
  stream.fill(memory.data(), 1, memory.bytes());
  stop.record(stream);
  stop.synchronize();
  CHECK(stop.seconds_since(start) >= 0);
}

TEST_CASE(
    "gpu.stream: the emulated platform refuses kernels of another device than the current one",
    "[gpu][device]") {
  if (!test::is_emulated()) return;
  if (gpu::list_devices(nullptr).size() < 2) {
    WARN("skipped: needs BIOGPU_EMULATED_DEVICES=2, as CTest sets it");
    ++test::n_skipped;
    return;
  }
  gpu::set_device(1);
  gpu::Stream stream;
  const std::vector<float> zeros(4);
  const auto numbers = test::to_device(zeros, stream);
  const auto keys = test::to_device(std::vector<std::uint32_t>{2, 1}, stream);
  const gpu::DeviceBuffer<std::uint32_t> sorted(2);
  const gpu::DeviceBuffer<std::uint8_t> room(gpu::sort_workspace_bytes_u32(2, 32));
  const auto sort = [&] {
    gpu::sort_keys(keys.data(), sorted.data(), 2, 32, room.data(), room.size(), stream);
  };
  const gpu::ops::Rows row{numbers.data(), 4, gpu::ops::Element::f32};
  gpu::set_device(0);
  CHECK_THROWS_AS(gpu::ops::launch_copy_rows(row, row, nullptr, 1, 4, stream), gpu::DeviceError);
  CHECK_THROWS_AS(sort(), gpu::DeviceError);
  gpu::set_device(1);
  CHECK_NOTHROW(gpu::ops::launch_copy_rows(row, row, nullptr, 1, 4, stream));
  CHECK(test::to_host(numbers, stream) == zeros);
  CHECK_NOTHROW(sort());
  CHECK(test::to_host(sorted, stream) == std::vector<std::uint32_t>{1, 2});
  gpu::set_device(0);
}
