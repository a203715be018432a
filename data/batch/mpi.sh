#!/bin/sh
# mpi.sh INPUT OUT [options of attn-cli batch]: as many shards as there are processes, by mpirun or srun;
# then merge them.
#
#     mpirun -n 4 mpi.sh sentences.txt all.ndjson -t 2 && attn-cli merge all.ndjson.? -o all.ndjson
#     srun -n 4 mpi.sh sentences.txt all.ndjson && attn-cli merge all.ndjson.? -o all.ndjson
#
# attn-cli takes no part in MPI: the launcher only starts it and numbers it.
i=${OMPI_COMM_WORLD_RANK-${PMI_RANK-$SLURM_PROCID}}
n=${OMPI_COMM_WORLD_SIZE-${PMI_SIZE-$SLURM_NTASKS}}
input=$1 out=$2
shift 2
exec "$(dirname "$0")/shard.sh" "$i/$n" "$input" "$out.$i" "$@"
