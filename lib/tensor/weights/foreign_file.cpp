#include "lib/tensor/weights/foreign_file.hpp"

namespace biogpu::tensor {

std::string_view foreign_file(std::string_view first_bytes) {
  using namespace std::string_view_literals;
  constexpr auto kPointer = "version https://git-lfs"sv;
  constexpr auto kZip = "PK\x03\x04"sv;       // torch.save since 1.6
  constexpr auto kPickle = "\x80\x02\x8a"sv;  // before: a long number in pickle protocol 2
  if (first_bytes.starts_with(kPointer))
    return "is a Git LFS pointer and not the file itself; 'git lfs pull' fetches it"sv;
  if (first_bytes.starts_with(kZip) || first_bytes.starts_with(kPickle))
    return "is a file of PyTorch and no safetensors file; scripts/convert makes one of it"sv;
  return {};
}

}  // namespace biogpu::tensor
