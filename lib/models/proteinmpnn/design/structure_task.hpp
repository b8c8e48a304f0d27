#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/models/proteinmpnn/design/design.hpp"
#include "lib/models/proteinmpnn/design/random.hpp"

// What designs and scores of a structure share.
namespace biogpu::models::proteinmpnn {

inline constexpr std::uint32_t kNativeOrder = 0xffffffff;  // where samples count from 0

struct Task {
  Complex complex;
  Constraints constraints;
  std::vector<std::string> warnings;
};
Task make_task(const Info& info, const DesignInputs& inputs, const std::string& path);

// Random numbers by counter, or those of a replay.
class Numbers {
 public:
  Numbers(const Replay& replay, std::uint64_t seed, const Task& task);

  std::vector<float> order(std::uint32_t sample) const;
  std::vector<double> uniforms(std::uint32_t sample) const;
  // size: numbers of the structure's coordinates. None where the deviation is 0.
  std::vector<float> noise(std::uint32_t sample, double deviation, std::size_t size) const;

 private:
  std::optional<std::vector<float>> replayed(const char* kind, std::uint32_t sample) const;

  const Replay& replay_;
  Random random_;
  std::string name_;
  std::size_t n_;
};

// Negative mean log-probabilities of letters, NaN of none.
struct Scores {
  float designed = 0;  // over residues whose letters are drawn
  float all = 0;       // over all that are there
};

// Throws Error{failed} where one is NaN or infinite.
Scores scores_of(const Task& task, const std::vector<float>& log_probabilities,
                 const std::vector<std::uint8_t>& letters);

// The score's order ignores ties, as the original's does.
Scoring scoring_of(const Task& task, const std::vector<std::uint8_t>& letters,
                   const std::vector<float>& noise);

}  // namespace biogpu::models::proteinmpnn
