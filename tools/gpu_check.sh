#!/usr/bin/env bash
# What a machine with an NVIDIA device is asked first, in one call: does all compute there, to the
# processor's bits, and how fast? Each step writes a report; one that fails does not stop the next.
#
#   tools/gpu_check.sh [FOLDER]     reports into FOLDER (gpu-check)
#   PYTHON=.venv/bin/python         of the environment where taeda and what it needs are installed
#   PART=0/4                        a share of the op table, where time is short
set -u
cd "$(dirname "$0")/.." || exit 2
out=${1:-gpu-check} python=${PYTHON:-python3} failed=0
mkdir -p "$out" || exit 2

step() { # name, seconds at most, command
    local name=$1 most=$2 begin=$SECONDS
    shift 2
    timeout "$most" "$@" >"$out/$name.txt" 2>&1
    local status=$?
    [ $status = 0 ] || failed=1
    printf '%-10s %-22s %4d s   %s\n' "$name" "$([ $status = 0 ] && echo passed || echo "FAILED, status $status")" \
        $((SECONDS - begin)) "$out/$name.txt"
}

step device 60 nvidia-smi
step taeda 120 "$python" -m taeda
step tests 300 "$python" -m pytest -q -m gpu packages/core/tests/cuda/test_card.py
step rows 900 "$python" tools/cuda_rows.py --card --part "${PART:-0/1}"
step demos 600 "$python" tools/cuda_demo.py --card all
# with PyTorch beside it, if there is one that knows the device
alone=$("$python" -c 'import torch; print("" if torch.cuda.is_available() else "--alone")' 2>/dev/null || echo --alone)
step speed 900 "$python" benchmarks/run.py --device cuda $alone --json "$out/speed.json"
if command -v compute-sanitizer >/dev/null; then
    step memory 600 compute-sanitizer --error-exitcode 9 "$python" tools/cuda_demo.py --card digits
else
    echo "memory     not run: there is no compute-sanitizer"
fi
exit $failed
