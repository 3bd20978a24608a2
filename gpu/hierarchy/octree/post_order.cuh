// Cells by their places in post order, all in one number: which of all cells down to level BITS a cell is, counted
// from 1 in the order in which a walk leaves them, so that a subcell comes before its supercell. Sorting by these
// numbers is the order across levels, and a number is a cell. Unit constant: BITS; alias: Key, of 3 BITS + 1 bits.
//
// When a walk has left E of the smallest cells, it has left E + E/8 + E/64 + ... cells, each rounded down: by Legendre
// (8 E - the sum of E's octal digits) / 7. Below a cell of height h there are 1 + 8 + ... + 8^h, itself included.
#pragma once
#include "gpu/hierarchy/octree/cell.cuh"

constexpr Key NO_KEY = ~Key(0);  // behind all cells, by its 3 BITS + 1 lowest bits too
constexpr uint64 EVERY_THIRD = 0x9249249249249249ull, INVERSE_OF_7 = 0x6db6db6db6db6db7ull;

__device__ __forceinline__ uint64 octal_digits(uint64 value) {
    return (uint64)(__popcll(value & EVERY_THIRD) + 2 * __popcll(value & EVERY_THIRD << 1) +
                    4 * __popcll(value & EVERY_THIRD << 2));
}
// value / 8 + value / 64 + ...
__device__ __forceinline__ uint64 eighths(uint64 value) { return (value - octal_digits(value)) * INVERSE_OF_7; }

__device__ __forceinline__ Key key_of(Cell cell) {
    if (!exists(cell)) return NO_KEY;
    return (Key)((cell.code + 1) * (EVERY_THIRD >> 63 - 3 * (BITS - cell.level)) + eighths(cell.code));
}

// By search: seven eighths of the number are too few of the smallest cells, and 32 more are enough.
__device__ __forceinline__ Cell cell_of_key(Key key) {
    const uint64 number = key;
    uint64 smallest = number - (number >> 3) - ((number & 7) != 0 ? 1 : 0);
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
        const uint64 more = smallest + (unsigned)step;
        if (more + eighths(more) < number) smallest = more;
    }
    const int height = (int)(number - smallest - eighths(smallest)) - 1;
    return {(smallest + 1 >> 3 * height) - 1, BITS - height};
}
