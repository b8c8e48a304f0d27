#pragma once

#include <libdeflate.h>

#include <memory>
#include <new>

namespace biogpu::io {

// Owners of what libdeflate allocates.
struct DeflateDelete {
  void operator()(libdeflate_compressor* tool) const { libdeflate_free_compressor(tool); }
  void operator()(libdeflate_decompressor* tool) const { libdeflate_free_decompressor(tool); }
};
using Compressor = std::unique_ptr<libdeflate_compressor, DeflateDelete>;
using Decompressor = std::unique_ptr<libdeflate_decompressor, DeflateDelete>;

// Both throw std::bad_alloc.
inline Compressor make_compressor(int level) {
  Compressor tool(libdeflate_alloc_compressor(level));
  if (!tool) throw std::bad_alloc();
  return tool;
}
inline Decompressor make_decompressor() {
  Decompressor tool(libdeflate_alloc_decompressor());
  if (!tool) throw std::bad_alloc();
  return tool;
}

}  // namespace biogpu::io
