#!/bin/bash
# cluster.sh ATTN-CLI - runs the recipes of data/batch under their engines on this machine: the merged result must be,
# byte for byte, what one process writes.  Engines that are not installed are skipped with a message, which is a
# failure with ATTN_SKIP_NOTHING=1.  Daemons that this machine does not let us start are skipped as well, which is
# never a failure.
set -u
recipes=$(cd "$(dirname "$0")/../../data/batch" && pwd)
bin=$(cd "$(dirname "$1")" && pwd)
work=$(mktemp -d)
export PATH=$bin:/usr/sbin:$PATH
failed=0 daemons=()

say() { printf '%-12s %s\n' "$1" "$2"; }
skip() {
    say "$1" "skipped, $2"
    [ "${ATTN_SKIP_NOTHING-}" != 1 ] || failed=1
}
# shellcheck disable=SC2317             # called by the trap
stop_daemons() { ((${#daemons[@]})) && kill "${daemons[@]}" 2>/dev/null; wait; }
trap 'stop_daemons; rm -rf "$work"' EXIT

# has NAME COMMAND... - whether all commands are installed; if not, skips NAME.
has() {
    local name=$1 missing=0
    shift
    for c in "$@"; do command -v "$c" >/dev/null || missing=1; done
    ((missing)) || return 0
    skip "$name" "there is no $* (sudo apt-get install parallel openssh-server slurm-wlm munge openmpi-bin snakemake)"
    return 1
}

# root NAME - whether we may start daemons; if not, skips NAME.
root() { [ "$(id -u)" = 0 ] || { say "$1" "skipped, only root can start it"; return 1; }; }

# check NAME FILE - compares FILE and the JSON file beside it with the output of one process.
check() {
    if cmp "$work/one.ndjson" "$2" && cmp "$work/one.ndjson.json" "$2.json"; then
        say "$1" "the same bytes as one process"
    else
        say "$1" "FAILED"
        failed=1
    fi
}

# ---- a batch by one process ----------------------------------------------------------------

cd "$work" || exit 1
words=(Life is short eat dessert first)
for ((i = 0; i < 400; i++)); do
    ((i % 50 == 49)) && printf 'no \377 text\n'
    ((i % 30 == 29)) && echo
    for ((k = 0; k <= i % 7; k++)); do printf '%s ' "${words[(i * 5 + k * k) % 6]}"; done
    echo
done >in.txt
attn-cli batch -q -f in.txt -o one.ndjson 2>/dev/null
[ $? -eq 3 ] || { echo "one process did not end with 3"; exit 1; }

# ---- GNU parallel --------------------------------------------------------------------------

if has parallel parallel; then
    "$recipes/parallel.sh" 4 in.txt parallel.ndjson -t 1 2>parallel.log
    check parallel parallel.ndjson
fi

start_sshd() {
    mkdir -p ssh /run/sshd
    ssh-keygen -q -t ed25519 -N '' -f ssh/host && ssh-keygen -q -t ed25519 -N '' -f ssh/me
    printf '%s\n' "ListenAddress 127.0.0.1" "Port 20222" "HostKey $work/ssh/host" \
        "AuthorizedKeysFile $work/ssh/me.pub" \
        "PidFile none" "StrictModes no" "UsePAM no" "SetEnv PATH=$PATH" >ssh/sshd_config
    "$(command -v sshd)" -D -f ssh/sshd_config 2>ssh/log &
    daemons+=($!)
    PARALLEL_SSH="ssh -p 20222 -i $work/ssh/me -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null"
    export PARALLEL_SSH="$PARALLEL_SSH -o LogLevel=ERROR"
    for ((i = 0; i < 50; i++)); do $PARALLEL_SSH 127.0.0.1 true 2>/dev/null && return 0; sleep 0.1; done
    return 1
}

if has "parallel ssh" parallel sshd ssh-keygen && root "parallel ssh"; then
    if start_sshd; then
        HOSTS=2/127.0.0.1,2/localhost "$recipes/parallel.sh" 4 in.txt hosts.ndjson -t 1 2>hosts.log
        check "parallel ssh" hosts.ndjson
    else
        say "parallel ssh" "skipped, sshd does not start: $(tail -n 1 ssh/log)"
    fi
fi

# ---- mpirun --------------------------------------------------------------------------------

if has mpirun mpirun; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    mpirun --oversubscribe -n 2 "$recipes/mpi.sh" in.txt mpi.ndjson -t 1 && attn-cli merge mpi.ndjson.? -o mpi.ndjson
    check mpirun mpi.ndjson
    # shellcheck disable=SC2016
    mpirun --oversubscribe -n 2 sh -c \
        'attn-cli batch -q -f in.txt --shard auto -t 1 -o "auto.$OMPI_COMM_WORLD_RANK" 2>/dev/null; [ $? -eq 3 ]' &&
        attn-cli merge auto.? -o auto.ndjson
    check "mpirun auto" auto.ndjson
fi

# ---- make and Snakemake --------------------------------------------------------------------

make -s -j2 -f "$recipes/Makefile" N=4 INPUT=in.txt OUT=make.ndjson OPTIONS='-t 1' 2>make.log
check make make.ndjson

if has snakemake snakemake; then
    HOME=$work snakemake -q all -s "$recipes/Snakefile" -j 2 --config input=in.txt out=snake.ndjson n=4 \
        >snake.log 2>&1 || tail -n 20 snake.log
    check snakemake snake.ndjson
fi

# ---- Slurm ---------------------------------------------------------------------------------

start_slurm() {
    mkdir -p slurm/state slurm/spool
    dd if=/dev/urandom of=slurm/key bs=64 count=1 status=none && chmod 400 slurm/key
    munged --foreground --force --key-file="$work/slurm/key" --socket="$work/slurm/munge" \
        --pid-file="$work/slurm/munge.pid" \
        --log-file="$work/slurm/munge.log" --seed-file="$work/slurm/seed" >slurm/munged.out 2>&1 &
    daemons+=($!)
    export SLURM_CONF=$work/slurm/slurm.conf
    cat >"$SLURM_CONF" <<CONF
ClusterName=loopback
SlurmctldHost=$(hostname)(127.0.0.1)
SlurmctldPort=20817
SlurmdPort=20818
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$work/slurm/munge
CredType=cred/munge
StateSaveLocation=$work/slurm/state
SlurmdSpoolDir=$work/slurm/spool
SlurmctldPidFile=$work/slurm/ctld.pid
SlurmdPidFile=$work/slurm/d.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
ReturnToService=2
SchedulerParameters=sched_interval=1,batch_sched_delay=0
NodeName=$(hostname) NodeAddr=127.0.0.1 $(slurmd -C | grep -o 'CPUs=[0-9]*') State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
CONF
    slurmctld -D -f "$SLURM_CONF" >slurm/ctld.log 2>&1 &
    daemons+=($!)
    slurmd -D -f "$SLURM_CONF" >slurm/d.log 2>&1 &
    daemons+=($!)
    for ((i = 0; i < 100; i++)); do sinfo -h -o %T 2>/dev/null | grep -q idle && return 0; sleep 0.2; done
    return 1
}

# wait_for OPTIONS... - submits a job to sbatch and waits until it is over.
wait_for() { timeout 120 sbatch --wait -n 1 -c 1 -o slurm.log "$@" >/dev/null; }

if has slurm munged slurmctld slurmd sbatch && root slurm; then
    if start_slurm; then
        job=$(sbatch --parsable --array=0-3 -n 1 -c 1 -o slurm.log "$recipes/slurm.sh" 4 in.txt slurm.ndjson -t 1)
        wait_for --dependency=afterok:"$job" --wrap 'attn-cli merge slurm.ndjson.? -o slurm.ndjson'
        check slurm slurm.ndjson
        rm slurm.ndjson slurm.ndjson.2 slurm.ndjson.2.json          # repeat task 2 alone: it must be shard 2 of 4
        wait_for --array=2 "$recipes/slurm.sh" 4 in.txt slurm.ndjson -t 1
        attn-cli merge slurm.ndjson.? -o slurm.ndjson
        check "slurm again" slurm.ndjson
        # shellcheck disable=SC2016
        wait_for --array=1-7:2 \
            --wrap 'attn-cli batch -q -f in.txt --shard auto -t 1 -o "array.$SLURM_ARRAY_TASK_ID"; [ $? -eq 3 ]'
        attn-cli merge array.? -o array.ndjson
        check "slurm auto" array.ndjson
    else
        say slurm "skipped, it does not start: $(tail -n 1 slurm/ctld.log)"
    fi
fi
exit $failed
