// What scripts/dev/rocm_build.sh --check asks of a library of a few kernel files, linked with AMD's
// runtime, where there is no card: each call that needs a device must say so by DeviceError, and
// none may crash.
#include <cstdint>
#include <exception>
#include <string>

#include "gpu/bwt/fm_search.hpp"
#include "gpu/kmer/lookup/lookup_table.hpp"
#include "gpu/rt/buffer.hpp"
#include "gpu/rt/device.hpp"
#include "gpu/rt/error.hpp"
#include "gpu/rt/stream.hpp"

namespace biogpu::gpu {
namespace {

class Report {
 public:
  // why: "" where what was asked for is there after all.
  void add(const char* call, bool holds, const std::string& why) {
    text_ += (holds ? "ok " : "FAILED ") + std::string(call) + ": " + why + '\n';
  }

  template <class Call>
  void expect_no_device(const char* name, const Call& call) {
    try {
      call();
      add(name, false, "it found a device");
    } catch (const DeviceError& error) {
      add(name, error.kind() == DeviceError::Kind::unavailable, error.what());
    } catch (const std::exception& error) {
      add(name, false, "another error: " + std::string(error.what()));
    }
  }

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string ask() {
  Report report;
  std::string why;
  const bool is_empty = list_devices(&why).empty();
  report.add("list of devices", is_empty && !why.empty(), why);
  report.expect_no_device("properties of device 0", [] { device_properties(0); });
  report.expect_no_device("memory", [] { const DeviceBuffer<std::uint8_t> memory(1); });
  report.expect_no_device("stream", [] { const Stream stream; });
  report.expect_no_device("search of an index", [] {
    const std::uint8_t bytes[64] = {};
    const bwt::FmSearcher searcher(bytes, sizeof bytes, {});
  });
  report.expect_no_device("look-up of k-mers", [] {
    kmer::LookupTableOptions options;
    options.k = 21;
    options.n_keys = 1;
    const kmer::LookupTable table(options);
  });
  return report.text();
}

}  // namespace
}  // namespace biogpu::gpu

// Lines of "ok CALL: REASON" or "FAILED CALL: REASON". The text lives until the next call.
extern "C" const char* biogpu_linked_sample() {
  static std::string text;
  text = biogpu::gpu::ask();
  return text.c_str();
}
