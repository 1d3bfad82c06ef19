"""Measurements: ours beside its peers, in one run, as ratios. `nox -s bench` runs them."""
