#include "gpu/ops/device.hpp"

#include <algorithm>

namespace biogpu::gpu::ops {

Staging::Piece& Staging::take_piece(std::size_t n) {
  Piece& piece = pieces_[next_];
  next_ = 1 - next_;
  if (piece.used) piece.done.synchronize();
  piece.memory.reserve(std::min(kBytes, std::max<std::size_t>(n, 1 << 16)));
  return piece;
}

void Staging::to_device(void* device, const void* host, std::size_t bytes, Stream& stream) {
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t n = std::min(kBytes, bytes - done);
    Piece& piece = take_piece(n);
    copy_(piece.memory.data(), static_cast<const char*>(host) + done, n);
    stream.copy_to_device(static_cast<char*>(device) + done, piece.memory.data(), n);
    piece.done.record(stream);
    piece.used = true;
    done += n;
  }
}

void Staging::to_host(void* host, const void* device, std::size_t bytes, Stream& stream) {
  // A piece is emptied while the next one fills.
  Piece* full = nullptr;
  std::size_t emptied = 0;
  for (std::size_t done = 0; done < bytes || full != nullptr;) {
    Piece* next = nullptr;
    const std::size_t n = std::min(kBytes, bytes - done);
    if (n > 0) {
      next = &take_piece(n);
      stream.copy_to_host(next->memory.data(), static_cast<const char*>(device) + done, n);
      next->done.record(stream);
      next->used = true;
    }
    if (full != nullptr) {
      full->done.synchronize();
      copy_(static_cast<char*>(host) + emptied, full->memory.data(), done - emptied);
      emptied = done;
    }
    done += n;
    full = next;
  }
}

std::shared_ptr<void> Device::make_plan(const std::vector<std::int32_t>& starts) {
  return std::make_shared<std::vector<QueryTile>>(query_tiles(starts));
}

const RaggedPlan& Device::plan(const tensor::Ragged& segments) {
  if (plan_.loaded_ == segments.plan) return plan_;
  const auto& tiles = *static_cast<const std::vector<QueryTile>*>(segments.plan.get());
  const auto n_tiles = static_cast<std::int32_t>(tiles.size());
  if (plan_.tiles_.size() < tiles.size())
    grow(plan_.tiles_, std::max<std::size_t>(1024, 2 * tiles.size()));
  grow(plan_.n_tiles_, 1);
  staging_.to_device(plan_.tiles_.data(), tiles.data(), tiles.size() * sizeof(QueryTile), stream_);
  staging_.to_device(plan_.n_tiles_.data(), &n_tiles, sizeof n_tiles, stream_);
  plan_.loaded_ = segments.plan;
  ++n_plans_loaded_;
  return plan_;
}

}  // namespace biogpu::gpu::ops
