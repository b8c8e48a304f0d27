#include "lib/bio/genome/tracks/bigwig_library.hpp"

using biogpu::genome::BigWigLibrary;

const BigWigLibrary* biogpu_bigwig_library() {
  static constexpr BigWigLibrary kLibrary{
      BigWigLibrary::kInterface, bwOpen, bwCreateHdr, bwCreateChromList, bwWriteHdr,
      bwAddIntervalSpanSteps,    bwClose};
  return &kLibrary;
}
