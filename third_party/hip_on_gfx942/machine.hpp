#pragma once

// Executes code objects of gfx942 on the CPU: blocks one after another, the waves of a block in
// turn, each until it ends or meets a barrier.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace hip_on_gfx942 {

struct Dimensions {
  std::uint32_t x = 1, y = 1, z = 1;
};

// An argument of a kernel: where it lies in the block of arguments, and what it is there for.
struct Argument {
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
  std::string kind;  // "by_value", "global_buffer", "hidden_block_count_x", ...
};

struct Kernel {
  std::uint64_t descriptor = 0;  // its address in the loaded code object
  std::uint32_t argument_bytes = 0;
  std::vector<Argument> arguments;
  std::string name;
  std::uint32_t registers = 0;      // of a lane, accumulators among them
  std::uint32_t shared_bytes = 0;   // of a block, without what a launch asks for
  std::uint32_t scratch_bytes = 0;  // of a lane
};

// A code object in memory.
class CodeObject {
 public:
  CodeObject(const unsigned char* file, std::size_t bytes);
  const Kernel* find(const std::string& name) const;
  const std::map<std::string, Kernel>& kernels() const { return kernels_; }

 private:
  void read_notes(const unsigned char* notes, std::size_t bytes);
  void read_symbols(const unsigned char* file);

  unsigned char* memory_ = nullptr;
  std::size_t size_ = 0;
  std::map<std::string, Kernel> kernels_;
};

// Runs a kernel to its end. `arguments` holds the explicit ones, as the kernel's list of them says.
// Throws std::runtime_error for an instruction that cannot be executed.
void execute(const std::string& name, const Kernel& kernel, Dimensions blocks, Dimensions threads,
             std::uint32_t dynamic_shared_bytes, std::vector<unsigned char> arguments);

}  // namespace hip_on_gfx942
