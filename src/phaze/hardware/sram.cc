#include "phaze/hardware/sram.h"

#include <array>
#include <cstdint>

#include "phaze/base/check.h"

namespace phaze::hardware {
namespace {

struct Row {
  std::int64_t capacity;
  Sram sram;
};

// CACTI 7 (HewlettPackard/cacti 1ffd8df): 22 nm, 4 banks, 2 read-write ports, 8-byte words, itrs-lstp cells, 300 K.
constexpr std::array<Row, 19> kTable = {{
    {1024, {6133.98, 1.84464, 1.91281, 0.000161726}},     {2048, {8248.43, 2.09138, 2.29325, 0.000244316}},
    {4096, {12610.5, 2.59978, 3.06906, 0.000408071}},     {8192, {22139.9, 3.71155, 4.09663, 0.000713973}},
    {16384, {38583.0, 5.72763, 5.83288, 0.00116697}},     {32768, {63338.4, 7.07623, 7.31518, 0.00198873}},
    {65536, {115579.0, 11.5732, 10.7177, 0.00311189}},    {131072, {204764.0, 15.4486, 13.7908, 0.00582648}},
    {262144, {446565.0, 25.5327, 22.4535, 0.0102787}},    {524288, {897890.0, 34.2219, 31.0734, 0.0203556}},
    {1048576, {1634130.0, 50.3453, 44.2553, 0.0391439}},  {2097152, {3338220.0, 69.672, 62.1456, 0.0727111}},
    {4194304, {6078640.0, 104.067, 89.3204, 0.141992}},   {8388608, {11952400.0, 151.364, 136.618, 0.282112}},
    {16777216, {23745200.0, 213.998, 199.113, 0.564833}}, {33554432, {46750900.0, 308.676, 293.79, 1.12587}},
    {67108864, {88605700.0, 437.976, 408.652, 2.22903}},  {134217728, {175423000.0, 629.087, 599.762, 4.45074}},
    {268435456, {349364000.0, 878.59, 849.265, 8.89578}},
}};

// a + (b − a)·t, column by column.
Sram blend(const Sram& a, const Sram& b, double t) {
  return {a.area_um2 + (b.area_um2 - a.area_um2) * t, a.read_pj + (b.read_pj - a.read_pj) * t,
          a.write_pj + (b.write_pj - a.write_pj) * t,
          a.leakage_mw_per_bank + (b.leakage_mw_per_bank - a.leakage_mw_per_bank) * t};
}

Sram scaled(const Sram& a, double by) { return blend({}, a, by); }

}  // namespace

Sram sram_22nm(Bytes capacity) {
  const std::int64_t bytes = capacity.value();
  check(bytes > 0, "a memory holds at least a byte");
  if (bytes < kTable.front().capacity)
    return scaled(kTable.front().sram, static_cast<double>(bytes) / static_cast<double>(kTable.front().capacity));
  if (bytes > kTable.back().capacity)
    return scaled(kTable.back().sram, static_cast<double>(bytes) / static_cast<double>(kTable.back().capacity));
  std::size_t above = 0;
  while (kTable[above].capacity < bytes) ++above;
  // Areas of the 2024 study are reproduced bit for bit, so nothing is computed where nothing is needed.
  if (kTable[above].capacity == bytes) return kTable[above].sram;
  const Row& low = kTable[above - 1];
  const Row& high = kTable[above];
  return blend(low.sram, high.sram,
               static_cast<double>(bytes - low.capacity) / static_cast<double>(high.capacity - low.capacity));
}

}  // namespace phaze::hardware
