// Beams and reaches of packs against nodes of eight, beside the rays themselves: an item is a pack and the boxes of one
// node.
#include "gpu/device/loops.cuh"
#include "gpu/hierarchy/bvh/traversals/bvh8_stack.cuh"

// `rays`: eight rows of `packs` * PACK; `planes`: 48 numbers a pack, as a Bvh8Node has them. Bits of the eight boxes:
// `by_beam` what the beam enters, -1 where none is made; `by_rays` what any ray does. Eight distances a pack: `entries`
// where the beam enters, `nearest` where the first ray does.
extern "C" __global__ void enter_nodes(const float* rays, const float* planes, int packs, int* by_beam, int* by_rays,
                                       float* entries, float* nearest) {
    const int n = packs * PACK;
    for (int pack : grid_stride(packs)) {
        Real row[8];
        for (int r = 0; r < 8; ++r) row[r] = load(rays + (int64)r * n + pack * PACK);
        const Rays of_pack = make_rays(row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7],
                                       splat_mask(true));
        bool agrees;
        const Slabs slabs = make_slabs(of_pack, agrees);
        const float* node = planes + (int64)pack * 48;
        const Beam beam(slabs.sign_x, slabs.sign_y, slabs.sign_z, of_pack);
        by_beam[pack] = agrees && beam.is_sound() ? (int)beam.enter_eight(node, entries + pack * WIDE_SLOTS) : -1;
        unsigned bits = 0u;
        for (int slot = 0; slot < WIDE_SLOTS; ++slot) {
            Real entry;
            const Mask enters = enter_bvh8_child<true>(node + slot, slabs, of_pack, entry);
            nearest[pack * WIDE_SLOTS + slot] = horizontal_min(entry, enters);
            if (any(enters)) bits |= 1u << slot;
        }
        by_rays[pack] = (int)bits;
    }
}

// The same of the reach of packs whose rays go all ways, those with a negative end idle: `by_reach` -1 where it is not
// sound.
extern "C" __global__ void meet_nodes(const float* rays, const float* planes, int packs, int* by_reach, int* by_rays) {
    const int n = packs * PACK;
    for (int pack : grid_stride(packs)) {
        Real row[8];
        for (int r = 0; r < 8; ++r) row[r] = load(rays + (int64)r * n + pack * PACK);
        const Rays of_pack = make_rays(row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7],
                                       row[7] >= splat(0.0f));
        bool agrees;
        const Slabs slabs = make_slabs(of_pack, agrees);
        const float* node = planes + (int64)pack * 48;
        const Reach reach(of_pack);
        by_reach[pack] = reach.is_sound ? (int)reach.meets_eight(node) : -1;
        unsigned bits = 0u;
        for (int slot = 0; slot < WIDE_SLOTS; ++slot) {
            Real entry;
            if (any(enter_bvh8_child<false>(node + slot, slabs, of_pack, entry))) bits |= 1u << slot;
        }
        by_rays[pack] = (int)bits;
    }
}
