// The way of rays through cells of one size, by additions alone (Amanatides and Woo, A Fast Voxel Traversal Algorithm
// for Ray Tracing, 1987): the next plane of each axis is met at a known time, and the first of the three is passed.
//
// A plane is met at a time plus or minus what rounding moves it by (cells.cuh): a slice begins at the early one and the
// slice before it ends at the late one. So a ray enters slices at their early times, and where it has not yet left the
// slice before of another axis the cells beside are visited too: exactly those cells are whose times overlap, whatever
// is rounded, and a ray in a plane visits both sides.
//
// A pack's rays go on each by itself through empty cells. Where all have something before them, the cell of fewest
// steps from the corner that they come from is visited next, by all rays that are in it: no other ray comes to that
// cell later, since each step leads away from the corner, so that a pack visits a cell once.
#pragma once
#include "gpu/hierarchy/cells.cuh"
#include "gpu/hierarchy/grid/nodes.cuh"
#include "gpu/hierarchy/shared_lists.cuh"

constexpr float NEVER = FLOAT_MAX;

// How rays pass the planes of one axis, cells counted from where they come from. `spare`: what rounding moves a plane
// by, as a time; whoever has the ray has it.
struct AxisSteps {
    Real enters, width;  // when the first plane is met, and the time from plane to plane
    Real cell, next;  // where each ray is, and when it enters the next slice
    int last;

    // Of the planes everything but the place among them, which is given.
    __device__ __forceinline__ void place(const GridAxis& planes, bool is_down, Real origin, Real inverse) {
        enters = splat(is_down ? planes.upper : planes.lower) * inverse - origin * inverse;
        width = lanes_abs(inverse) * planes.width;
        last = planes.count - 1;
    }
    // The place at a time: the last slice that is entered by then.
    __device__ __forceinline__ void find_cell(Real time, Real spare) {
        cell = splat(0.0f);
        if (last == 0) return;
        const Real slices = min(max((time + spare - enters) / width, splat(0.0f)), splat((float)last));
        for (int i = 0; i < PACK; ++i) set_lane(cell, i, (float)(int)lane(slices, i));
    }
    __device__ __forceinline__ void find_next(Real spare) {
        const Real early = lanes_fma(cell + 1.0f, width, enters) - spare;
        next = select(cell < (float)last, early, splat(NEVER));
    }
    __device__ __forceinline__ void step(Mask lanes, Real spare) {
        cell = select(lanes, cell + 1.0f, cell);
        find_next(spare);
    }
    // Until when the slice before a place is not left, at the latest.
    __device__ __forceinline__ Real before_ends(Real spare) const {
        return select(cell > splat(0.0f), lanes_fma(cell, width, enters) + spare, splat(-NEVER));
    }
    // When a slice is left; where the last one is the grid ends.
    __device__ __forceinline__ Real leaves(Real slice, Real spare) const {
        return select(slice < (float)last, lanes_fma(slice + 1.0f, width, enters) + spare, splat(NEVER));
    }
    // When the grid is left across this axis, at the latest.
    __device__ __forceinline__ Real ends(Real spare) const {
        return lanes_fma(splat((float)(last + 1)), width, enters) + spare;
    }
    // How many slices before its own a ray has not left at a time.
    __device__ __forceinline__ int slices_before(int i, float time, Real spare) const {
        int count = 0;
        while ((float)count < lane(cell, i) &&
               fmaf(lane(cell, i) - (float)count, lane(width, i), lane(enters, i)) + lane(spare, i) >= time)
            ++count;
        return count;
    }
};

constexpr int NO_AXIS = 3;

// Where rays are in a grid.
struct GridPlace {
    AxisSteps x, y, z;
    Int index;  // the cell of each ray
    Real now, until, exit;  // when it entered it; until when it may be in a slice before; when it leaves the grid
    Real slack;
    Mask going;
    Mask beside;  // rays with cells beside them to visit, and how many of the first one's are done
    Int stepped;  // along which axis each ray stepped last
    int done;
    int signs;
};

// `Cells` as walk_grid below takes them.
template <class Cells, class OnNode>
struct GridWalk : GridPlace {
    Rays& rays;
    Cells& cells;
    OnNode& on_node;

    __device__ __forceinline__ GridWalk(const GridPlace& place, Rays& rays, Cells& cells, OnNode& on_node)
        : GridPlace(place), rays(rays), cells(cells), on_node(on_node) {}
    // Before its start.
    __device__ __forceinline__ GridWalk(Real slack, int signs, Real exit, Rays& rays, Cells& cells, OnNode& on_node)
        : GridWalk(GridPlace{}, rays, cells, on_node) {
        this->slack = slack;
        this->signs = signs;
        this->exit = exit;
    }

    __device__ __forceinline__ bool is_down(int axis) const {
        if (IS_SINGLE_RAY) return lane(axis == 0 ? rays.ix : axis == 1 ? rays.iy : rays.iz, 0) < 0.0f;
        return (signs >> axis & 1) != 0;
    }
    __device__ __forceinline__ Real spare_x() const { return lanes_abs(rays.ix) * slack; }
    __device__ __forceinline__ Real spare_y() const { return lanes_abs(rays.iy) * slack; }
    __device__ __forceinline__ Real spare_z() const { return lanes_abs(rays.iz) * slack; }
    // From a cell to the next one that a ray comes to along an axis.
    __device__ __forceinline__ int stride_x() const { return is_down(0) ? -1 : 1; }
    __device__ __forceinline__ int stride_y() const { return is_down(1) ? -(x.last + 1) : x.last + 1; }
    __device__ __forceinline__ int stride_z() const {
        const int slice = (x.last + 1) * (y.last + 1);
        return is_down(2) ? -slice : slice;
    }

    __device__ __forceinline__ void place(const GridSpace& grid) {
        x.place(grid.x, is_down(0), rays.ox, rays.ix);
        y.place(grid.y, is_down(1), rays.oy, rays.iy);
        z.place(grid.z, is_down(2), rays.oz, rays.iz);
    }
    __device__ __forceinline__ void find_next() {
        x.find_next(spare_x());
        y.find_next(spare_y());
        z.find_next(spare_z());
    }
    // Where a single ray is, by the number of its cell.
    __device__ __forceinline__ void find_cells(const GridSpace& grid) {
        const int3 cell = grid.cell(lane(index, 0));
        x.cell = splat((float)(is_down(0) ? x.last - cell.x : cell.x));
        y.cell = splat((float)(is_down(1) ? y.last - cell.y : cell.y));
        z.cell = splat((float)(is_down(2) ? z.last - cell.z : cell.z));
    }
    __device__ __forceinline__ void start(const GridSpace& grid, Mask lanes, Real entry) {
        place(grid);
        x.find_cell(entry, spare_x());
        y.find_cell(entry, spare_y());
        z.find_cell(entry, spare_z());
        find_next();
        const int first = (is_down(0) ? grid.count.x - 1 : 0) + (is_down(1) ? (grid.count.y - 1) * grid.count.x : 0) +
                          (is_down(2) ? (grid.count.z - 1) * grid.count.x * grid.count.y : 0);
        for (int i = 0; i < PACK; ++i)
            set_lane(index, i,
                     first + (int)lane(x.cell, i) * stride_x() + (int)lane(y.cell, i) * stride_y() +
                         (int)lane(z.cell, i) * stride_z());
        now = entry;
        going = lanes;
        until = max(x.before_ends(spare_x()), max(y.before_ends(spare_y()), z.before_ends(spare_z())));
        beside = lanes & (entry <= until);
        stepped = splat_int(NO_AXIS);
        done = 0;
        enter_cells(lanes);
    }

    // Rays go into their next cells; `lanes` are those that do.
    __device__ __forceinline__ void step(Mask& lanes) {
        const Real time = min(x.next, min(y.next, z.next));
        const Mask goes_on = lanes & (time <= min(exit, rays.t_max));
        going = going & !(lanes & !goes_on);
        lanes = goes_on;
        const Mask in_x = lanes & (x.next <= time), in_y = lanes & !in_x & (y.next <= time),
                   in_z = lanes & !in_x & !in_y;
        const Real spare = select(in_x, spare_x(), select(in_y, spare_y(), spare_z()));
        stepped = select(in_x, splat_int(0), select(in_y, splat_int(1), splat_int(2)));
        x.step(in_x, spare_x());
        y.step(in_y, spare_y());
        z.step(in_z, spare_z());
        index = index + select(in_x, splat_int(stride_x()),
                               select(in_y, splat_int(stride_y()), select(in_z, splat_int(stride_z()), splat_int(0))));
        now = select(lanes, time, now);
        beside = lanes & (time <= until);
        until = select(lanes, max(until, time + spare * 3.0f), until);
        enter_cells(lanes);
    }

    __device__ __forceinline__ void enter_cells(Mask lanes) {
        if constexpr (NEEDS_LANES<OnNode>) {
            for (unsigned rest = mask_bits(lanes); rest != 0u; rest &= rest - 1u) {
                const int i = __ffs((int)rest) - 1;
                cells.enter(on_node, lane(index, i), mask_from_bits(1u << i), now);
            }
        }
    }

    __device__ __forceinline__ Mask filled(Mask lanes) const {
        unsigned found = 0;
        for (unsigned rest = mask_bits(lanes); rest != 0u; rest &= rest - 1u) {
            const int i = __ffs((int)rest) - 1;
            if (!cells.is_empty(lane(index, i))) found |= 1u << i;
        }
        return mask_from_bits(found);
    }

    // What is visited next: by which rays, and where along each axis.
    struct Visit {
        Mask lanes;
        int cell;
        Real at_x, at_y, at_z;
    };
    // The next cell beside the first ray that has such cells: false where there is none left, or it is empty.
    __device__ __forceinline__ bool next_beside(Visit& next) {
        const int i = __ffs((int)mask_bits(beside)) - 1, axis = lane(stepped, i);
        const float time = lane(now, i);
        next.lanes = mask_from_bits(1u << i);
        const int before_x = axis == 0 ? 0 : x.slices_before(i, time, spare_x()),
                  before_y = axis == 1 ? 0 : y.slices_before(i, time, spare_y()),
                  before_z = axis == 2 ? 0 : z.slices_before(i, time, spare_z());
        ++done;
        if (done >= (before_x + 1) * (before_y + 1) * (before_z + 1) || !any(going & next.lanes)) {
            beside = beside & !next.lanes;
            done = 0;
            return false;
        }
        const int dx = done % (before_x + 1), dy = done / (before_x + 1) % (before_y + 1),
                  dz = done / (before_x + 1) / (before_y + 1);
        next.cell = lane(index, i) - dx * stride_x() - dy * stride_y() - dz * stride_z();
        next.at_x = x.cell - (float)dx;
        next.at_y = y.cell - (float)dy;
        next.at_z = z.cell - (float)dz;
        if constexpr (NEEDS_LANES<OnNode>) cells.enter(on_node, next.cell, next.lanes, now);
        return !cells.is_empty(next.cell);
    }
    // The cell of fewest steps among those of `full`, and the rays in it.
    __device__ __forceinline__ void nearest_group(Mask full, Visit& next) const {
        next.lanes = full;
        next.cell = lane(index, 0);
        next.at_x = x.cell;
        next.at_y = y.cell;
        next.at_z = z.cell;
        if (IS_SINGLE_RAY) return;
        const Real steps = x.cell + y.cell + z.cell;
        const float fewest = horizontal_min(steps, full);
        next.cell = lane(index, __ffs((int)mask_bits(full & (steps <= splat(fewest)))) - 1);
        next.lanes = full & (index == splat_int(next.cell));
    }

    // Goes on to the next cell that is visited; false where there is none. A loop of its own, so that a warp's rays
    // look for their cells together before any of them tests what is listed in one.
    __device__ __forceinline__ bool find_visit(Mask& full, Mask& empty, Visit& next) {
        bool is_found = false;
        while (!is_found) {
            if (any(beside)) {
                is_found = next_beside(next);
            } else if (any(empty = empty & going)) {
                step(empty);
                const Mask found = filled(empty);
                full = full | found;
                empty = empty & !found;
            } else {
                full = full & going;
                if (!any(full)) break;
                nearest_group(full, next);
                full = full & !next.lanes;
                empty = next.lanes;
                is_found = true;
            }
        }
        return is_found;
    }

    // When the cell of a visit, or the grid, is left.
    __device__ __forceinline__ Real leaves_at(const Visit& next) const {
        const Real leaves = min(x.leaves(next.at_x, spare_x()),
                                min(y.leaves(next.at_y, spare_y()), z.leaves(next.at_z, spare_z())));
        return min(exit, leaves);
    }

    // After a grid within a cell, so that what can be found again need not be kept meanwhile.
    __device__ __forceinline__ void place_again() {
        const GridSpace grid = cells.space();
        place(grid);
        if (IS_SINGLE_RAY) {
            find_cells(grid);
            exit = min(x.ends(spare_x()), min(y.ends(spare_y()), z.ends(spare_z())));
        }
        find_next();
    }

    __device__ __forceinline__ void walk() {
        Mask full = filled(going), empty = going & !full;
        Visit next;
        while (find_visit(full, empty, next)) {
            const Mask others = rays.active & !next.lanes;
            rays.active = rays.active & next.lanes;
            cells.visit(next.cell, now, leaves_at(next), rays, on_node);
            going = going & (rays.active | others);
            rays.active = rays.active | others;
            if constexpr (Cells::IS_NESTED) place_again();
        }
    }

    // A single ray's visits of cells, as long as it `goes_on` and until it comes to one that it shares
    // (shared_lists.cuh): whether it has.
    __device__ __forceinline__ bool walk_to_shared(bool goes_on, Mask& full, Mask& empty, Visit& next) {
        goes_on = goes_on && find_visit(full, empty, next);
        while (goes_on && !cells.is_shared(next.cell)) {
            cells.visit(next.cell, now, leaves_at(next), rays, on_node);
            going = going & rays.active;
            goes_on = find_visit(full, empty, next);
        }
        return goes_on;
    }

    // A single ray's walk, whose warp's lanes test long lists together: all of `lanes` stay until the last has no cell
    // left.
    __device__ __forceinline__ void walk_sharing(unsigned lanes) {
        Mask full = filled(going), empty = going & !full;
        Visit next = {};
        bool goes_on = true;
        while (warp_ballot_among(lanes, goes_on = walk_to_shared(goes_on, full, empty, next)) != 0u) {
            cells.visit_sharing(lanes, goes_on, next.cell, now, goes_on ? leaves_at(next) : exit, rays, on_node);
            going = going & rays.active;
            if constexpr (Cells::IS_NESTED) place_again();
        }
    }
};

// Which axes the rays run down.
__device__ __forceinline__ int signs_of(const Crossings& crossings) {
    return (crossings.is_down(0) ? 1 : 0) | (crossings.is_down(1) ? 2 : 0) | (crossings.is_down(2) ? 4 : 0);
}

// `lanes` go through the grid's cells between their entries and exits. `cells` has
//     is_empty(index)                          whether there is nothing to visit
//     visit(index, entry, exit, rays, on_node)  for the rays that are active
//     enter(on_node, index, lanes, entry)      a cell is entered, empty or not
//     IS_NESTED, space()                       whether cells are walked in turn, and then the grid
template <class Cells, class OnNode>
__device__ __forceinline__ void walk_grid(const GridSpace& grid, Real slack, int signs, Mask lanes, Real entry,
                                          Real exit, Rays& rays, Cells& cells, OnNode& on_node) {
    GridWalk<Cells, OnNode> way(slack, signs, exit, rays, cells, on_node);
    way.start(grid, lanes, entry);
    way.walk();
}

// The same of single rays whose warp's `lanes` test long lists together: those of them that have no way through this
// grid, by `has_way`, help. Beside visit, `cells` has
//     is_shared(index)                         whether all lanes visit it together
//     visit_sharing(lanes, has_visit, index, entry, exit, rays, on_node)
template <class Cells, class OnNode>
__device__ __forceinline__ void walk_grid_sharing(unsigned lanes, bool has_way, const GridSpace& grid, Real slack,
                                                  int signs, Real entry, Real exit, Rays& rays, Cells& cells,
                                                  OnNode& on_node) {
    GridWalk<Cells, OnNode> way(slack, signs, exit, rays, cells, on_node);
    if (has_way) way.start(grid, rays.active, entry);
    way.walk_sharing(lanes);
}
