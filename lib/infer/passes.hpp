#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lib/infer/protein_model.hpp"

namespace biogpu::infer {

using Tokens = std::vector<std::int32_t>;  // of one sequence, with its first and last special word

// Runs sequences through a model in as many passes as a budget of tokens asks for, each sequence
// whole. A pass that does not fit the device is halved. consume(first, n, outputs) is called in
// order for sequences [first, first + n). request.logit_rows counts tokens of a sequence here; one
// a sequence, or none for every residue.
void run_passes(
    ProteinModel& model, const std::vector<Tokens>& sequences, const Request& request,
    std::int64_t budget_tokens,
    const std::function<void(std::size_t first, std::size_t n, const Outputs& outputs)>& consume);

}  // namespace biogpu::infer
