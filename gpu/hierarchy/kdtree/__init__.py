"""The family of kd-trees: space divided by planes across the axes, primitives referenced from every leaf they reach
into."""
