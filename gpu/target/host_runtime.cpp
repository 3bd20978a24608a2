// The host target's runtime: a pool of threads that runs a kernel's blocks, and the library sort and scan on top of it.
//
// `remaining` counts the blocks nobody has claimed; a claim is one compare-and-swap, and the job's other fields stand
// still until the last claimed block is done. They may be read after a claim only: whoever has none may be late, and
// look at the next job being written. An idle worker spins for `spin_us`, then sleeps;
// one of a fixed split naps.
//
// With `force_split` block b belongs to thread b % threads, so that a race between blocks cannot hide behind a quick
// first thread (for ThreadSanitizer). There is no claim then: every thread reads the fields of every job, to learn what
// its share is. So a job is over when every thread has left it, those included whose share is empty; `done` counts
// threads. (Were it over after its last block, a job of fewer blocks than threads would be followed by the next one
// while somebody still reads it, who then runs the new job's blocks twice.)
//
// What a block wrote is seen after the launch: `done` grows by releases and is waited for by an acquire, which takes
// from all of them, since read-modify-writes go on with a release sequence. The releases do not acquire, which would
// order blocks one after the other that no rule orders, and hide their races from ThreadSanitizer.
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef void (*Entry)(void** arguments, int first, int last, int count);

struct Pool {
    Entry entry;
    void** arguments;
    int block_count;
    const int* stop;
    alignas(64) int remaining;
    alignas(64) int done;
    alignas(64) int generation;
    alignas(64) int sleeping;
    int stopping;
    int threads;
    int force_split;
    int64_t spin_ns;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    pthread_t handles[1024];
    int next_id;
    uint32_t* digit_starts;  // [chunk][digit] of the sort
};

static const int MAX_DIGIT_BITS = 11;
static const int MAX_CHUNKS = 64;

static int chunk_count(const Pool* pool, int64_t count) {
    if (count < 4096) return 1;
    return pool->threads * 2 < MAX_CHUNKS ? pool->threads * 2 : MAX_CHUNKS;
}

static int64_t now_ns() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline void relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

static void run_block(Pool* pool, int block) { pool->entry(pool->arguments, block, block + 1, pool->block_count); }

// The last a thread does for a job: as soon as all have, the fields are another job's.
static void leave(Pool* pool) { __atomic_fetch_add(&pool->done, 1, __ATOMIC_RELEASE); }

// Claim and run one block; false when none is left.
static bool run_one(Pool* pool) {
    int left = __atomic_load_n(&pool->remaining, __ATOMIC_ACQUIRE);
    while (left > 0) {
        if (__atomic_compare_exchange_n(&pool->remaining, &left, left - 1, true, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            run_block(pool, pool->block_count - left);
            leave(pool);
            return true;
        }
    }
    return false;
}

static bool is_stopped(const int* stop) { return stop && __atomic_load_n(stop, __ATOMIC_RELAXED) != 0; }

// Run blocks until none is left, or nobody wants them.
static void run_some(Pool* pool, const int* stop) {
    while (!is_stopped(stop) && run_one(pool)) {}
}

static void run_share(Pool* pool, int id) {
    for (int block = id; block < pool->block_count; block += pool->threads) run_block(pool, block);
    leave(pool);
}

static bool has_work(Pool* pool, int seen) {
    if (pool->force_split) return __atomic_load_n(&pool->generation, __ATOMIC_SEQ_CST) != seen;
    return __atomic_load_n(&pool->remaining, __ATOMIC_SEQ_CST) > 0;
}

// A sleep that takes no lock: threads of a fixed split that passed one on would be ordered by it, and races hidden.
static void nap(int turn) {
    const timespec t = {0, 20000L << (turn < 4 ? turn : 4)};
    nanosleep(&t, nullptr);
}

static void wait_for_work(Pool* pool, int seen) {
    if (pool->force_split && pool->spin_ns > 0) {
        for (int turn = 0; !has_work(pool, seen); ++turn) {
            if (__atomic_load_n(&pool->stopping, __ATOMIC_ACQUIRE)) return;
            nap(turn);
        }
        return;
    }
    const int64_t until = now_ns() + pool->spin_ns;
    for (int turn = 0;; ++turn) {
        if (has_work(pool, seen) || __atomic_load_n(&pool->stopping, __ATOMIC_ACQUIRE)) return;
        relax();
        if ((turn & 63) == 63 && now_ns() >= until) break;
    }
    pthread_mutex_lock(&pool->mutex);
    __atomic_fetch_add(&pool->sleeping, 1, __ATOMIC_SEQ_CST);
    while (!has_work(pool, seen) && !__atomic_load_n(&pool->stopping, __ATOMIC_SEQ_CST))
        pthread_cond_wait(&pool->wake, &pool->mutex);
    __atomic_fetch_sub(&pool->sleeping, 1, __ATOMIC_SEQ_CST);
    pthread_mutex_unlock(&pool->mutex);
}

static void* work(void* given) {
    Pool* pool = static_cast<Pool*>(given);
    const int id = __atomic_add_fetch(&pool->next_id, 1, __ATOMIC_RELAXED);
    int seen = 0;
    while (true) {
        wait_for_work(pool, seen);
        if (__atomic_load_n(&pool->stopping, __ATOMIC_ACQUIRE)) return nullptr;
        if (pool->force_split) {
            ++seen;
            run_share(pool, id);
        } else {
            // Late, it may be another job's: then this thread only comes back. The caller's takes what is left out.
            const int* stop = __atomic_load_n(&pool->stop, __ATOMIC_RELAXED);
            run_some(pool, stop);
            if (is_stopped(stop)) sched_yield();
        }
    }
}

static void publish(Pool* pool, int block_count) {
    __atomic_store_n(&pool->done, 0, __ATOMIC_RELAXED);
    if (pool->force_split) {
        __atomic_fetch_add(&pool->generation, 1, __ATOMIC_SEQ_CST);
    } else {
        __atomic_store_n(&pool->remaining, block_count, __ATOMIC_SEQ_CST);
    }
    if (__atomic_load_n(&pool->sleeping, __ATOMIC_SEQ_CST) > 0) {
        pthread_mutex_lock(&pool->mutex);
        pthread_cond_broadcast(&pool->wake);
        pthread_mutex_unlock(&pool->mutex);
    }
}

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT Pool* pool_create(int threads, int spin_us, int force_split) {
    Pool* pool = static_cast<Pool*>(aligned_alloc(64, (sizeof(Pool) + 63) / 64 * 64));
    if (!pool) return nullptr;
    memset(pool, 0, sizeof(Pool));
    pool->digit_starts = static_cast<uint32_t*>(malloc(sizeof(uint32_t) * MAX_CHUNKS << MAX_DIGIT_BITS));
    pool->spin_ns = (int64_t)spin_us * 1000;
    pool->force_split = force_split;
    pthread_mutex_init(&pool->mutex, nullptr);
    pthread_cond_init(&pool->wake, nullptr);
    if (threads > 1024) threads = 1024;
    pool->threads = threads;
    for (int i = 1; i < threads; ++i) {
        if (pthread_create(&pool->handles[i], nullptr, work, pool) != 0) {
            // Fewer threads than asked for: with a fixed split nobody would run the missing shares.
            pool->threads = i;
            break;
        }
    }
    return pool;
}

EXPORT int pool_threads(Pool* pool) { return pool->threads; }

// Take all blocks that nobody has claimed, and run none of them.
static void drop_unclaimed(Pool* pool) {
    const int left = __atomic_exchange_n(&pool->remaining, 0, __ATOMIC_ACQ_REL);
    if (left > 0) __atomic_fetch_add(&pool->done, left, __ATOMIC_RELEASE);
}

// Where `stop` is given and becomes another number than 0, blocks that nobody has begun are left out, and all of later
// jobs. It is looked at before a claim: whatever is claimed is run, since a block may wait for those before it. A fixed
// split runs all of what is begun.
EXPORT void pool_run(Pool* pool, Entry entry, void** arguments, int block_count, const int* stop) {
    if (block_count <= 0 || is_stopped(stop)) return;
    if (block_count == 1 || pool->threads == 1) {
        if (!stop) entry(arguments, 0, block_count, block_count);
        for (int block = 0; stop && block < block_count && !is_stopped(stop); ++block)
            entry(arguments, block, block + 1, block_count);
        return;
    }
    pool->entry = entry;
    pool->arguments = arguments;
    pool->block_count = block_count;
    __atomic_store_n(&pool->stop, stop, __ATOMIC_RELAXED);
    publish(pool, block_count);
    if (pool->force_split) {
        run_share(pool, 0);
    } else {
        run_some(pool, stop);
        if (is_stopped(stop)) drop_unclaimed(pool);
    }
    const int all = pool->force_split ? pool->threads : block_count;
    for (unsigned turn = 1; __atomic_load_n(&pool->done, __ATOMIC_ACQUIRE) < all; ++turn) {
        relax();
        // who is waited for may have lost its core, to another program or to a thread of this pool
        if ((turn & 255) == 0) {
            if (pool->force_split) nap(0);
            else sched_yield();
        }
    }
}

EXPORT void pool_destroy(Pool* pool) {
    __atomic_store_n(&pool->stopping, 1, __ATOMIC_SEQ_CST);
    pthread_mutex_lock(&pool->mutex);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->mutex);
    for (int i = 1; i < pool->threads; ++i) pthread_join(pool->handles[i], nullptr);
    pthread_mutex_destroy(&pool->mutex);
    pthread_cond_destroy(&pool->wake);
    free(pool->digit_starts);
    free(pool);
}

// -- stable radix sort: count, scan, scatter, a digit at a time; the chunks are fixed, so the bytes do not depend on

struct SortPass {
    const void* keys;
    const uint32_t* values;
    void* keys_out;
    uint32_t* values_out;
    int64_t count;
    int shift, bits, chunks;
    uint32_t* starts;  // [chunk][digit]
};

template <class Key>
static void count_digits(void** arguments, int first, int last, int) {
    SortPass& pass = *static_cast<SortPass*>(arguments[0]);
    const Key* keys = static_cast<const Key*>(pass.keys);
    const Key mask = ((Key)1 << pass.bits) - 1;
    for (int chunk = first; chunk < last; ++chunk) {
        uint32_t* counts = pass.starts + ((int64_t)chunk << pass.bits);
        memset(counts, 0, sizeof(uint32_t) << pass.bits);
        const int64_t end = pass.count * (chunk + 1) / pass.chunks;
        for (int64_t i = pass.count * chunk / pass.chunks; i < end; ++i) ++counts[(keys[i] >> pass.shift) & mask];
    }
}

template <class Key>
static void scatter_digits(void** arguments, int first, int last, int) {
    SortPass& pass = *static_cast<SortPass*>(arguments[0]);
    const Key* keys = static_cast<const Key*>(pass.keys);
    Key* keys_out = static_cast<Key*>(pass.keys_out);
    const Key mask = ((Key)1 << pass.bits) - 1;
    for (int chunk = first; chunk < last; ++chunk) {
        uint32_t* next = pass.starts + ((int64_t)chunk << pass.bits);
        const int64_t end = pass.count * (chunk + 1) / pass.chunks;
        for (int64_t i = pass.count * chunk / pass.chunks; i < end; ++i) {
            const uint32_t place = next[(keys[i] >> pass.shift) & mask]++;
            keys_out[place] = keys[i];
            if (pass.values) pass.values_out[place] = pass.values[i];
        }
    }
}

static void scan_digits(SortPass& pass) {
    uint32_t sum = 0;
    for (int digit = 0; digit < 1 << pass.bits; ++digit) {
        for (int chunk = 0; chunk < pass.chunks; ++chunk) {
            uint32_t& at = pass.starts[((int64_t)chunk << pass.bits) + digit];
            const uint32_t count = at;
            at = sum;
            sum += count;
        }
    }
}

static int digit_bits_of(int bit_count) {
    const int passes = (bit_count + MAX_DIGIT_BITS - 1) / MAX_DIGIT_BITS;
    return (bit_count + passes - 1) / passes;
}

// How often a sort by so many bits goes over its keys: after an odd number the result lies in the second buffers.
// Nothing is done to fewer than two.
EXPORT int sort_passes(int64_t count, int first_bit, int last_bit) {
    if (last_bit <= first_bit || count < 2) return 0;
    const int bits = last_bit - first_bit, digit_bits = digit_bits_of(bits);
    return (bits + digit_bits - 1) / digit_bits;
}

// Sorts by bits [first_bit, last_bit). `values` may be null.
template <class Key>
static void sort(Pool* pool, Key* keys, Key* keys_other, uint32_t* values, uint32_t* values_other, int64_t count,
                 int first_bit, int last_bit) {
    if (sort_passes(count, first_bit, last_bit) == 0) return;
    const int digit_bits = digit_bits_of(last_bit - first_bit);
    const int chunks = chunk_count(pool, count);
    for (int bit = first_bit; bit < last_bit; bit += digit_bits) {
        const int bits = last_bit - bit < digit_bits ? last_bit - bit : digit_bits;
        SortPass pass = {keys, values, keys_other, values_other, count, bit, bits, chunks, pool->digit_starts};
        void* arguments[1] = {&pass};
        pool_run(pool, count_digits<Key>, arguments, chunks, nullptr);
        scan_digits(pass);
        pool_run(pool, scatter_digits<Key>, arguments, chunks, nullptr);
        Key* k = keys;
        keys = keys_other;
        keys_other = k;
        uint32_t* v = values;
        values = values_other;
        values_other = v;
    }
}

EXPORT void sort_u32(Pool* pool, uint32_t* keys, uint32_t* other, uint32_t* values, uint32_t* values_other,
                     int64_t count, int first, int last) {
    sort(pool, keys, other, values, values_other, count, first, last);
}
EXPORT void sort_u64(Pool* pool, uint64_t* keys, uint64_t* other, uint32_t* values, uint32_t* values_other,
                     int64_t count, int first, int last) {
    sort(pool, keys, other, values, values_other, count, first, last);
}

// -- exclusive scan of 32-bit integers: sums of chunks, then each chunk from its start -------------------

struct ScanPass {
    const uint32_t* values;
    uint32_t* out;
    int64_t count;
    int chunks;
    uint32_t starts[MAX_CHUNKS];
};

static void sum_chunks(void** arguments, int first, int last, int) {
    ScanPass& pass = *static_cast<ScanPass*>(arguments[0]);
    for (int chunk = first; chunk < last; ++chunk) {
        uint32_t sum = 0;
        const int64_t end = pass.count * (chunk + 1) / pass.chunks;
        for (int64_t i = pass.count * chunk / pass.chunks; i < end; ++i) sum += pass.values[i];
        pass.starts[chunk] = sum;
    }
}

static void scan_chunks(void** arguments, int first, int last, int) {
    ScanPass& pass = *static_cast<ScanPass*>(arguments[0]);
    for (int chunk = first; chunk < last; ++chunk) {
        uint32_t sum = pass.starts[chunk];
        const int64_t end = pass.count * (chunk + 1) / pass.chunks;
        for (int64_t i = pass.count * chunk / pass.chunks; i < end; ++i) {
            const uint32_t value = pass.values[i];
            pass.out[i] = sum;
            sum += value;
        }
    }
}

EXPORT void exclusive_scan(Pool* pool, const uint32_t* values, uint32_t* out, int64_t count) {
    ScanPass pass = {values, out, count, chunk_count(pool, count), {}};
    void* arguments[1] = {&pass};
    pool_run(pool, sum_chunks, arguments, pass.chunks, nullptr);
    uint32_t sum = 0;
    for (int chunk = 0; chunk < pass.chunks; ++chunk) {
        const uint32_t count_here = pass.starts[chunk];
        pass.starts[chunk] = sum;
        sum += count_here;
    }
    pool_run(pool, scan_chunks, arguments, pass.chunks, nullptr);
}

// -- fill with a word that repeats every eight bytes; whoever asks sees to the bytes behind the last whole one

struct FillPass {
    uint64_t *out, word;
    int64_t words, chunks;
};

static void fill_chunks(void** arguments, int first, int last, int) {
    const FillPass& pass = *static_cast<FillPass*>(arguments[0]);
    uint64_t* const end = pass.out + pass.words * last / pass.chunks;
    for (uint64_t* at = pass.out + pass.words * first / pass.chunks; at < end; ++at) *at = pass.word;
}

EXPORT void fill(Pool* pool, uint64_t* out, uint64_t word, int64_t words) {
    FillPass pass = {out, word, words, chunk_count(pool, words)};
    void* arguments[1] = {&pass};
    pool_run(pool, fill_chunks, arguments, (int)pass.chunks, nullptr);
}
