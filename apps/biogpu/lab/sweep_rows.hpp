#pragma once

#include <string>
#include <vector>

#include "apps/biogpu/infer/run/bench_device.hpp"
#include "lib/lab/registry.hpp"
#include "lib/lab/run_block.hpp"

namespace biogpu::app {

struct BlockWork {
  const lab::Block* block;
  lab::Extents extents;
};

// `biogpu lab run --sweep`: prints what each tile of a product takes. The file keeps what was
// faster and what it has of other products and devices. heading: lines above the table.
void sweep_blocks(BenchDevice& device, const std::vector<BlockWork>& works,
                  const lab::RunSettings& settings, const std::string& path,
                  const std::string& heading);

}  // namespace biogpu::app
