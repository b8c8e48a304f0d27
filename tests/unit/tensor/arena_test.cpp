#include "lib/tensor/arena.hpp"

#include <cstdint>
#include <optional>
#include <vector>

#include "lib/core/error.hpp"
#include "tests/support/catch.hpp"

using namespace biogpu;
using tensor::Arena;
using tensor::DType;

namespace {

constexpr std::size_t kPiece = Arena::kAlignment;  // bytes
constexpr std::int64_t kFloats = kPiece / sizeof(float);

// An arena over memory that is not touched.
struct Room {
  explicit Room(std::size_t n_pieces)
      : memory(reinterpret_cast<std::uint8_t*>(std::uintptr_t{1} << 20)),
        arena(memory, n_pieces * kPiece) {}
  std::size_t piece_of(const tensor::Tensor& tensor) const {
    return static_cast<std::size_t>(static_cast<std::uint8_t*>(tensor.data) - memory) / kPiece;
  }
  std::uint8_t* memory;
  Arena arena;
};

}  // namespace

TEST_CASE("tensor.arena: scopes nest, and equal code gets equal places", "[tensor]") {
  Room room(4);
  for (int run = 0; run < 2; ++run) {
    const auto outer = room.arena.scope();
    CHECK(room.piece_of(room.arena.take(DType::f32, {kFloats})) == 0);
    for (int turn = 0; turn < 2; ++turn) {
      const auto inner = room.arena.scope();
      CHECK(room.piece_of(room.arena.take(DType::f32, {1})) == 1);
      CHECK(room.piece_of(room.arena.take(DType::f16, {kFloats + 1})) == 2);
    }
    CHECK(room.piece_of(room.arena.take(DType::f32, {3 * kFloats})) == 1);
  }
  CHECK(room.arena.peak_bytes() == 4 * kPiece);
}

TEST_CASE("tensor.arena: leases end in any order and their room is taken again", "[tensor]") {
  Room room(4);
  Arena::Lease kept;
  {
    const auto scope = room.arena.scope();
    Arena::Lease first = room.arena.lease(DType::f32, {kFloats});
    kept = room.arena.lease(DType::f32, {kFloats});
    const tensor::Tensor taken = room.arena.take(DType::f32, {kFloats});
    CHECK(room.piece_of(*first) == 0);
    CHECK(room.piece_of(*kept) == 1);
    CHECK(room.piece_of(taken) == 2);
    first = Arena::Lease();
    // Below the others: two do not fit there.
    CHECK_THROWS_AS(room.arena.take(DType::f32, {2 * kFloats}), Error);
    CHECK(room.piece_of(room.arena.take(DType::f32, {kFloats})) == 0);
  }
  // The scope is over, the lease is not.
  CHECK(room.piece_of(room.arena.take(DType::f32, {2 * kFloats})) == 2);
  CHECK(room.piece_of(room.arena.take(DType::f32, {kFloats})) == 0);
  CHECK_THROWS_AS(room.arena.lease(DType::f32, {1}), Error);
}

TEST_CASE("tensor.arena: two buffers in turn need the room of two", "[tensor]") {
  Arena arena = Arena::measuring();
  Arena::Lease x = arena.lease(DType::f32, {kFloats});
  for (int layer = 0; layer < 10; ++layer) {
    Arena::Lease y = arena.lease(DType::f32, {kFloats});
    CHECK(y->data == nullptr);
    x = std::move(y);
  }
  CHECK(arena.peak_bytes() == 2 * kPiece);
}
