// The k primitives nearest to each of many places, a place a thread: a list in order of distance, of equals the smaller
// prim_id first, into which every nearer one is moved.
//
// Unit constants: MOST_NEIGHBOURS, room for k; MAY_REPEAT, whether a visit may hand over a primitive more than once.
#include "gpu/device/loops.cuh"
#include "gpu/query/input.cuh"

struct NearestPrimitives {
    const QueryInput* input;
    int asking, wanted, count;
    float distances2[MOST_NEIGHBOURS];
    int prim_ids[MOST_NEIGHBOURS];

    __device__ __forceinline__ bool operator()(int reference, BallRegion& region) {
        const Records& records = input->records;
        if (!records.is_active(reference)) return true;
        const float3 to = Question::offset_of(records.shape(reference), region.centre);
        const float far2 = dot(to, to);
        if (!(far2 <= region.radius2)) return true;
        const int id = records.prim_id(reference);
        if (!input->question.allows(asking, id) || (MAY_REPEAT && !is_news(far2, id))) return true;
        if (count == wanted && !is_before(far2, id, wanted - 1)) return true;
        if (count < wanted) ++count;
        int place = count - 1;
        for (; place > 0 && is_before(far2, id, place - 1); --place) {
            distances2[place] = distances2[place - 1];
            prim_ids[place] = prim_ids[place - 1];
        }
        distances2[place] = far2;
        prim_ids[place] = id;
        if (count == wanted) region.shrink(distances2[wanted - 1]);
        return true;
    }

    __device__ __forceinline__ bool is_before(float far2, int id, int place) const {
        return far2 < distances2[place] || (far2 == distances2[place] && id < prim_ids[place]);
    }
    // Whether a primitive is not in the list, or farther there: then it is taken out.
    __device__ __forceinline__ bool is_news(float far2, int id) {
        int place = 0;
        while (place < count && prim_ids[place] != id) ++place;
        if (place == count) return true;
        if (distances2[place] <= far2) return false;
        for (--count; place < count; ++place) {
            distances2[place] = distances2[place + 1];
            prim_ids[place] = prim_ids[place + 1];
        }
        return true;
    }
};

// `prim_ids`, `distances`: `wanted` for each place, -1 and infinity where there are no more.
extern "C" __global__ void find_k_nearest(QueryInput input, int count, int wanted, int* prim_ids, float* distances) {
    for (int i : grid_stride(count)) {
        BallRegion region;
        NearestPrimitives found;
        found.input = &input;
        found.asking = i;
        found.wanted = wanted;
        found.count = 0;
        if (input.question.region(i, region)) {
            input.question.each_image(region, [&] { visit(input.tree, region, found); });
        }
        const int64 row = (int64)i * wanted;
        for (int place = 0; place < wanted; ++place) {
            const bool is_there = place < found.count;
            prim_ids[row + place] = is_there ? found.prim_ids[place] : -1;
            distances[row + place] = is_there ? sqrtf(found.distances2[place]) : __int_as_float(0x7f800000);
        }
    }
}
