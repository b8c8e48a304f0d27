#include "lib/models/proteinmpnn/sample.hpp"

#include <fmt/format.h>

#include <cmath>

#include "lib/core/error.hpp"

namespace biogpu::models::proteinmpnn {

void throw_not_finite(const Complex& complex) {
  throw Error(ErrorCode::failed,
              complex.name + ": the result is NaN or infinite; look at the weights");
}

void throw_no_letter(const Complex& complex, const Sample& sample, std::int64_t i) {
  if (!std::isfinite(sample.log_probabilities[static_cast<std::size_t>(i) * kLetterRow]))
    throw_not_finite(complex);
  const auto c = static_cast<std::size_t>(complex.chain[static_cast<std::size_t>(i)]);
  throw Error(ErrorCode::bad_input,
              fmt::format("{}: position {} of chain {} may have no residue: all are omitted",
                          complex.name, i - complex.begin[c] + 1, complex.chains[c]));
}

}  // namespace biogpu::models::proteinmpnn
