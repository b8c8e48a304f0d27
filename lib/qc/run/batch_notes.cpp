#include "lib/qc/run/batch_notes.hpp"

namespace biogpu::qc {

Mate mate_of(const ReadNotes& notes, const Mate& original) {
  Mate mate = original;
  mate.sequence += notes.begin;
  mate.quality += notes.begin;
  mate.length = notes.length;
  mate.dropped = notes.dropped;
  return mate;
}

MateNotes mate_notes(const ReadNotes& notes, const Mate& original, std::string_view adapter) {
  MateNotes out;
  const auto n = static_cast<std::size_t>(notes.adapter_length);
  out.adapter = notes.adapter_ahead ? adapter.substr(0, n)
                                    : std::string_view(original.sequence + notes.adapter_begin, n);
  out.poly_x = {notes.has_poly_x, notes.poly_x, notes.poly_x_length};
  return out;
}

PairNotes pair_notes(const ReadNotes* notes, const Mate& original1, const Mate& original2,
                     const Options& options) {
  PairNotes out;
  out.mate[0] = mate_notes(notes[0], original1, options.adapter1);
  out.mate[1] = mate_notes(notes[1], original2, options.adapter2);
  out.cut_by_overlap = notes[0].cut_by_overlap;
  out.insert_size = notes[0].insert_size;
  out.n_corrected_mates =
      static_cast<int>(notes[0].corrected) + static_cast<int>(notes[1].corrected);
  return out;
}

}  // namespace biogpu::qc
