#!/usr/bin/env bash
# What a machine with an NVIDIA device is asked, in one call, in order of worth: no step needs a later one,
# and one that fails does not stop the next. It needs no network and changes no setting of the device.
#
#   tools/gpu_check.sh [OUT]    a summary and the logs into OUT (gpu-check): OUT/summary.txt, OUT/logs.tar.gz
#   DRY=1                       the whole of it on the stand-in driver, small: is the script itself right?
#   STEPS=0,1                   only these steps; a first look takes 90 s
#   LIMIT=490                   seconds for all (9490 with DRY=1); what does not fit is skipped, and said
#   PACK=build/gpu-pack         wheels to install first (tools/cuda/gpu_pack.sh makes the folder)
#   PYTHON=python3              of the environment; with PACK any Python 3.12 will do
set -u
cd "$(dirname "$0")/.." || exit 2
out=${1:-gpu-check} python=${PYTHON:-python3} dry=${DRY:-} limit=${LIMIT:-${dry:+9}490} pack=${PACK:-build/gpu-pack}
chosen=,${STEPS:-0,1,2,3,4,5,6,7,8},
mkdir -p "$out" || exit 2
logs=$(mktemp -d) begin=$SECONDS failed=0
trap 'rm -rf "$logs"' EXIT
: >"$out/summary.txt"

# on the stand-in a command goes through the program that sets its environment
if [ -n "$dry" ]; then
    run="$python tools/cuda/on_standin.py $python" small="--small --alone" rows="--part 1/400 --dtypes float32"
else
    run=$python small="" rows="--card --seconds 20"
fi
export PYTHONUNBUFFERED=1

say() { printf '%.400s\n' "$1" | tee -a "$out/summary.txt"; }

# step number, name, seconds at most, command for bash: a line says how it went, and its last words
step() {
    local number=$1 name=$2 most=$3 command=$4 at=$SECONDS left=$((limit - SECONDS + begin)) status
    case $chosen in *,$number,*) ;; *) return 0 ;; esac
    [ -z "$dry" ] || most=$((4 * most)) # kernels are compiled by g++ there, and the machine has other work
    if [ "$left" -lt 10 ]; then say "$number $name: skipped, for want of time"; return 0; fi
    timeout -k 5 $((most < left ? most : left)) bash -c "$command" >"$logs/$number-$name.txt" 2>&1
    status=$?
    tar -C "$logs" -czf "$out/logs.tar.gz" .
    if [ $status = 0 ]; then
        say "$number $name: ok, $((SECONDS - at)) s: $(tail -n 1 "$logs/$number-$name.txt" | cut -c1-160)"
        return 0
    fi
    failed=1
    say "$number $name: FAILED, status $status, $((SECONDS - at)) s"
    grep -E 'FAIL|Error|error|crash|differs' "$logs/$number-$name.txt" | tail -n 3 | cut -c1-160 |
        while read -r line; do say "    $line"; done
    return 1
}

have() { command -v "$1" >/dev/null; }

# ---- 0: does it start ----
site=$logs/site
if [ -z "$dry" ] && [ -d "$pack" ]; then
    export PYTHONPATH=$site${PYTHONPATH:+:$PYTHONPATH}
    step 0 install 60 "$python -m pip install -q --no-index --no-deps --no-compile --no-cache-dir --target $site $pack/*.whl && ls $site | wc -l"
fi
have nvidia-smi && step 0 card 20 'nvidia-smi -q | head -n 80; nvidia-smi --query-gpu=name,driver_version --format=csv,noheader'
step 0 taeda 60 "$run -c 'import platform; print(platform.libc_ver())'; $run -m taeda"

# ---- 1: contact; line by line where it fails, and then only the machine's own ceilings ----
if ! step 1 contact 90 "$run tools/cuda/contact.py"; then
    step 1 lines 90 "$run tools/cuda/contact.py --each"
    have compute-sanitizer && step 1 memcheck 60 "compute-sanitizer --target-processes all $run tools/cuda/contact.py --only elementwise"
    say "the first contact failed: later steps are left out"
    chosen=,0,1,8,
fi

# ---- 2 and 3: the op table, and races beside it ----
shares=$([ -n "$dry" ] && echo 1 || echo 12)
step 2 rows 110 "
    for k in \$(seq 0 $((shares - 1))); do
        part=\$([ -n '$dry' ] || echo --part \$k/$shares)
        $python tools/cuda/cuda_rows.py $rows \$part --log $logs/rows-\$k.log >$logs/rows-\$k.txt 2>&1 &
    done
    wait
    cat $logs/rows-*.log | cut -f1 | sort | uniq -c | tr '\n' ' '; echo
    ! grep -hE '^(differs|error|crash)' $logs/rows-*.log"
if have compute-sanitizer && [ -z "$dry" ]; then
    for tool in memcheck racecheck synccheck initcheck; do
        step 3 $tool 30 "TAEDA_NO_CUDA_MEMORY_CACHING=1 compute-sanitizer --tool $tool --target-processes all --error-exitcode 9 $run tools/cuda/contact.py"
    done
else
    case $chosen in *,3,*) say "3 sanitizer: not run: there is no compute-sanitizer" ;; esac
fi

# ---- 4 to 6: whole programs, speed, others on the card ----
step 4 demos ${dry:+6}60 "$python tools/cuda/cuda_demo.py $([ -n "$dry" ] && echo char_gpt || echo --card all)"
step 4 gpt 90 "$run tools/cuda/train.py $small"
step 5 speed 110 "$run tools/cuda/speed.py $small --seconds 100 --json $logs/speed.jsonl"
step 6 together 40 "$run tools/cuda/together.py"

# ---- 7: why ----
if have ncu && [ -z "$dry" ]; then
    step 7 counters 40 "ncu --clock-control none --launch-count 12 --section SpeedOfLight --section Occupancy $run tools/cuda/contact.py"
else
    case $chosen in *,7,*) say "7 counters: not run: there is no ncu" ;; esac
fi

# ---- 8: the host's processors, of which small machines have few ----
step 8 host 60 "for n in 1 4 16; do
    if [ \$n -le \$(nproc) ]; then $python benchmarks/run.py --alone --threads \$n ${dry:+--help} matmul | tail -n 12; fi
done; nproc"

say "all in $((SECONDS - begin)) s"
tar -C "$logs" --exclude=site -czf "$out/logs.tar.gz" .
exit $failed
