"""Every way to work on taeda, as sessions: `nox -l` lists them, `python3 tools/run.py <name>` runs
one on a bare machine.

The packages are installed editable, together, from this checkout. C is compiled in place and only where it
changed (`packages/core/hatch_build.py`), so a session that ran once starts within a second.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import nox

ROOT = Path(__file__).parent
sys.path.insert(0, str(ROOT / "tools"))
import packages as workspace  # noqa: E402 - our own tool, found through the line above

nox.needs_version = ">=2025.5.1"
nox.options.default_venv_backend = "uv|virtualenv"  # uv when it is there
nox.options.reuse_venv = "yes"
nox.options.download_python = "never"
nox.options.error_on_missing_interpreters = False  # a missing one is skipped, on CI too
nox.options.sessions = ["lint", "types", "tests-all"]

PACKAGES = workspace.load(ROOT)
NAMES = [package.short for package in workspace.order(PACKAGES)]
# what a package's tests need besides: an engine, a reader of its files
EXTRAS = {"distributed": "[mpi]", "profiler": "[tensorboard]"}
HAS_GPU = shutil.which("nvidia-smi") is not None
each_package = nox.parametrize("package", [nox.param(name, id=name) for name in NAMES])


@nox.session(tags=["tests"])
@each_package
def tests(session: nox.Session, package: str) -> None:
    """A package passes its tests with nothing installed but what it declares."""
    install(session, package)
    session.run("pytest", f"packages/{package}/tests", *session.posargs)


@nox.session(name="tests-all")
def tests_all(session: nox.Session) -> None:
    """All packages together, and the tools, pass their tests, a pytest for each processor.
    `-- -k name` goes to one pytest.
    """
    install(session, *NAMES)
    if not session.posargs:
        session.run("python", "tools/hold/tests_all.py")
        return
    folders = [str(path.relative_to(ROOT)) for path in sorted(ROOT.glob("packages/*/tests"))]
    session.run("pytest", *folders, "tools/tests", *session.posargs)


@nox.session(name="tests-gpu", venv_backend=None if HAS_GPU else "none")
@each_package
def tests_gpu(session: nox.Session, package: str) -> None:
    """A package passes its tests marked `gpu`; skipped without an NVIDIA device."""
    if not HAS_GPU:
        session.skip("no NVIDIA device here")
    install(session, package)
    marked = ("-m", "gpu", f"packages/{package}/tests")
    # 5: no test has that mark
    session.run("pytest", *marked, *session.posargs, success_codes=[0, 5])


@nox.session(name="bench-gpu", venv_backend=None if HAS_GPU else "none")
def bench_gpu(session: nox.Session) -> None:
    """Print times on an NVIDIA device; skipped without one. `-- matmul train` chooses groups."""
    if not HAS_GPU:
        session.skip("no NVIDIA device here")
    install(session, *NAMES)
    session.run("python", "benchmarks/run.py", "--device", "cuda", "--alone", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Style and formatting hold, and so do the ranges and import layers between packages."""
    session.install(*groups("lint"))
    session.run("ruff", "check", *session.posargs)
    session.run("ruff", "format", "--check")
    session.run("python", "tools/packages.py", "check")
    session.run("python", "tools/hold/comments.py")
    session.run("python", "tools/hold/c_layers.py")
    session.run("python", "tools/where.py", "--check")
    session.run("python", "tools/hold/c_style.py")


@nox.session
def mirror(session: nox.Session) -> None:
    """How many modules have a test at the mirrored path, and how much of its module each runs.
    `-- optim` for one package.
    """
    install(session, *NAMES)
    session.install(*groups("mirror"))
    session.run("python", "tools/hold/mirror.py")
    session.run("python", "tools/hold/mirror.py", "--coverage", *session.posargs)


@nox.session
def types(session: nox.Session) -> None:
    """mypy and pyright accept the packages as a user's editor sees them."""
    install(session, *NAMES, extra_groups=("types", "demo"))
    session.run("python", "tools/hold/absent.py", "--check")  # a name listed as absent has no type
    session.run("python", "tools/hold/typing_view.py", silent=True)
    session.run("mypy", "build/view/taeda", *session.posargs, env={"MYPYPATH": "build/view"})
    session.run("python", "tools/hold/typing_user.py")
    session.run("pyright", "--pythonpath", str(Path(session.bin) / "python"))


@nox.session
def docs(session: nox.Session) -> None:
    """The pages build without a warning, and every example in them, in the READMEs and in docstrings runs."""
    install(session, *NAMES, extra_groups=("docs",))
    session.run("python", "tools/hold/doctests.py")
    session.run("sphinx-build", "-W", "--keep-going", "-q", "-j", "auto", "docs", "build/docs")
    session.log(f"open {ROOT / 'build/docs/index.html'}")


@nox.session
def demo(session: nox.Session) -> None:
    """A small convolutional network learns real handwritten digits and leaves two pictures in demo-out/."""
    install(session, *NAMES, extra_groups=("demo",))
    session.run("python", "examples/digits/train.py", "--out", "demo-out", *session.posargs)


@nox.session
def ddp(session: nox.Session) -> None:
    """The digits network learns on two processes as on one; so do programs in torch's usual forms.
    Gradients of random programs are means.
    """
    install(session, *NAMES, extra_groups=("demo",))
    for launcher in (("python",), ("taedarun", "--nproc-per-node", "2")):
        session.run(*launcher, "examples/ddp_digits/train.py", *session.posargs)
    session.run("python", "tools/hunt/ddp_programs.py")
    session.run("python", "tools/hunt/ddp_programs.py", "--random", "1500")


@nox.session
def sharding(session: nox.Session) -> None:
    """Rules of DTensors hold for every row on 2, 3 and 5 ranks, 2,000 random programs on four meshes give
    one device's numbers, and what goes with sharding is told.
    """
    install(session, *NAMES, extra_groups=("demo",))
    session.run("python", "tools/hunt/dtensor_rules.py", *session.posargs)
    session.run("python", "tools/hunt/dtensor_programs.py", "--seeds", "0-499")
    session.run("python", "tools/hold/compositions.py")


@nox.session(venv_backend="virtualenv")
def parity(session: nox.Session) -> None:
    """Values, gradients and errors equal torch's; the examples have torch's loss curves.
    `-- --full` for every case.
    """
    oracle(session)
    full = "--full" in session.posargs
    rest = [word for word in session.posargs if word != "--full"]
    folders = [str(path.relative_to(ROOT)) for path in sorted(ROOT.glob("packages/*/tests_parity"))]
    env = {"TAEDA_PARITY": "full" if full else "bounded"}
    below = ["--below", *folders, "examples/tests_parity"]
    session.run("python", "tools/hold/tests_all.py", *rest, *below, env=env)


@nox.session(venv_backend="virtualenv")
def bench(session: nox.Session) -> None:
    """Print times and their ratios to torch, both measured in turns. `-- conv train` chooses groups."""
    oracle(session)
    if not session.posargs:
        session.run("python", "benchmarks/startup.py")
        session.run("python", "benchmarks/checkpoints.py")
    session.run("python", "benchmarks/run.py", *session.posargs)


def sanitized(session: nox.Session) -> dict[str, str | None]:
    """Build the library under address and undefined behaviour sanitizers; the environment it needs."""
    env = {"TAEDA_SANITIZE": "address,undefined"}
    folder = session.run("python", "packages/core/hatch_build.py", env=env, silent=True)
    preload = [compiler_file(session, name) for name in ("libasan.so", "libubsan.so")]
    return {
        "TAEDA_NATIVE": str(folder).strip().splitlines()[-1],
        "LD_PRELOAD": " ".join(preload),
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",  # the interpreter leaks by design
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "PYTHONMALLOC": "malloc",
    }


@nox.session
def sanitize(session: nox.Session) -> None:
    """Core's tests pass on a library built with the address and undefined behaviour sanitizers.
    `-- PATH` for some of them.
    """
    install(session, "core")
    places = [word for word in session.posargs if (ROOT / word).exists()]
    words = [word for word in session.posargs if word not in places]
    below = ["--below", *(places or ["packages/core/tests"])]
    session.run("python", "tools/hold/tests_all.py", *words, *below, env=sanitized(session))


@nox.session
def shapes(session: nox.Session) -> None:
    """Odd, middle-sized shapes of what needs workspace are right, and write nowhere else.
    `-- --minutes 2` for less than 30.
    """
    install(session, *NAMES)
    session.run("python", "tools/hunt/shapes.py", *session.posargs, env=sanitized(session))


@nox.session
def reentrance(session: nox.Session) -> None:
    """No call reads freed memory when its arguments change the others, in one thread or two; none dies
    while another thread rewrites its indices. `-- --calls 500000` for more of the first.
    """
    install(session, *NAMES)
    env = sanitized(session)
    # a huge size is a MemoryError
    env["ASAN_OPTIONS"] = f"{env['ASAN_OPTIONS']}:max_allocation_size_mb=2048"
    session.run("python", "tools/hunt/reentrance.py", *session.posargs, env=env)
    session.run("python", "tools/hunt/rewritten.py")  # large tensors: without a sanitizer


@nox.session
def faults(session: nox.Session) -> None:
    """A rank breaks in the middle of every kind of call; the others end in time and name it.
    `-- --part 0/25` for a share.
    """
    install(session, *NAMES)
    session.run("python", "tools/hunt/faults.py", *session.posargs)


@nox.session
def restarts(session: nox.Session) -> None:
    """Ranks of a training are killed 20 times; it ends with the bits of an undisturbed one."""
    install(session, *NAMES)
    session.run("python", "tools/hunt/restarts.py", *session.posargs)


@nox.session(name="open-mpi")
def open_mpi(session: nox.Session) -> None:
    """The collectives give the same on Open MPI, whose own launcher starts the ranks, as on MPICH."""
    install(session, *NAMES, extras={"distributed": "[ulfm]"})
    env = {
        "TAEDA_RANKS_BY": "mpiexec",
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    }
    tests = ("test_collectives.py", "test_device_mesh.py", "nn/test_functional.py")
    files = (f"packages/distributed/tests/{name}" for name in tests)
    session.run("pytest", *files, *session.posargs, env=env)


@nox.session(name="ray")
def ray_session(session: nox.Session) -> None:
    """Actors of a local Ray are ranks of a group and average their gradients."""
    install(session, *NAMES, extras={"distributed": "[mpi,ray]"})
    session.run("python", "tools/try/ray_ranks.py")


@nox.session(name="fuzz-ports")
def fuzz_ports(session: nox.Session) -> None:
    """Wrong bytes at every port of a distributed job: servers stay up and hear no stranger.
    `-- --messages 100000` for a long run.
    """
    install(session, *NAMES)
    session.run("python", "tools/hunt/fuzz_ports.py", *session.posargs)


@nox.session
def abi(session: nox.Session) -> None:
    """Extensions built against every released header run on today's core, and on padded tensors."""
    install(session, *NAMES)
    tests = ("packages/core/tests/test_abi.py", "examples/custom_op", *session.posargs)
    # Both runs share what they build: the second core meets libraries that the first one used.
    built = {"TAEDA_EXTENSIONS_DIR": str(Path(session.create_tmp()) / "extensions")}
    session.run("pytest", *tests, env=built)
    command = ("python", "packages/core/hatch_build.py")
    folder = session.run(*command, env={"TAEDA_PADDING": "40"}, silent=True)
    other = {"TAEDA_NATIVE": str(folder).strip().splitlines()[-1]}
    session.run("pytest", "-p", "no:cacheprovider", *tests, env={**built, **other})


@nox.session(name="custom-op")
def custom_op(session: nox.Session) -> None:
    """The example operator in C, C++ and CUDA builds and passes its tests; both are timed."""
    install(session, *NAMES)
    env = {"TAEDA_EXTENSIONS_DIR": str(Path(session.create_tmp()) / "extensions")}
    session.run("pytest", "examples/custom_op", *session.posargs, env=env)
    session.run("python", "examples/custom_op/swiglu.py", env=env)
    session.run("python", "benchmarks/extensions.py", "--alone")


@nox.session
def tutorial(session: nox.Session) -> None:
    """From nothing to a wheel: every command of docs/tutorial-custom-op.md, with wheels built here."""
    wheels(session)
    page = "docs/tutorial-custom-op.md"
    session.run("python", "tools/ship/tutorial.py", page, "--wheels", str(ROOT / "dist"))


@nox.session
def fuzz(session: nox.Session) -> None:
    """Every operation meets hostile arguments in child processes and none dies.
    `-- --calls 1000000` for more.
    """
    install(session, *NAMES)
    session.run("python", "tools/hunt/fuzz.py", *session.posargs)


@nox.session(name="fuzz-parts")
def fuzz_parts(session: nox.Session) -> None:
    """Modules, optimizers, distributions and data survive hostile numbers.

    `-- --calls 1000000` for more.
    """
    install(session, *NAMES)
    session.run("python", "tools/hunt/fuzz_parts.py", *session.posargs)


@nox.session
def extremes(session: nox.Session) -> None:
    """Every operation survives arguments at the ends of their types and odd tensors.

    `-- --part 0/30` for a part.
    """
    install(session, *NAMES)
    session.run("python", "tools/hunt/extremes.py", *session.posargs)


@nox.session
def geometry(session: nox.Session) -> None:
    """Paddings, strides, windows and lengths far beyond the tensors give what is right, or an error.

    `-- --part 0/20` for a part.
    """
    install(session, *NAMES)
    session.run("python", "tools/hunt/geometry.py", *session.posargs)


@nox.session(name="fuzz-compile")
def fuzz_compile(session: nox.Session) -> None:
    """Random programs give the same bits compiled and as they are, whatever changes between calls.
    `-- --programs 100000` for more.
    """
    install(session, *NAMES)
    session.run("python", "tools/hunt/fuzz_compile.py", *session.posargs)


@nox.session(name="fuzz-chains")
def fuzz_chains(session: nox.Session) -> None:
    """Random chains of elementwise operations give the same bits as C and as they are.
    `-- --programs 2000` for more.
    """
    install(session, *NAMES)
    session.run("python", "tools/hunt/fuzz_chains.py", *session.posargs)


@nox.session
def properties(session: nox.Session) -> None:
    """What holds for every row of the op table holds with other numbers and sizes.
    `-- --seeds 1-50` for more.
    """
    install(session, *NAMES)
    session.run("python", "tools/hunt/every_row.py", *session.posargs)


@nox.session
def ulps(session: nox.Session) -> None:
    """Functions of one number and their derivatives keep their bounds; the worst errors as a table.
    `-- --count 5000` for more.
    """
    install(session, *NAMES)
    session.run("python", "tools/hunt/ulps.py", *session.posargs)


@nox.session(name="device-text")
def device_text(session: nox.Session) -> None:
    """The lines of the kernel tables, compiled as device text, give the processor's bits.
    `-- --nvrtc` compiles them as a user's GPU would, and asks the real cuBLAS for what is called.
    """
    install(session, "core")
    if "--nvrtc" in session.posargs:
        session.install(*groups("nvrtc"), *groups("cublas"))
        session.run("pytest", "packages/core/tests/cuda/test_blas.py", "-k", "real")
        session.run("python", "tools/cuda/device_text.py", "--sass")
    session.run("python", "tools/cuda/device_text.py", *session.posargs)


@nox.session(name="gpu-check")
def gpu_check(session: nox.Session) -> None:
    """What `tools/gpu_check.sh` asks a machine with an NVIDIA device, tried whole on the stand-in driver."""
    install(session, *NAMES, extra_groups=("demo",))
    env = {"DRY": "1", "PYTHON": str(Path(session.bin) / "python")}
    session.run("bash", "tools/gpu_check.sh", "build/gpu-check", external=True, env=env)


@nox.session(name="cuda-null")
def cuda_null(session: nox.Session) -> None:
    """On a stand-in driver, device="cuda" gives the processor's bits or refuses.

    Every row of the op table, and the demo, the GPT and the ResNet train there. `-- --verbose`
    tells all; `-- --part 0/8` takes a share of the rows and of the tests that compile long, leaves
    the others to `tests-all`, and trains the demo alone.
    """
    install(session, *NAMES, extra_groups=("demo",))
    folder = ROOT / "packages" / "core" / "tests" / "cuda"
    if "--part" in session.posargs:
        part = session.posargs[session.posargs.index("--part") + 1]
        place, parts = map(int, part.split("/"))
        slow = [
            path for path in sorted(folder.glob("test_*.py")) if "mark.slow" in path.read_text()
        ]
        chosen = slow[place::parts]
        session.log(f"part {part}: {len(chosen)} of {len(slow)} files of tests that compile long")
        session.run("pytest", "-m", "slow", *map(str, chosen))
    else:
        session.run("pytest", "-m", "slow or not slow", str(folder))
    session.run("python", "tools/cuda/cuda_rows.py", *session.posargs)
    session.run(
        "python", "tools/cuda/cuda_demo.py", "digits" if "--part" in session.posargs else "all"
    )
    session.run("python", "tools/cuda/cuda_ranks.py")


@nox.session(name="same-bits")
def same_bits(session: nox.Session) -> None:
    """Neither the number of threads nor the width of vectors changes a bit of any operation.
    `-- --parts 8` for an eighth.
    """
    install(session, *NAMES)
    session.run("python", "tools/hunt/same_bits.py", *session.posargs)


@nox.session(name="fail-at")
def fail_at(session: nox.Session) -> None:
    """When any single allocation fails, MemoryError comes and nothing is lost.

    Operations and training steps. `-- --part 0/8` for a part.
    """
    install(session, *NAMES)
    session.run("python", "tools/hunt/fail_at.py", *session.posargs)


@nox.session(name="guard-pages")
def guard_pages(session: nox.Session) -> None:
    """Kernels touch no byte beyond their inputs, outputs and workspace.
    `-- --wide` for more sizes, `-- --part 0/8` for a part.
    """
    install(session, *NAMES)
    session.run("python", "tools/hunt/guard_pages.py", *session.posargs)


@nox.session
def race(session: nox.Session) -> None:
    """Pool, allocator and products by shared weights show no data race under ThreadSanitizer.
    `-- --rounds 5000` for more.
    """
    install(session, "core")
    session.run("python", "tools/hunt/race.py", *session.posargs)


@nox.session(name="c-tests")
def c_tests(session: nox.Session) -> None:
    """The runtime and every loop, in C without Python, under three sanitizers.

    Prints the share of branches that they take.
    """
    install(session, "core")
    if session.posargs:
        session.run("python", "tools/hunt/c_tests.py", *session.posargs)
        return
    for words in ((), ("--sanitize", "thread"), ("--coverage",)):
        session.run("python", "tools/hunt/c_tests.py", *words)


@nox.session
def branches(session: nox.Session) -> None:
    """Default tests take 95 % of the branches that parse arguments and files.
    `-- --open` names the others, `-- files` does one part.
    """
    install(session, *NAMES)
    session.install(*groups("mirror"))
    session.run("python", "tools/hold/branches.py", *session.posargs)


@nox.session
def exits(session: nox.Session) -> None:
    """Programs end amid threads, loaders and open files without a crash or a hang.

    They leave nothing behind. `-- --times 50` for more.
    """
    install(session, *NAMES)
    session.run("python", "tools/hunt/exits.py", *session.posargs)


@nox.session(name="hostile-files")
def hostile_files(session: nox.Session) -> None:
    """Hostile files of every kind are refused: no code runs, memory stays bounded.
    `-- --all` for all 5,063.
    """
    install(session, "core", "autograd", "nn")
    session.run("python", "tools/hunt/load_hostile.py", *session.posargs)


@nox.session(venv_backend="virtualenv")
def loader(session: nox.Session) -> None:
    """Epochs, first batches, errors of lost workers, and hangs of loaders made amid threads.
    `-- --cycles 1000` for more.
    """
    oracle(session)
    session.run("python", "benchmarks/loader.py", *session.posargs)
    session.run("python", "tools/hunt/stress_loader.py", "--seed", str(int(time.time())))


@nox.session(name="first-use")
def first_use(session: nox.Session) -> None:
    """Eight threads of a fresh process use anything at all for the first time.
    `-- --processes 5` for less than 25 of each.
    """
    oracle(session)
    session.run("python", "tools/hunt/first_use.py", *session.posargs)


@nox.session
def neighbours(session: nox.Session) -> None:
    """Packages that stand beside taeda work with it; libraries written for torch run on it."""
    install(session, *NAMES, extra_groups=("neighbours", "test"))
    plain = (
        "sympy",
        "opt_einsum",
        "packaging",
        "typing_extensions",
        "regex",
        "pyyaml",
        "huggingface_hub",
        "psutil",
        "aiohttp",
        "tqdm",
    )
    session.install(*plain)
    without = (
        "transformers==5.23.0",
        "torchmetrics==1.9.0",
        "lightning-utilities",
        "e3nn==0.6.0",
        "opt_einsum_fx",
        "torchvision==0.29.2",
        "timm==1.0.31",
        "accelerate==1.15.0",
        "lightning==2.6.6",
        "pytorch-lightning==2.6.6",
    )
    session.install("--no-deps", *without)  # each would bring torch
    session.run("python", "tools/try/neighbours.py", *(session.posargs or ["--strict"]))


@nox.session(venv_backend="virtualenv")
def names(session: nox.Session) -> None:
    """Names of torch that 70 public libraries use exist, or a list says why not. Downloads their wheels."""
    oracle(session)
    folder = Path(session.create_tmp()) / "libraries"
    session.run("python", "tools/try/names_used.py", "--get", str(folder), *session.posargs)


@nox.session
def crash(session: nox.Session) -> None:
    """Saves are killed, disks fail, files are damaged: the old checkpoint or the new is there.
    `-- --large 1000` for more.
    """
    install(session, "core")
    session.run("python", "tools/hunt/crash.py", *session.posargs)


@nox.session(name="fuzz-files")
def fuzz_files(session: nox.Session) -> None:
    """Files changed behind their outer form do no harm to any reader. `-- --files 1000000` for a long run."""
    install(session, "core", "autograd", "nn")
    session.run("python", "tools/hunt/fuzz_files.py", *session.posargs)


@nox.session
def wheels(session: nox.Session) -> None:
    """Build all wheels and an index; install from it offline, import, train a few steps."""
    session.install(*groups("build"), "pip")
    dist = ROOT / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    for what in ("build", "needs", "index"):
        session.run("python", "tools/ship/wheelhouse.py", what, str(dist), silent=True)
    for source in (
        ("--no-index", "--find-links", str(dist), "--find-links", str(dist / "needs")),
        ("--index-url", (dist / "simple").as_uri()),
    ):
        clean = ROOT / session.create_tmp() / "clean"
        session.run("python", "-m", "venv", "--clear", str(clean))
        python = str(clean / "bin" / "python")
        # isolated: what pip is set up to look at elsewhere does not help
        pip = (python, "-m", "pip", "--isolated", "install", "--quiet")
        session.run(*pip, *source, "taeda", external=True)
        with session.chdir(clean):  # away from the checkout, so that nothing comes from its sources
            session.run(python, str(ROOT / "tools" / "ship" / "smoke.py"), external=True)
            session.run(python, "-m", "taeda", "--test", external=True)


@nox.session
def gates(session: nox.Session) -> None:
    """Size of core's wheel, time and memory of `import taeda` beside numpy's, and its modules:
    printed and held.
    """
    install(session, "core")
    session.run("python", "tools/hold/gates.py", *session.posargs)


@nox.session
def aarch64(session: nox.Session) -> None:
    """The core for 64-bit Arm, under an emulator: tests in C and of operations, bits beside x86's.
    `-- --short` takes a few minutes. `-- --or-skip` gets what is missing, or skips with the reason.
    """
    install(session, "core", "autograd")
    options = [option for option in session.posargs if option != "--or-skip"]
    if "--or-skip" in session.posargs:
        ready = [str(Path(session.bin) / "python"), "tools/hunt/aarch64.py", "ready"]
        told = subprocess.run(ready, stderr=subprocess.PIPE, text=True, check=False)
        if told.returncode:
            session.skip(told.stderr.strip())
    session.run("python", "tools/hunt/aarch64.py", *options)


@nox.session
def release(session: nox.Session) -> None:
    """Rehearse a release: versions, notes, files built twice with the same bytes, installation.

    On every Python. `-- --once`.
    """
    session.install(*groups("build", "release"), "uv")
    session.run("python", "tools/ship/release.py", *session.posargs)


@nox.session(name="install")
def install_lines(session: nox.Session) -> None:
    """The README's install lines work in fresh environments, with pip and uv.
    `-- --first` for the one that installs all.
    """
    session.install("uv")
    session.run("python", "tools/ship/install_lines.py", *session.posargs)


def install(
    session: nox.Session,
    *names: str,
    extra_groups: tuple[str, ...] = (),
    extras: dict[str, str] = EXTRAS,
) -> None:
    """The packages `names` with the siblings they declare, editable, in one command; then the C, up to date.

    In one command, because a sibling left out would be looked up on the package index.
    """
    chosen = workspace.order(PACKAGES, [name_of(name) for name in names])
    stamp = Path(session.virtualenv.location) / "taeda-stamp"
    files = [ROOT / "pyproject.toml", *(package.folder / "pyproject.toml" for package in chosen)]
    content = b"".join(path.read_bytes() for path in files) + repr(extra_groups).encode()
    key = hashlib.sha256(content + repr(extras).encode()).hexdigest()
    if not stamp.is_file() or stamp.read_text() != key:
        session.install(*groups("build", "test", *extra_groups))
        session.log("compiling and installing the packages; the first time takes a minute or two")
        words = []
        for package in chosen:
            folder = f"{package.folder}{extras.get(package.short, '')}"
            words += ["-e"] * (package.folder / "src").is_dir() + [folder]
        session.install("--no-build-isolation", *words)  # `meta` has nothing to edit
        stamp.write_text(key)
    session.run("python", "packages/core/hatch_build.py", silent=True)


def oracle(session: nox.Session) -> None:
    """All packages beside torch.

    pip installs it; its configuration may name an index of processor-only builds.
    """
    install(session, *NAMES)
    stamp = Path(session.virtualenv.location) / "oracle-stamp"
    wanted = " ".join(groups("oracle"))
    if not stamp.is_file() or stamp.read_text() != wanted:
        session.install(*groups("oracle"))
        stamp.write_text(wanted)


def groups(*names: str) -> tuple[str, ...]:
    """Requirements of the root's dependency groups."""
    root = nox.project.load_toml(ROOT / "pyproject.toml")
    return tuple(nox.project.dependency_groups(root, *names))


def name_of(short: str) -> str:
    return next(package.name for package in PACKAGES.values() if package.short == short)


def compiler_file(session: nox.Session, name: str) -> str:
    command = [*shlex.split(os.environ.get("CC", "cc")), f"-print-file-name={name}"]
    path = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    if not Path(path).is_absolute():
        session.error(f"the compiler has no {name} (Debian: `apt install libasan8 libubsan1`)")
    return path
