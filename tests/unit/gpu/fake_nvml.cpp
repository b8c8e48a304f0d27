// A library with the functions of NVML that gpu/rt/monitor.cpp calls; FAKE_NVML says what fails.
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

bool fails(std::string_view step) {
  const char* const named = std::getenv("FAKE_NVML");
  return named != nullptr && step == named;
}
int n_open = 0;
int device_of_machine = 0;

struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

}  // namespace

extern "C" {
int nvmlInitWithFlags(unsigned flags) {
  if (fails("init") || flags != 0) return 1;
  ++n_open;
  return 0;
}
int nvmlShutdown() {
  --n_open;
  return 0;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, void** device) {
  if (n_open == 0 || fails("find") || std::strcmp(bus_id, "0000:1B:00.0") != 0) return 2;
  *device = &device_of_machine;
  return 0;
}
int nvmlDeviceGetMemoryInfo(void* device, Memory* memory) {
  if (n_open == 0 || fails("memory") || device != &device_of_machine) return 3;
  *memory = {1000, 600, 400};
  if (fails("nothing")) *memory = {0, 0, 0};
  if (fails("nonsense")) *memory = {1000, 2000, 0};
  return 0;
}
}
