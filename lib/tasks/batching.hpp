#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "lib/models/base/protein_model.hpp"

namespace biogpu::tasks {

using Tokens = std::vector<std::int32_t>;  // of one sequence, with its first and last special word

// A sequence on its way into a pass; valid until the next one is asked for.
struct PassInput {
  std::span<const std::int32_t> tokens;
  // Tokens of the sequence that logits are for; none, as for all others of the run: every residue.
  std::span<const std::int32_t> logit_rows = {};
};

// Gives the next sequence; false: there is none.
using NextInput = std::function<bool(PassInput& input)>;

// Takes what a pass gave for sequences [first, first + n).
using Consume =
    std::function<void(std::size_t first, std::size_t n, const models::Outputs& outputs)>;

// Runs sequences through a model in as many passes as a budget of tokens asks for, each sequence
// whole. They are asked for as passes need them. A pass that does not fit the device is halved.
// consume is called in order. outputs: as ProteinModel::run() takes them.
void run_passes(models::ProteinModel& model, const NextInput& next,
                const std::vector<std::string>& outputs, std::int64_t budget_tokens,
                const Consume& consume);

// The same of sequences that are there already.
void run_passes(models::ProteinModel& model, const std::vector<Tokens>& sequences,
                const std::vector<std::string>& outputs, std::int64_t budget_tokens,
                const Consume& consume);

}  // namespace biogpu::tasks
