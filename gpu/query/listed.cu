// The primitives in each of many regions, a region a thread: first how many they are, then, where the lists begin is
// known, which.
#include "gpu/device/loops.cuh"
#include "gpu/query/input.cuh"

// Counts what is in the region, and lists it where there is a list.
struct ListedPrimitives {
    const QueryInput* input;
    int asking;
    Pointer<int> list;
    int found;

    __device__ __forceinline__ bool operator()(int reference, const Question::Region& region) {
        const Records& records = input->records;
        const int prim_id = records.prim_id(reference);
        if (!records.is_active(reference) || !input->question.allows(asking, prim_id, region)) return true;
        if (!input->question.holds(records.shape(reference), region)) return true;
        if (list != nullptr) list[found] = prim_id;
        ++found;
        return true;
    }
};

__device__ __forceinline__ int find_listed(const QueryInput& input, int i, int* list) {
    ListedPrimitives primitives = {&input, i, list, 0};
    Question::Region region;
    if (!input.question.region(i, region)) return 0;
    input.question.each_image(region, [&] { visit(input.tree, region, primitives); });
    return primitives.found;
}

extern "C" __global__ void count_listed(QueryInput input, int count, int* found) {
    for (int i : grid_stride(count)) found[i] = find_listed(input, i, nullptr);
}

// `first`: the exclusive sums of what was found, `counts`.
extern "C" __global__ void write_listed(QueryInput input, int count, const int* first, const int* counts,
                                        int* prim_ids) {
    for (int i : grid_stride(count))
        if (counts[i] > 0) find_listed(input, i, prim_ids + first[i]);
}
