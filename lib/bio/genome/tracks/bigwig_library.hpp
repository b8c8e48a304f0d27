#pragma once

#define NOCURL  // files alone; what its headers say of servers needs another library's headers
#include <bigWig.h>

namespace biogpu::genome {

// The functions of libBigWig in use. They are in a module that the program opens to write bigWig:
// libBigWig needs libcurl, and the 30 libraries would add 7 ms to the start of every command.
struct BigWigLibrary {
  static constexpr int kInterface = 1;  // raised with every change of this struct
  int interface = kInterface;
  decltype(&bwOpen) open = nullptr;
  decltype(&bwCreateHdr) create_header = nullptr;
  decltype(&bwCreateChromList) create_chromosomes = nullptr;
  decltype(&bwWriteHdr) write_header = nullptr;
  decltype(&bwAddIntervalSpanSteps) add_values = nullptr;
  decltype(&bwClose) close = nullptr;
};

}  // namespace biogpu::genome

extern "C" const biogpu::genome::BigWigLibrary* biogpu_bigwig_library();
