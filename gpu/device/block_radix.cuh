// A tile of keys ranked by one digit inside a block, stably, after Merrill and Grimshaw (Revisiting Sorting for GPGPU
// Stream Architectures, 2010) as Meister's thesis retells it (6.1.3): every thread counts the digits of its own
// neighbouring keys in a column of flags, prefix sums run over the columns digit by digit, and each thread reads the
// places of its keys off its column.
//
//     flags:  | digit 0: thread 0 .. thread 255 | digit 1: thread 0 .. thread 255 | ...      prefix sums in this order
//
// For the prefix sums each thread takes as many neighbouring flags as there are digits; two unused flags after each
// such row let the threads of a warp read different banks of shared memory.
#pragma once
#include "gpu/device/block.cuh"

constexpr int RADIX_THREADS = RUNS_SERIAL ? 1 : 256;  // of a block that ranks; the launch takes as many

// Shared memory of one ranking. TILE keys, at most 65535.
template <int DIGIT_BITS, int TILE>
struct RadixTile {
    static constexpr int DIGITS = 1 << DIGIT_BITS;
    static constexpr int ITEMS = TILE / RADIX_THREADS;  // neighbouring keys of a thread

    unsigned short flags[(DIGITS + 2) * RADIX_THREADS];
    int first_of_digit[DIGITS + 1];  // where the keys of a digit begin in the sorted tile

    __device__ static int slot(int digit, int column) {
        const int flat = digit * RADIX_THREADS + column;
        return flat + flat / DIGITS * 2;
    }

    // `digit_of(i)` is the digit of the tile's i-th key of `count`; `move(i, place)` learns where it goes. All threads
    // call this together, and what `move` wrote may be read afterwards.
    template <class DigitOf, class Move>
    __device__ __forceinline__ void rank(int count, const DigitOf& digit_of, const Move& move) {
        const int column = thread_index(), first = column * ITEMS, last = min(first + ITEMS, count);
#pragma unroll 4
        for (int digit = 0; digit < DIGITS; ++digit) flags[slot(digit, column)] = 0;
#pragma unroll 2
        for (int i = first; i < last; ++i) ++flags[slot(digit_of(i), column)];
        block_sync();
        unsigned short* const mine = flags + column * (DIGITS + 2);
        int sum = 0, all;
#pragma unroll 8
        for (int k = 0; k < DIGITS; ++k) sum += mine[k];
        int before = block_exclusive_scan(sum, all);
#pragma unroll 8
        for (int k = 0; k < DIGITS; ++k) {
            const int here = mine[k];
            mine[k] = (unsigned short)before;
            before += here;
        }
        block_sync();
        for (int digit : block_stride(DIGITS + 1))
            first_of_digit[digit] = digit < DIGITS ? flags[slot(digit, 0)] : count;
        block_sync();
#pragma unroll 2
        for (int i = first; i < last; ++i) move(i, (int)flags[slot(digit_of(i), column)]++);
        block_sync();
    }
};
