"""The family of grids: space cut into cells of one size along each axis, primitives listed in every cell that they
reach into."""
