// The registers and the shared memory of a block, and the loop that runs its waves.
#include "machine.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <unordered_map>

#include "instructions.hpp"

namespace hip_on_gfx942 {
namespace {

constexpr int kLanes = 64;
constexpr int kScalarRegisters = 260, kVectorRegisters = 256;
// Places among the scalar registers: those that instructions name, and those of the translations.
constexpr int kSharedBase = 235, kPrivateBase = 237, kExec = 126, kProgramCounter = 256,
              kScratchStride = 259;
constexpr std::uint64_t kEnded = ~std::uint64_t{0};
constexpr std::uint32_t kGarbage = 0x7fa5a5a5;  // what registers and memory hold before: a NaN
constexpr std::uint64_t kTurn = 1 << 16;  // instructions of a wave before the next has its turn
constexpr std::size_t kSharedBytes = 64 << 10;
constexpr std::size_t kSharedWindow = (std::size_t{1} << 32) + 4096;

struct Descriptor {
  std::uint32_t shared_bytes, scratch_bytes, argument_bytes, reserved;
  std::int64_t entry;
  unsigned char reserved_too[20];
  std::uint32_t resources3, resources1, resources2;
  std::uint16_t properties, preloaded;
  std::uint32_t reserved_last;
};
static_assert(sizeof(Descriptor) == 64);

struct Wave {
  std::vector<std::uint32_t> scalars, vectors, accumulators;
  std::vector<unsigned char> scratch;
  bool waits = false, ended = false;
  std::uint64_t arrays[kNumArrays] = {};

  std::uint64_t program_counter() const {
    return scalars[kProgramCounter] | std::uint64_t{scalars[kProgramCounter + 1]} << 32;
  }
  void set_pair(int at, std::uint64_t value) {
    scalars[static_cast<std::size_t>(at)] = static_cast<std::uint32_t>(value);
    scalars[static_cast<std::size_t>(at) + 1] = static_cast<std::uint32_t>(value >> 32);
  }
};

// What a launch is, and what its waves begin with.
struct Launch {
  const std::string& name;
  Descriptor descriptor;
  std::uint64_t entry, arguments, packet;
  Dimensions threads;
};

// Where a fault happens: told before the program ends.
const char* volatile current_kernel = "";
const char* volatile current_instruction = "";
volatile std::uint64_t current_offset = 0;

void tell_fault(int signal) {
  char text[512];
  const int size = std::snprintf(
      text, sizeof text, "gfx942: a fault in kernel %s, instruction %s at %llx\n", current_kernel,
      current_instruction, static_cast<unsigned long long>(current_offset));
  (void)!write(2, text, static_cast<std::size_t>(size));
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

// Shared memory begins where the lower half of addresses is zero, so that an address in it and its
// flat address differ in the upper half alone, as on the device. All 32 bits of an address are
// there to be read: the emulator reads for lanes that are switched off, too, whose registers hold
// anything.
unsigned char* shared_memory() {
  static unsigned char* const memory = [] {
    for (std::uint64_t upper = 0x2000; upper < 0x4000; ++upper) {
      void* const wanted = reinterpret_cast<void*>(upper << 32);
      void* const got =
          mmap(wanted, kSharedWindow, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
      if (got == wanted) return static_cast<unsigned char*>(got);
    }
    throw std::runtime_error("no memory for shared memory");
  }();
  return memory;
}

void set_constants(std::vector<std::uint32_t>& scalars) {
  for (std::uint32_t i = 0; i <= 64; ++i) scalars[128 + i] = i;
  for (std::uint32_t i = 1; i <= 16; ++i) scalars[192 + i] = ~i + 1;
  constexpr std::uint32_t kFloats[] = {0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000, 0x40000000,
                                       0xc0000000, 0x40800000, 0xc0800000, 0x3e22f983};
  for (std::size_t i = 0; i < std::size(kFloats); ++i) scalars[240 + i] = kFloats[i];
}

// The scalar registers that a kernel finds set, in the order of its descriptor.
void set_initial_scalars(const Launch& launch, Dimensions block, Wave& wave) {
  const Descriptor& descriptor = launch.descriptor;
  int at = 0;
  const std::uint64_t pairs[] = {0, launch.packet, 0, launch.arguments, 0,
                                 0};  // the first is two pairs
  for (int bit = 0; bit < 6; ++bit) {
    if ((descriptor.properties >> bit & 1) == 0) continue;
    if (bit == 0) at += 2;
    wave.set_pair(at, pairs[bit]);
    at += 2;
  }
  const auto next = [&](std::uint32_t value) {
    wave.scalars[static_cast<std::size_t>(at++)] = value;
  };
  if ((descriptor.properties >> 6 & 1) != 0) next(descriptor.scratch_bytes);
  at = static_cast<int>(descriptor.resources2 >> 1 & 31);
  if ((descriptor.resources2 >> 7 & 1) != 0) next(block.x);
  if ((descriptor.resources2 >> 8 & 1) != 0) next(block.y);
  if ((descriptor.resources2 >> 9 & 1) != 0) next(block.z);
}

Wave make_wave(const Launch& launch, Dimensions block, std::uint32_t first_thread) {
  const Dimensions threads = launch.threads;
  const std::uint32_t n_lanes =
      std::min<std::uint32_t>(kLanes, threads.x * threads.y * threads.z - first_thread);
  Wave wave;
  wave.scalars.assign(kScalarRegisters, kGarbage);
  wave.vectors.assign(kVectorRegisters * kLanes, kGarbage);
  wave.accumulators.assign(kVectorRegisters * kLanes, kGarbage);
  wave.scratch.assign(std::size_t{launch.descriptor.scratch_bytes} * kLanes, 0xa5);
  set_constants(wave.scalars);
  wave.set_pair(kSharedBase, reinterpret_cast<std::uint64_t>(shared_memory()));
  wave.set_pair(kPrivateBase, 0);
  wave.set_pair(kExec, n_lanes == kLanes ? ~std::uint64_t{0} : (std::uint64_t{1} << n_lanes) - 1);
  wave.set_pair(kProgramCounter, launch.entry);
  wave.scalars[kScratchStride] = launch.descriptor.scratch_bytes;
  set_initial_scalars(launch, block, wave);
  for (std::uint32_t lane = 0; lane < n_lanes; ++lane) {
    const std::uint32_t thread = first_thread + lane;
    wave.vectors[lane] = thread % threads.x | thread / threads.x % threads.y << 10 |
                         thread / (threads.x * threads.y) << 20;
  }
  return wave;
}

// The instructions of all code objects by their address.
const Instruction& fetch(std::uint64_t address) {
  static std::unordered_map<std::uint64_t, const Instruction*> known;
  const Instruction*& instruction = known[address];
  if (instruction == nullptr) instruction = &instruction_at(address);
  return *instruction;
}

// Runs a wave until it ends, waits, or has had its turn. Returns the number of instructions.
std::uint64_t run(const Launch& launch, Wave& wave) {
  const std::uint64_t* const arrays = wave.arrays;
  for (std::uint64_t n = 1; n <= kTurn; ++n) {
    const std::uint64_t address = wave.program_counter();
    const Instruction& instruction = fetch(address);
    current_instruction = instruction.name->c_str();
    current_offset = address - launch.entry;
    const std::uint8_t* const a = instruction.arguments;
    instruction.code(arrays[a[0]], arrays[a[1]], arrays[a[2]], arrays[a[3]], arrays[a[4]],
                     arrays[a[5]]);
    if (instruction.is_barrier) wave.waits = true;
    if (wave.program_counter() == kEnded) wave.ended = true;
    if (wave.waits || wave.ended) return n;
  }
  return kTurn;
}

std::uint64_t run_block(const Launch& launch, Dimensions block) {
  const std::uint32_t n_threads = launch.threads.x * launch.threads.y * launch.threads.z;
  std::vector<Wave> waves;
  for (std::uint32_t first = 0; first < n_threads; first += kLanes)
    waves.push_back(make_wave(launch, block, first));
  for (Wave& wave : waves) {
    wave.arrays[kScalars] = reinterpret_cast<std::uint64_t>(wave.scalars.data());
    wave.arrays[kVectors] = reinterpret_cast<std::uint64_t>(wave.vectors.data());
    wave.arrays[kShared] = reinterpret_cast<std::uint64_t>(shared_memory());
    wave.arrays[kScratch] = reinterpret_cast<std::uint64_t>(wave.scratch.data());
    wave.arrays[kAccumulators] = reinterpret_cast<std::uint64_t>(wave.accumulators.data());
  }
  auto* const shared = reinterpret_cast<std::uint32_t*>(shared_memory());
  std::fill(shared, shared + kSharedBytes / sizeof *shared, kGarbage);
  std::uint64_t n_instructions = 0;
  for (;;) {
    bool any_runs = false, any_waits = false;
    for (Wave& wave : waves) {
      if (!wave.ended && !wave.waits) n_instructions += run(launch, wave);
      any_runs |= !wave.ended && !wave.waits;
      any_waits |= !wave.ended && wave.waits;
    }
    if (any_runs) continue;
    if (!any_waits) return n_instructions;
    for (Wave& wave : waves) wave.waits = false;
  }
}

// What a kernel finds behind its own arguments.
void set_hidden_arguments(const Kernel& kernel, Dimensions blocks, Dimensions threads,
                          std::uint32_t dynamic_shared_bytes,
                          std::vector<unsigned char>& arguments) {
  const std::map<std::string, std::uint32_t> values = {
      {"hidden_block_count_x", blocks.x},
      {"hidden_block_count_y", blocks.y},
      {"hidden_block_count_z", blocks.z},
      {"hidden_group_size_x", threads.x},
      {"hidden_group_size_y", threads.y},
      {"hidden_group_size_z", threads.z},
      {"hidden_grid_dims", 3},
      {"hidden_dynamic_lds_size", dynamic_shared_bytes}};
  for (const Argument& argument : kernel.arguments) {
    const auto value = values.find(argument.kind);
    if (value != values.end())
      std::memcpy(arguments.data() + argument.offset, &value->second,
                  std::min<std::size_t>(argument.size, 4));
  }
}

// The packet that a queue would hold: kernels read the size of the grid and of a block from it.
std::vector<unsigned char> make_packet(Dimensions blocks, Dimensions threads) {
  std::vector<unsigned char> packet(64);
  const std::uint16_t sizes[] = {static_cast<std::uint16_t>(threads.x),
                                 static_cast<std::uint16_t>(threads.y),
                                 static_cast<std::uint16_t>(threads.z)};
  const std::uint32_t grid[] = {blocks.x * threads.x, blocks.y * threads.y, blocks.z * threads.z};
  std::memcpy(packet.data() + 4, sizes, sizeof sizes);
  std::memcpy(packet.data() + 12, grid, sizeof grid);
  return packet;
}

// One line a launch in the file that BIOGPU_GFX942_REPORT names.
void report(const std::string& kernel, Dimensions blocks, Dimensions threads,
            std::uint64_t n_instructions, const std::string& failure) {
  const char* const path = std::getenv("BIOGPU_GFX942_REPORT");
  if (path == nullptr) return;
  if (std::FILE* const file = std::fopen(path, "a"); file != nullptr) {
    std::fprintf(file, "%s\t%s\t%u\t%u\t%llu\t%s\n", failure.empty() ? "ran" : "failed",
                 kernel.c_str(), blocks.x * blocks.y * blocks.z, threads.x * threads.y * threads.z,
                 static_cast<unsigned long long>(n_instructions), failure.c_str());
    std::fclose(file);
  }
}

}  // namespace

void execute(const std::string& name, const Kernel& kernel, Dimensions blocks, Dimensions threads,
             std::uint32_t dynamic_shared_bytes, std::vector<unsigned char> arguments) {
  static const bool tells_faults = std::signal(SIGSEGV, tell_fault) != SIG_ERR;
  (void)tells_faults;
  Launch launch{name, {}, 0, 0, 0, threads};
  std::memcpy(&launch.descriptor, reinterpret_cast<const void*>(kernel.descriptor),
              sizeof launch.descriptor);
  if (launch.descriptor.preloaded != 0)
    throw std::runtime_error(name + " wants arguments in registers");
  if (launch.descriptor.shared_bytes + dynamic_shared_bytes > kSharedBytes)
    throw std::runtime_error(name + " wants more shared memory than there is");
  arguments.resize(std::max<std::size_t>(kernel.argument_bytes, 16) + 256);
  set_hidden_arguments(kernel, blocks, threads, dynamic_shared_bytes, arguments);
  const std::vector<unsigned char> packet = make_packet(blocks, threads);
  launch.entry = kernel.descriptor + static_cast<std::uint64_t>(launch.descriptor.entry);
  launch.arguments = reinterpret_cast<std::uint64_t>(arguments.data());
  launch.packet = reinterpret_cast<std::uint64_t>(packet.data());
  current_kernel = name.c_str();
  std::uint64_t n_instructions = 0;
  try {
    Dimensions block;
    for (block.z = 0; block.z < blocks.z; ++block.z)
      for (block.y = 0; block.y < blocks.y; ++block.y)
        for (block.x = 0; block.x < blocks.x; ++block.x) n_instructions += run_block(launch, block);
  } catch (const std::exception& error) {
    report(name, blocks, threads, n_instructions, error.what());
    throw;
  }
  report(name, blocks, threads, n_instructions, {});
}

}  // namespace hip_on_gfx942
