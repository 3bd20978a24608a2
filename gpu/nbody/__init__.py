"""Gravity of N bodies: forces by the direct sum, by Barnes and Hut's tree code or by the fast multipole method, and
leapfrog steps through time."""
