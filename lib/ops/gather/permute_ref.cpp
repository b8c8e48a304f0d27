#include <cstring>

#include "lib/ops/gather/permute.hpp"
#include "lib/ops/reference/element.hpp"

namespace biogpu::ops {

void permute_ref(const Permute& op) {
  const std::size_t bytes = tensor::bytes_of(op.x.dtype);
  for (std::int64_t i = 0; i < op.x.size(); ++i) {
    std::int64_t left = i, from = 0, to = 0;
    for (int axis = op.x.rank; axis-- > 0;) {
      const auto a = static_cast<std::size_t>(axis);
      from += left % op.x.shape[a] * op.x.stride[a];
      to += left % op.x.shape[a] * op.out.stride[a];
      left /= op.x.shape[a];
    }
    if (op.x.dtype == op.out.dtype) {
      std::memcpy(op.out.as<char>() + to * static_cast<std::int64_t>(bytes),
                  op.x.as<char>() + from * static_cast<std::int64_t>(bytes), bytes);
    } else {
      reference::store(op.out, to, reference::load(op.x, from));
    }
  }
}

}  // namespace biogpu::ops
