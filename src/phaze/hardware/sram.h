// On-chip memory at 22 nm, as CACTI 7 sees it.
#pragma once

#include "phaze/base/units.h"

namespace phaze::hardware {

// One memory of 4 banks with 2 read-write ports and 8-byte words.
struct Sram {
  double area_um2 = 0;
  double read_pj = 0;   // per 8-byte word
  double write_pj = 0;  // per 8-byte word
  double leakage_mw_per_bank = 0;
};

// Exact at the powers of two from 1 KiB to 256 MiB; between them linear in capacity (area within 8 %, 2.5 % on average,
// at 22 points checked against CACTI); beyond them proportional.
Sram sram_22nm(Bytes capacity);

}  // namespace phaze::hardware
