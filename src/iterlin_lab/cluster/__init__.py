"""The pipeline's training on a cluster that SLURM manages and whose nodes share the project's folder.

Jobs fill the store of finished runs; only the machine that submits them runs DVC, which gathers from that store.
"""
