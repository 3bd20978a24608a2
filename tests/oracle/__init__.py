"""What kernels are compared with: plain numpy in float64, written without a look at the kernels."""
