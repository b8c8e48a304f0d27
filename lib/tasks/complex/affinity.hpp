#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lib/models/dualbind/dualbind.hpp"

namespace biogpu::tasks {

// Proteins by their paths, each read once as long as it is among the last that were used. Any
// thread.
class ProteinCache {
 public:
  explicit ProteinCache(std::size_t n_kept = 64) : n_kept_(n_kept) {}
  // Throws the errors of structure::read_residues(), and Error{bad_input} where no residue is an
  // amino acid with atoms.
  std::shared_ptr<const models::dualbind::Protein> get(const std::string& path);

 private:
  // Filled by the first who asks for it; others wait for that one.
  struct Entry {
    std::mutex reading;
    std::shared_ptr<const models::dualbind::Protein> protein;
  };
  std::shared_ptr<Entry> find(const std::string& path);

  const std::size_t n_kept_;
  std::mutex mutex_;
  std::list<std::string> order_;  // the last one used comes first
  struct Known {
    std::shared_ptr<Entry> entry;
    std::list<std::string>::iterator place;
  };
  std::unordered_map<std::string, Known> known_;
};

// model.compute(), in halves where memory is short. place: of complex i, for errors.
std::vector<models::DualBind::Result> compute_affinities(
    models::DualBind& model, std::span<const models::dualbind::Complex> complexes,
    const std::function<std::string(std::size_t i)>& place);

// A table: header, and the line of a complex. is_ensemble: there is a column of the standard
// deviation over checkpoints.
std::string affinity_header(bool is_ensemble);
struct AffinityNames {
  std::string protein, ligand;
  std::string warning = {};  // of the input
};
// Throws Error{failed} where an energy is not finite. place: for the message.
void append_affinity_line(std::string& text, const AffinityNames& names,
                          const models::dualbind::Complex& complex,
                          const models::DualBind::Result& result, const std::string& place);
// Number of such lines without a pair of atoms within the cutoff.
std::uint64_t count_far(std::string_view lines);

}  // namespace biogpu::tasks
