"""The family of octrees: cubes divided into eight, primitives listed in every leaf they meet. Trees over points stand
in point_tree.py."""
