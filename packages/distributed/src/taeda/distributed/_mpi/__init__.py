"""MPI without `mpiexec`: what launchers tell, how it starts, how its processes end."""
