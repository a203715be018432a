#!/bin/sh
#SBATCH --job-name=attn-cli
#SBATCH --signal=B:TERM@120
#SBATCH --requeue --open-mode=append
# slurm.sh N INPUT OUT [options of attn-cli batch]: one of N shards, as the task of a Slurm job array; then merge them.
#
#     job=$(sbatch --parsable --array=0-15 --cpus-per-task=4 slurm.sh 16 sentences.txt all.ndjson --show pattern)
#     sbatch --dependency=afterok:$job --wrap 'attn-cli merge all.ndjson.[0-9] all.ndjson.[0-9][0-9] -o all.ndjson'
#
# N is said, not asked of Slurm: a task that is submitted again alone (--array=7) is still shard 7 of 16.  Two
# minutes before its time is up a task stops at a record, and waits in the queue to go on.
n=$1 input=$2 out=$3
shift 3
attn-cli batch -q -f "$input" --shard "$SLURM_ARRAY_TASK_ID/$n" --resume -o "$out.$SLURM_ARRAY_TASK_ID" "$@" &
batch=$!
trap 'kill -TERM $batch' TERM
wait $batch
status=$?
if [ $status -gt 128 ]; then                    # a trap ends the waiting, not the batch
    wait $batch
    again=$?
    [ $again -eq 127 ] || status=$again
fi
case $status in
3) exit 0 ;;                                    # done; records that failed say why
75) exec scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID" ;;
*) exit $status ;;
esac
