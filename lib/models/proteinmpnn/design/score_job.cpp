#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"
#include "lib/io/line_reader.hpp"
#include "lib/io/table_fields.hpp"
#include "lib/models/proteinmpnn/design/structure_task.hpp"

namespace biogpu::models::proteinmpnn {
namespace {

std::vector<std::uint8_t> letters_of(const Task& task, const ReadSequence& given,
                                     const std::string& path) {
  const auto bad = [&](const std::string& what) {
    return Error(ErrorCode::bad_input,
                 fmt::format("{}: sequence {}: {}", path, shortened(given.name), what));
  };
  std::vector<std::uint8_t> letters = task.complex.letters;
  std::string text;
  std::vector<std::int64_t> ends;
  for (const char letter : given.letters) {
    if (letter != '/' && letter != ':')
      text += letter;
    else
      ends.push_back(static_cast<std::int64_t>(text.size()));
  }
  const auto& begin = task.complex.begin;
  const auto n = static_cast<std::size_t>(begin[task.complex.n_designed]);
  ends.push_back(static_cast<std::int64_t>(text.size()));
  const auto last = begin.begin() + static_cast<std::ptrdiff_t>(task.complex.n_designed) + 1;
  if (ends.size() > 1 && !std::equal(ends.begin(), ends.end(), begin.begin() + 1, last))
    throw bad("the parts between '/' or ':' are not as long as the designed chains");
  if (text.size() != n)
    throw bad(fmt::format("has {} residues, the designed chains, joined by '/' or ':', have {}",
                          text.size(), n));
  for (std::size_t i = 0; i < n; ++i) {
    const int letter = letter_index(text[i]);
    if (letter < 0)
      throw bad(fmt::format("residue {} is {}", i + 1, biogpu::quoted(text.substr(i, 1))));
    letters[i] = static_cast<std::uint8_t>(letter);
  }
  return letters;
}

struct Moments {
  double mean = 0, deviation = 0;
};

Moments moments(const std::vector<float>& values) {
  Moments m;
  for (const float value : values) m.mean += static_cast<double>(value);
  m.mean /= static_cast<double>(values.size());
  for (const float value : values)
    m.deviation += (static_cast<double>(value) - m.mean) * (static_cast<double>(value) - m.mean);
  m.deviation = std::sqrt(m.deviation / static_cast<double>(values.size()));
  return m;
}

class ScoreJob : public StructureJob {
 public:
  ScoreJob(const Info& info, const DesignInputs& inputs, const DesignOptions& options,
           const Replay& replay, const std::string& path, const std::vector<ReadSequence>& given)
      : n_orders_(static_cast<std::size_t>(options.n_sequences)),
        task_(make_task(info, inputs, path)) {
    const Numbers numbers(replay, options.seed, task_);
    names_.emplace_back("native");
    add(task_.complex.letters, numbers);
    for (const ReadSequence& sequence : given) {
      names_.push_back(sequence.name);
      add(letters_of(task_, sequence, path), numbers);
    }
  }

  std::vector<Work> works() override {
    return {{&task_.complex, &task_.constraints, nullptr, {}, scorings_, nullptr}};
  }

  const std::vector<std::string>& warnings() const override { return task_.warnings; }

  void write(pipeline::RecordOutputs& result) const override {
    for (std::size_t q = 0; q < names_.size(); ++q) {
      std::vector<float> designed, everything;
      for (std::size_t o = 0; o < n_orders_; ++o) {
        const Scoring& scoring = scorings_[q * n_orders_ + o];
        const Scores scores = scores_of(task_, scoring.log_probabilities, scoring.letters);
        designed.push_back(scores.designed);
        everything.push_back(scores.all);
      }
      const Moments own = moments(designed), global = moments(everything);
      result.text += fmt::format("{}\t{}\t{}\t{:.4f}\t{:.4f}\t{:.4f}\t{:.4f}\t{}\n",
                                 io::as_field(task_.complex.name), io::as_field(names_[q]),
                                 designed_text(task_.complex, scorings_[q * n_orders_].letters),
                                 own.mean, own.deviation, global.mean, global.deviation, n_orders_);
    }
    result.n_records += 1;
    result.n_residues += static_cast<std::uint64_t>(task_.complex.n);
  }

 private:
  void add(const std::vector<std::uint8_t>& letters, const Numbers& numbers) {
    for (std::uint32_t o = 0; o < n_orders_; ++o)
      scorings_.push_back(scoring_of(task_, letters, numbers.order(o)));
  }

  const std::size_t n_orders_;
  const Task task_;
  std::vector<std::string> names_;
  std::vector<Scoring> scorings_;  // all orders of a sequence, then of the next
};

}  // namespace

std::vector<ReadSequence> read_sequences(const std::string& path) {
  io::LineReader lines(path, "FASTA");
  std::vector<ReadSequence> sequences;
  for (std::string line; lines.next(line);) {
    while (!line.empty() && line.back() == ' ') line.pop_back();
    if (line.empty()) continue;
    if (line[0] == '>') {
      sequences.push_back({line.substr(1), {}});
    } else if (sequences.empty()) {
      throw Error(ErrorCode::bad_input, fmt::format("{}: record 1 (line {}): no '>' before the "
                                                    "sequence",
                                                    path, lines.number()));
    } else {
      sequences.back().letters += line;
    }
  }
  return sequences;
}

std::string score_header() {
  return "structure\tsequence\tletters\tscore\tscore_sd\tglobal_score\tglobal_score_sd\torders\n";
}

std::unique_ptr<StructureJob> score_job(const Info& info, const DesignInputs& inputs,
                                        const DesignOptions& options, const Replay& replay,
                                        const std::string& path,
                                        const std::vector<ReadSequence>& given) {
  return std::make_unique<ScoreJob>(info, inputs, options, replay, path, given);
}

}  // namespace biogpu::models::proteinmpnn
