#include <cstdint>

#include "apps/biogpu-bench/report.hpp"
#include "gpu/prim/device_sort.hpp"
#include "gpu/roofline/roofline.hpp"
#include "gpu/rt/buffer.hpp"
#include "gpu/rt/device.hpp"
#include "gpu/rt/stream.hpp"

namespace biogpu::bench {
namespace {

using gpu::roofline::Operation;

// Device seconds of what queue() puts on the stream.
template <class Queue>
double device_seconds(gpu::Stream& stream, Queue&& queue) {
  gpu::Event start, stop;
  start.record(stream);
  queue();
  stop.record(stream);
  stop.synchronize();
  return stop.seconds_since(start);
}

class GpuLimits {
 public:
  explicit GpuLimits(bool quick) : quick_(quick), runs_(quick ? 1 : 7) {}

  std::vector<Figure> all() {
    measure_copies();
    measure_gathers();
    measure_sort<std::uint32_t>("sort 32-bit keys", gpu::sort_workspace_bytes_u32);
    measure_sort<std::uint64_t>("sort 64-bit keys", gpu::sort_workspace_bytes_u64);
    measure_operation("add, 32-bit", Operation::add_u32);
    measure_operation("multiply-add, fp32", Operation::multiply_add_f32);
    measure_operation("packed add, 2 x 16-bit", Operation::packed_add);
    measure_operation("packed max, 2 x 16-bit", Operation::packed_max);
    measure_operation("packed max of 3, 2 x 16-bit", Operation::packed_max3);
    measure_operation("packed add-max, 2 x 16-bit", Operation::packed_add_max);
    measure_operation("packed add-max-relu, 2 x 16-bit", Operation::packed_add_max_relu);
    measure_matrix();
    return figures_;
  }

 private:
  template <class Rate>
  void add(std::string name, std::string unit, std::string how, Rate&& rate) {
    figures_.push_back(
        measure(std::move(name), std::move(unit), std::move(how), runs_, std::forward<Rate>(rate)));
  }

  void measure_copies() {
    const std::size_t bytes = quick_ ? 1 << 16 : std::size_t{1} << 31;
    const gpu::DeviceBuffer<std::uint8_t> from(bytes), to(bytes);
    stream_.fill(from.data(), 1, bytes);
    add("device copy", "GB/s", "2 GiB, bytes read plus bytes written", [&] {
      return 2e-9 * static_cast<double>(bytes) / device_seconds(stream_, [&] {
               stream_.copy_on_device(to.data(), from.data(), bytes);
             });
    });
    const std::size_t host_bytes = quick_ ? 1 << 16 : std::size_t{1} << 28;
    const gpu::PinnedBuffer<std::uint8_t> host(host_bytes);
    add("host to device", "GB/s", "256 MiB, pinned", [&] {
      return 1e-9 * static_cast<double>(host_bytes) / device_seconds(stream_, [&] {
               stream_.copy_to_device(to.data(), host.data(), host_bytes);
             });
    });
    add("device to host", "GB/s", "256 MiB, pinned", [&] {
      return 1e-9 * static_cast<double>(host_bytes) / device_seconds(stream_, [&] {
               stream_.copy_to_host(host.data(), from.data(), host_bytes);
             });
    });
  }

  void measure_gathers() {
    const std::uint32_t n_blocks = quick_ ? 1 << 10 : 1u << 28;  // 8 GiB, far above the caches
    const std::size_t n = quick_ ? 1 << 12 : std::size_t{1} << 28;
    const gpu::DeviceBuffer<std::uint32_t> table(std::size_t{8} * n_blocks), out(n);
    stream_.fill(table.data(), 1, table.bytes());
    add("random 32-byte gathers", "G/s", "from 8 GiB, one thread a block of 32 bytes", [&] {
      return 1e-9 * static_cast<double>(n) / device_seconds(stream_, [&] {
               gpu::roofline::launch_gather(table.data(), n_blocks, n, out.data(), stream_);
             });
    });
  }

  template <class Key>
  void measure_sort(const char* name, std::size_t (*workspace_bytes)(std::size_t, int)) {
    const std::size_t n = quick_ ? 1 << 12 : std::size_t{1} << 28;
    constexpr int kBits = 8 * sizeof(Key);
    const gpu::DeviceBuffer<Key> in(n), out(n);
    const gpu::DeviceBuffer<std::uint8_t> workspace(workspace_bytes(n, kBits));
    // Any bytes are keys: those that the operations kernel leaves behind look random enough.
    const std::size_t n_words = n * sizeof(Key) / sizeof(std::uint32_t);
    gpu::roofline::launch_operations(Operation::add_u32, 3, n_words,
                                     reinterpret_cast<std::uint32_t*>(in.data()), stream_);
    add(name, "Gkeys/s", "2^28 keys", [&] {
      return 1e-9 * static_cast<double>(n) / device_seconds(stream_, [&] {
               gpu::sort_keys(in.data(), out.data(), n, kBits, workspace.data(), workspace.size(),
                              stream_);
             });
    });
  }

  void measure_operation(const char* name, Operation operation) {
    const std::uint32_t n_iterations = quick_ ? 2 : 2000;
    const std::size_t n_threads =
        quick_ ? 256 : static_cast<std::size_t>(stream_.n_multiprocessors()) * 2048 * 4;
    const gpu::DeviceBuffer<std::uint32_t> out(n_threads);
    add(name, "T/s", "thread instructions, 8 independent chains a thread", [&] {
      const double n = static_cast<double>(n_threads) * n_iterations;
      return 1e-12 * n * gpu::roofline::kOperationsPerRound / device_seconds(stream_, [&] {
               gpu::roofline::launch_operations(operation, n_iterations, n_threads, out.data(),
                                                stream_);
             });
    });
  }

  void measure_matrix() {
    const std::uint32_t n_iterations = quick_ ? 1 : 4000;
    const std::size_t n_waves =
        quick_ ? 4 : static_cast<std::size_t>(stream_.n_multiprocessors()) * 16 * 4;
    const gpu::DeviceBuffer<float> out(n_waves * static_cast<std::size_t>(stream_.wave_width()));
    add("matrix tiles, bf16", "TFLOP/s", "16 x 16 x 16 by one wave, fp32 sums", [&] {
      const double n = static_cast<double>(n_waves) * n_iterations * gpu::roofline::kTilesPerRound;
      return 1e-12 * n * 2 * 16 * 16 * 16 / device_seconds(stream_, [&] {
               gpu::roofline::launch_matrix_tiles(n_iterations, n_waves, out.data(), stream_);
             });
    });
  }

  const bool quick_;
  const int runs_;
  gpu::Stream stream_;
  std::vector<Figure> figures_;
};

}  // namespace

std::vector<Figure> measure_gpu(int device, bool quick) {
  gpu::set_device(device);
  return GpuLimits(quick).all();
}

std::string describe_gpu(int device, std::string* why) {
  for (const auto& found : gpu::list_devices(why)) {
    if (found.index != device) continue;
    *why = found.why_not;
    return found.why_not.empty() ? found.name + " (" + found.architecture + ")" : std::string();
  }
  return {};
}

}  // namespace biogpu::bench
