// The position of an adapter at the width of the machine: its first bases are compared at every
// position of the read with one vector, all of it only where those agree.
#include "lib/qc/steps/adapter.hpp"

#include "lib/core/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/qc/steps/adapter_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace biogpu::qc {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using AdapterTag = hn::CappedTag<std::uint8_t, 32>;

// The first `width` letters of the adapter match well enough wherever the whole does: the whole
// allows one mismatch in 8.
int find_at(const char* sequence, int length, const char* adapter, int adapter_length, int pos,
            int match_require) {
  const std::string_view whole(adapter, static_cast<std::size_t>(adapter_length));
  const AdapterTag d;
  const int width = std::min(static_cast<int>(hn::Lanes(d)), adapter_length);
  HWY_ALIGN std::uint8_t padded[32] = {};
  std::copy_n(adapter, width, padded);
  const auto head = hn::Load(d, padded);
  const auto in_head = hn::FirstN(d, static_cast<std::size_t>(width));
  const int allowed = adapter_length / 8;
  for (; pos + width <= length && pos < length - match_require; ++pos) {
    const auto bases = hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(sequence + pos));
    const auto same = hn::And(hn::Eq(bases, head), in_head);
    if (width - static_cast<int>(hn::CountTrue(d, same)) > allowed) continue;
    if (adapter_matches(sequence, length, whole, pos)) return pos;
  }
  for (; pos < length - match_require; ++pos)
    if (adapter_matches(sequence, length, whole, pos)) return pos;
  return kNoAdapter;
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::qc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace biogpu::qc {
HWY_EXPORT(find_at);

int find_adapter(const char* sequence, int length, std::string_view adapter, int match_require) {
  const int n = static_cast<int>(adapter.size());
  for (int pos = first_adapter_position(adapter.size()); pos < 0; ++pos)
    if (pos < length - match_require && adapter_matches(sequence, length, adapter, pos)) return pos;
  return HWY_DYNAMIC_DISPATCH(find_at)(sequence, length, adapter.data(), n, 0, match_require);
}
}  // namespace biogpu::qc
#endif
