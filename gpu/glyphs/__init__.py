"""Primary hits of spheres without a structure: each sphere is tried where it lies in the picture, in tiles or straight
(Soell, GPGPU-basiertes Glyph-Raycasting, Stuttgart 2015)."""
