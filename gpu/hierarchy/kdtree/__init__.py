"""The family of kd-trees: space parted by planes across the axes, primitives referenced from every leaf they reach into."""
