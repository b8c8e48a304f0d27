// Loads a code object: its segments into memory, its kernels and their arguments from its notes.
#include <elf.h>
#include <sys/mman.h>

#include <cstring>
#include <stdexcept>

#include "machine.hpp"
#include "message_pack.hpp"

namespace hip_on_gfx942 {
namespace {

constexpr std::uint32_t kMetadataNote = 32;

std::size_t round_up(std::size_t bytes) { return (bytes + 3) / 4 * 4; }

Kernel read_kernel(const Packed& entry) {
  Kernel kernel;
  const auto number = [&entry](const char* key) {
    return static_cast<std::uint32_t>(entry.at(key).number);
  };
  kernel.argument_bytes = number(".kernarg_segment_size");
  kernel.name = entry.at(".name").text;
  kernel.registers = number(".vgpr_count");
  kernel.shared_bytes = number(".group_segment_fixed_size");
  kernel.scratch_bytes = number(".private_segment_fixed_size");
  const Packed* arguments = entry.find(".args");
  if (arguments == nullptr) return kernel;
  for (const Packed& item : arguments->items) {
    kernel.arguments.push_back({static_cast<std::uint32_t>(item.at(".offset").number),
                                static_cast<std::uint32_t>(item.at(".size").number),
                                item.at(".value_kind").text});
  }
  return kernel;
}

}  // namespace

CodeObject::CodeObject(const unsigned char* file, std::size_t bytes) {
  Elf64_Ehdr header;
  if (bytes < sizeof header) throw std::runtime_error("a code object is cut short");
  std::memcpy(&header, file, sizeof header);
  std::vector<Elf64_Phdr> segments(header.e_phnum);
  std::memcpy(segments.data(), file + header.e_phoff, segments.size() * sizeof(Elf64_Phdr));
  std::size_t size = 0;
  for (const Elf64_Phdr& segment : segments)
    if (segment.p_type == PT_LOAD)
      size = std::max<std::size_t>(size, segment.p_vaddr + segment.p_memsz);
  size_ = size + 4096;  // instructions are looked at with what follows them
  void* const memory =
      mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("no memory for a code object");
  memory_ = static_cast<unsigned char*>(memory);
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type == PT_LOAD)
      std::memcpy(memory_ + segment.p_vaddr, file + segment.p_offset, segment.p_filesz);
    if (segment.p_type == PT_NOTE) read_notes(file + segment.p_offset, segment.p_filesz);
  }
  read_symbols(file);
}

void CodeObject::read_notes(const unsigned char* notes, std::size_t bytes) {
  for (std::size_t at = 0; at + sizeof(Elf64_Nhdr) <= bytes;) {
    Elf64_Nhdr note;
    std::memcpy(&note, notes + at, sizeof note);
    const std::size_t text = at + sizeof note + round_up(note.n_namesz);
    if (note.n_type == kMetadataNote) {
      const Packed metadata = read_message_pack(notes + text, note.n_descsz);
      for (const Packed& entry : metadata.at("amdhsa.kernels").items)
        kernels_[entry.at(".name").text] = read_kernel(entry);
    }
    at = text + round_up(note.n_descsz);
  }
}

// The symbol NAME.kd is a kernel's descriptor.
void CodeObject::read_symbols(const unsigned char* file) {
  Elf64_Ehdr header;
  std::memcpy(&header, file, sizeof header);
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  std::memcpy(sections.data(), file + header.e_shoff, sections.size() * sizeof(Elf64_Shdr));
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_DYNSYM) continue;
    const auto* names = reinterpret_cast<const char*>(file + sections[section.sh_link].sh_offset);
    for (std::size_t at = 0; at < section.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, file + section.sh_offset + at, sizeof symbol);
      const std::string name(names + symbol.st_name);
      if (name.size() < 3 || name.compare(name.size() - 3, 3, ".kd") != 0) continue;
      const auto kernel = kernels_.find(name.substr(0, name.size() - 3));
      if (kernel != kernels_.end())
        kernel->second.descriptor = reinterpret_cast<std::uint64_t>(memory_) + symbol.st_value;
    }
  }
}

const Kernel* CodeObject::find(const std::string& name) const {
  const auto found = kernels_.find(name);
  return found == kernels_.end() || found->second.descriptor == 0 ? nullptr : &found->second;
}

}  // namespace hip_on_gfx942
