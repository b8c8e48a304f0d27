// Which devices a run takes, with a table of functions in a GPU backend's place.
#include "lib/core/device.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "lib/core/error.hpp"
#include "lib/core/gpu_backend.hpp"
#include "tests/support/catch.hpp"

using namespace biogpu;

namespace {

// What the backend of this test shows.
std::vector<DeviceInfo> fake_devices;
int n_listings = 0;
std::mutex opening;
std::vector<int> opened;  // guarded by it

void open_fake_device(DeviceInfo& device) {
  const std::lock_guard lock(opening);
  opened.push_back(device.index);
  if (device.name == "broken") {
    device.usable = false;
    device.why_not = "another process holds it";
  }
}

std::vector<int> opened_in_order() {
  std::sort(opened.begin(), opened.end());
  return std::exchange(opened, {});
}

std::vector<DeviceInfo> list_fake_devices(std::string* why) {
  ++n_listings;
  if (fake_devices.empty()) *why = "no GPU found: no driver";
  return fake_devices;
}

// A feature of the backend, and one that it does not have.
struct Painter {
  static constexpr const char* kFeature = "painter";
  int (*paint)(int colour);
};
struct Absent {
  static constexpr const char* kFeature = "absent";
};

const Painter kPainter{[](int colour) { return colour + 1; }};
const GpuFeature kFeatures[] = {gpu_feature_entry(kPainter)};

GpuBackend make_fake() {
  GpuBackend backend;
  backend.name = "fake";
  backend.list_devices = &list_fake_devices;
  backend.features = kFeatures;
  backend.name_devices = &list_fake_devices;
  backend.open_device = &open_fake_device;
  return backend;
}

DeviceInfo device(int index, const std::string& why_not) {
  DeviceInfo info;
  info.index = index;
  info.name = "card " + std::to_string(index);
  info.usable = why_not.empty();
  info.why_not = why_not;
  return info;
}

// "4 <message>" of the error that choosing throws.
std::string refusal(std::string_view request) {
  try {
    (void)choose_device(parse_device_request(request), true, kAllGpus);
  } catch (const Error& error) {
    return std::to_string(static_cast<int>(error.code())) + " " + error.what();
  }
  return "no error";
}

}  // namespace

extern "C" const GpuBackend* biogpu_gpu_backend() {
  static const GpuBackend fake = make_fake();
  return &fake;
}

TEST_CASE("core.device: words and lists of numbers are understood", "[core]") {
  using Kind = DeviceRequest::Kind;
  CHECK(parse_device_request("auto").kind == Kind::automatic);
  CHECK(parse_device_request("cpu").kind == Kind::cpu);
  CHECK(parse_device_request("gpu").kind == Kind::gpu);
  const DeviceRequest listed = parse_device_request("3,0,255");
  CHECK(listed.kind == Kind::listed);
  CHECK(listed.indices == std::vector<int>{3, 0, 255});
}

TEST_CASE("core.gpu_backend: a feature is found by name", "[core]") {
  CHECK(gpu_feature<Painter>().paint(4) == 5);
  std::string absent;
  try {
    (void)gpu_feature<Absent>();
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::device);
    absent = error.what();
  }
  CHECK(absent == "the GPU backend fake has no 'absent'; use --device cpu");
}

TEST_CASE("core.device: anything else is wrong usage", "[core]") {
  const std::string text =
      GENERATE(as<std::string>(), "", ",", "0,", ",0", "0,,1", "-1", "+1", " 0", "0 ", "1.5", "256",
               "99999999999999999999", "GPU", "gpu,0", "tpu", "0,0", "1,2,1");
  INFO('\'' << text << '\'');
  try {
    (void)parse_device_request(text);
    FAIL("it was accepted");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::usage);
    CHECK(std::string(error.what()).find("--device") == 0);
  }
}

TEST_CASE("core.device: cpu and small input ask no driver", "[core]") {
  fake_devices = {device(0, "")};
  n_listings = 0;
  CHECK_FALSE(choose_device(parse_device_request("cpu"), true, kAllGpus).on_gpu());
  const DeviceChoice small = choose_device(parse_device_request("auto"), false, kAllGpus);
  CHECK_FALSE(small.on_gpu());
  CHECK(small.name == "cpu");
  CHECK(small.reason == "the input is too small to pay for a GPU");
  CHECK(n_listings == 0);
}

TEST_CASE("core.device: auto and gpu take every usable device", "[core]") {
  fake_devices = {device(0, "no code for it"), device(1, ""), device(2, "")};
  const std::string request = GENERATE(as<std::string>(), "auto", "gpu");
  // The input's size is no matter to someone who asks for a GPU.
  const DeviceChoice choice =
      choose_device(parse_device_request(request), request == "auto", kAllGpus);
  CHECK(choice.gpus == std::vector<int>{1, 2});
  CHECK(choice.name == "card 1");
  CHECK(choice.reason == (request == "auto" ? "found and worth its start" : "asked for"));
}

TEST_CASE("core.device: listed devices are taken in the order asked for", "[core]") {
  fake_devices = {device(0, ""), device(1, "no code for it"), device(2, "")};
  const DeviceChoice choice = choose_device(parse_device_request("2,0"), false, kAllGpus);
  CHECK(choice.gpus == std::vector<int>{2, 0});
  CHECK(choice.name == "card 2");
  CHECK(refusal("0,1") == "4 device 1 (card 1): no code for it");
  CHECK(refusal("5") == "4 device 5: there are 3 devices; see 'biogpu devices'");
}

TEST_CASE("core.device: devices that do not pay for their start are not opened", "[core]") {
  fake_devices = {device(0, ""), device(1, ""), device(2, ""), device(3, "")};
  opened.clear();
  const DeviceChoice one = choose_device(parse_device_request("gpu"), true, 1);
  CHECK(one.gpus == std::vector<int>{0});
  CHECK(one.n_offered == 4);
  CHECK(one.reason == "asked for; 1 of 4 devices used");
  CHECK(opened_in_order() == std::vector<int>{0});
  const DeviceChoice listed = choose_device(parse_device_request("3,1,0"), false, 2);
  CHECK(listed.gpus == std::vector<int>{3, 1});
  CHECK(listed.reason == "asked for; 2 of 3 devices used");
  CHECK(opened_in_order() == std::vector<int>{1, 3});
  CHECK(choose_device(parse_device_request("2,1"), false, 7).reason == "asked for");
  CHECK(opened_in_order() == std::vector<int>{1, 2});
  CHECK(choose_device(parse_device_request("gpu"), true, 0).gpus == std::vector<int>{0});
  opened.clear();
  // A number that is not there is an error also where its device would not be used.
  CHECK_THROWS_AS(choose_device(parse_device_request("0,9"), true, 1), Error);
  CHECK(opened.empty());
}

TEST_CASE("core.device: another device takes the place of one that cannot be opened", "[core]") {
  fake_devices = {device(0, ""), device(1, ""), device(2, "")};
  fake_devices[0].name = "broken";
  opened.clear();
  const DeviceChoice choice = choose_device(parse_device_request("gpu"), true, 1);
  CHECK(choice.gpus == std::vector<int>{1});
  CHECK(choice.reason == "asked for; 1 of 2 devices used");
  CHECK(opened_in_order() == std::vector<int>{0, 1});
  CHECK(refusal("1,0") == "4 device 0 (broken): another process holds it");
}

TEST_CASE("core.device: without a usable device auto falls to the CPU and gpu fails", "[core]") {
  const bool driver = GENERATE(false, true);
  fake_devices.clear();
  if (driver) fake_devices = {device(0, "no code for it")};
  const std::string why = driver ? "card 0: no code for it" : "no GPU found: no driver";
  const DeviceChoice choice = choose_device(parse_device_request("auto"), true, kAllGpus);
  CHECK_FALSE(choice.on_gpu());
  CHECK(choice.name == "cpu");
  CHECK(choice.reason == why);
  CHECK(refusal("gpu") == "4 no GPU can be used: " + why + "; use --device cpu");
}

TEST_CASE("core.device: the reason is given only where no device is listed", "[core]") {
  std::string why = "untouched";
  fake_devices = {device(0, "")};
  CHECK(list_devices(&why).size() == 1);
  CHECK(why == "untouched");
  fake_devices.clear();
  CHECK(list_devices(&why).empty());
  CHECK(why == "no GPU found: no driver");
  CHECK(list_devices(nullptr).empty());
}
