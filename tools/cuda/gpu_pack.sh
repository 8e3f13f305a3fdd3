#!/usr/bin/env bash
# The folder that tools/gpu_check.sh takes along to a machine without network: wheels of taeda, of what a bare
# machine lacks, and kernels compiled for its card. Made on a machine with a network and without a card.
#
#   tools/cuda/gpu_pack.sh [FOLDER]           build/gpu-pack; below 36 MiB, or status 1
#   ARCH=90 FOR=3.12                     the card's architecture; the Python there (CPython, Linux on x86-64)
#   DTYPES="float32 int64 bfloat16"      of the kernels
#   PYTHON=.nox/device-text/bin/python   has taeda and NVRTC (`nox -s device-text -- --nvrtc` makes it)
#   PIP="python3 -m pip"                 that downloads wheels; by default that of the Python of tools/run.py
set -eu
cd "$(dirname "$0")/../.."
folder=${1:-build/gpu-pack} python=${PYTHON:-.nox/device-text/bin/python} most=36
pip=${PIP:-.nox/bootstrap/bin/python -m pip}
"$python" -c 'import taeda.cuda.warm' || { echo "$python cannot import taeda: nox -s device-text -- --nvrtc" >&2; exit 2; }
rm -rf "$folder" && mkdir -p "$folder"

python3 tools/run.py wheels
$pip --version >/dev/null || { echo "there is no pip: say which by PIP" >&2; exit 2; }
cp dist/*.whl "$folder"
platforms=$(for n in 17 24 27 28 31 34; do echo --platform manylinux_2_${n}_x86_64; done)
$pip download -q --no-deps --only-binary=:all: --implementation cp --python-version "${FOR:-3.12}" \
    $platforms --platform manylinux2014_x86_64 -d "$folder" cffi pycparser scipy-openblas32
# shellcheck disable=SC2086 # the dtypes are words
"$python" -m taeda.cuda.warm --arch "${ARCH:-90}" --dtypes ${DTYPES:-float32 int64 bfloat16} --wheel "$folder"

size=$(du -sm "$folder" | cut -f1)
echo "$folder: $(ls "$folder" | wc -l) wheels, $size MiB"
[ "$size" -le $most ] || { echo "more than $most MiB: leave out a dtype (DTYPES)" >&2; exit 1; }
