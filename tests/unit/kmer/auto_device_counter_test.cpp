// Counting while devices start, with a table of functions in a GPU backend's place.
#include "lib/kmer/count/auto_device_counter.hpp"

#include <chrono>
#include <mutex>
#include <thread>

#include "lib/core/error.hpp"
#include "lib/core/gpu_backend.hpp"
#include "lib/kmer/device/kmer_gpu.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/kmer/naive.hpp"

using namespace biogpu;

namespace {

constexpr int kLength = 21;
const AutoDecision kWorthGpu{.worth_gpu = true, .reason = {}, .detail = {}};

// What the backend of this test shows, and how long it takes to.
std::vector<DeviceInfo> fake_devices;
std::chrono::milliseconds fake_start{0};

// A device that counts plainly.
class FakeCounter : public kmer::DeviceCounter {
 public:
  bool add(const kmer::PackedText& text) override {
    io::CharBuffer letters;
    text.unpack(letters);
    const std::lock_guard lock(mutex_);  // any thread adds
    test::count_naively(std::string(letters.view()), kLength, true, counts_);
    return true;
  }
  void prepare() override {}
  std::size_t next(std::size_t, std::vector<std::uint64_t>&, std::vector<std::uint64_t>&) override {
    return 0;
  }
  bool next(std::size_t, Block& block) override {
    if (is_taken_) return false;
    is_taken_ = true;
    for (const auto& [letters, count] : counts_) {
      std::uint64_t key = 0;
      for (const char c : letters) key = key << 2 | std::string_view("ACGT").find(c);
      keys_.push_back(key);
      counts_32_.push_back(static_cast<std::uint32_t>(count));
    }
    block.n = keys_.size();
    block.keys = keys_.data();
    block.counts = counts_32_.data();
    return true;
  }
  void clear() override {}
  std::uint64_t n_windows() const override { return 0; }
  kmer::DeviceCountTimes times() const override { return {}; }
  std::uint64_t peak_device_bytes() const override { return 0; }

 private:
  std::mutex mutex_;
  test::NaiveCounts counts_;
  bool is_taken_ = false;
  std::vector<std::uint64_t> keys_;
  std::vector<std::uint32_t> counts_32_;
};

GpuBackend make_fake() {
  GpuBackend backend;
  backend.name = "fake";
  backend.list_devices = [](std::string* why) {
    std::this_thread::sleep_for(fake_start);
    if (fake_devices.empty()) *why = "no GPU found: no driver";
    return fake_devices;
  };
  static const kmer::GpuTable table = {
      [](int, const kmer::DeviceCounterOptions&) {
        return std::unique_ptr<kmer::DeviceCounter>(std::make_unique<FakeCounter>());
      },
      nullptr};
  static const GpuFeature features[] = {gpu_feature_entry(table)};
  backend.features = features;
  return backend;
}

kmer::CountOptions options_for_test() {
  kmer::CountOptions options;
  options.k = kLength;
  options.canonical = true;
  options.order = kmer::KeyOrder::lexicographic(kLength);
  options.n_threads = 2;
  return options;
}

// Three threads add; returns what was counted, and on which device in *name.
test::NaiveCounts count(const std::vector<std::string>& sequences, const std::string& device,
                        std::uint64_t max_memory, std::string* name) {
  kmer::CountOptions options = options_for_test();
  options.max_memory = max_memory;
  int n_told = 0;
  kmer::AutoDeviceCounter counter(options, {parse_device_request(device), kWorthGpu, 0},
                                  [&](const DeviceChoice& choice) {
                                    *name = choice.name;
                                    ++n_told;
                                  });
  std::atomic<bool> failed{false};
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < 3; ++t)
      threads.emplace_back([&, t] {
        try {
          for (std::size_t i = t; i < sequences.size(); i += 3)
            counter.add([&](const kmer::AddSequence& add) { add(sequences[i], {}); });
        } catch (const Error&) {
          failed = true;
        }
      });
  }
  counter.finish();
  CHECK_FALSE(failed);
  CHECK(n_told == 1);
  CHECK(counter.choice().name == *name);
  const auto all = test::all_of(counter, kLength);
  return {all.begin(), all.end()};
}

}  // namespace

extern "C" const GpuBackend* biogpu_gpu_backend() {
  static const GpuBackend backend = make_fake();
  return &backend;
}

TEST_CASE("kmer.auto_device_counter: counts the same whenever the device is ready", "[kmer]") {
  const auto sequences = test::tricky_sequences(7, 400);
  test::NaiveCounts expected;
  for (const std::string& sequence : sequences)
    test::count_naively(sequence, kLength, true, expected);
  DeviceInfo usable;
  usable.name = "card";
  usable.usable = true;
  DeviceInfo useless;
  useless.name = "old card";
  useless.why_not = "too old";
  const std::vector<std::pair<std::vector<DeviceInfo>, std::string>> cases{
      {{usable}, "card"}, {{useless}, "cpu"}, {{}, "cpu"}};
  for (const auto& [devices, used] : cases)
    for (const int start_ms : {0, 3, 100})
      for (const std::uint64_t max_memory : {0u, 2000u}) {
        CAPTURE(used, start_ms, max_memory);
        fake_devices = devices;
        fake_start = std::chrono::milliseconds(start_ms);
        std::string name;
        CHECK(count(sequences, "auto", max_memory, &name) == expected);
        CHECK(name == used);
      }
  fake_devices = {usable};
  std::string name;
  CHECK(count(sequences, "0", 0, &name) == expected);
  CHECK(count(sequences, "cpu", 0, &name) == expected);
  CHECK(name == "cpu");
}

TEST_CASE("kmer.auto_device_counter: a device that cannot be had is an error, read or not",
          "[kmer]") {
  fake_devices.clear();
  fake_start = std::chrono::milliseconds(5);
  for (const bool reads : {false, true}) {
    kmer::AutoDeviceCounter counter(options_for_test(), {parse_device_request("gpu"), kWorthGpu, 0},
                                    [](const DeviceChoice&) {});
    if (reads) counter.add([](const kmer::AddSequence& add) { add("ACGT", {}); });
    CHECK_THROWS_AS(counter.finish(), Error);
  }
  // Given up while the device starts.
  kmer::AutoDeviceCounter counter(options_for_test(), {parse_device_request("gpu"), kWorthGpu, 0},
                                  [](const DeviceChoice&) {});
}
