"""Every way to work on taeda, as sessions: `nox -l` lists them, `python3 tools/run.py <name>` runs
one on a bare machine.

The packages are installed editable, together, from this checkout. C is compiled in place and only where it
changed (`packages/core/hatch_build.py`), so a session that ran once starts within a second. A session that is
commands one after the other is a row of `SESSIONS`; the others are functions below. What both stand on is
`tools/hold/sessions.py`.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import nox

ROOT = Path(__file__).parent
sys.path.insert(0, str(ROOT / "tools" / "hold"))
from sessions import (  # noqa: E402
    DEVICES,
    NAMES,
    PYTHONS,
    check_lists,
    declare,
    groups,
    install,
    install_wheels,
    oracle,
    row,
    sanitized,
    skip_unless,
    taken,
    tests_on,
)

nox.needs_version = ">=2025.5.1"
nox.options.default_venv_backend = "uv|virtualenv"  # uv when it is there
nox.options.reuse_venv = "yes"
nox.options.download_python = "never"
nox.options.error_on_missing_interpreters = False  # a missing one is skipped, on CI too
nox.options.sessions = ["lint", "types", "tests-all"]

HAS_GPU = shutil.which("nvidia-smi") is not None
each_package = nox.parametrize("package", [nox.param(name, id=name) for name in NAMES])
each_device = nox.parametrize(
    "package, device", [nox.param(*pair, id=", ".join(pair)) for pair in DEVICES]
)
KINDS = ("sparse", "nested", "masked", "quantization")
FILES = ("core", "autograd", "nn", "compile", "export", *KINDS)  # what reads files
HUNT = "python tools/hunt"

# (name, what it shows, its commands); `{}` stands for the words behind `--`
SESSIONS = (
    row("lint", "Style and formatting hold, and so do the ranges and import layers between packages.",
        "ruff check {}", "ruff format --check", "python tools/packages.py check", "python tools/hold/comments.py",
        "python tools/hold/c_layers.py", "python tools/where.py --check", "python tools/hold/skips.py", "python tools/hold/c_style.py",
        "python tools/hold/torch_functions.py --check", "python tools/hold/prose.py", needs=(), groups=("lint",)),
    row("mirror", "How many modules have a test at the mirrored path, and how much of its module each runs. `-- optim` for one package.",
        "python tools/hold/mirror.py", "python tools/hold/mirror.py --coverage {}", groups=("mirror",)),
    row("types", "mypy and pyright accept the packages as a user's editor sees them.",
        "python tools/hold/absent.py --check",  # a name listed as absent has no type
        "python tools/hold/typing_view.py", "mypy build/view/taeda {}", "python tools/hold/typing_user.py",
        "pyright --pythonpath {bin}/python", groups=("types", "demo"), env={"MYPYPATH": "build/view"}),
    row("slow", "Tests marked `slow` pass, which `tests-all` leaves out; those of core's device are of `cuda-null`. `-- --part 0/4` for a share.",
        "python tools/hold/tests_all.py --marked slow --without packages/core/tests/cuda packages/core/tests/_cuda --portions 3 {}", groups=("demo",)),
    row("docs", "The pages build without a warning, and every example in them, in the READMEs and in docstrings runs.",
        "python tools/hold/doctests.py", "python tools/hold/arguments.py", "python tools/hold/examples.py", "sphinx-build -W --keep-going -q -j auto docs build/docs", groups=("docs", "demo")),
    row("site", "The site is built, every link within it leads somewhere, and dist/taeda-site.tar.gz holds it for any host.",
        "python tools/ship/site.py --build {}", groups=("docs", "demo")),
    row("arguments", "How many arguments of public functions and classes are described, module by module, and none fewer than before. `-- --open taeda.fft` names the others.",
        "python tools/hold/arguments.py {}"),
    row("demo", "A small convolutional network learns real handwritten digits and leaves two pictures in demo-out/.",
        "python examples/digits/train.py --out demo-out {}", groups=("demo",)),
    row("notebooks", "Three notebooks run from top to bottom: a first model, fine-tuning, an operator of one's own. `-- --write` keeps what they print.",
        "python tools/ship/notebooks.py {}", groups=("demo",)),
    row("ddp", "The digits network learns on two processes as on one; so do programs in torch's usual forms. Gradients of random programs are means.",
        "python examples/ddp_digits/train.py {}", "taedarun --nproc-per-node 2 examples/ddp_digits/train.py {}",
        f"{HUNT}/ddp_programs.py", f"{HUNT}/ddp_programs.py --random 1500", groups=("demo",)),
    row("sharding", "Rules of DTensors hold for every row on 2, 3 and 5 ranks, at every call, 2,000 random programs on four meshes give one device's numbers, 200 kills inside a save leave a checkpoint, and docs/sharding.md says what goes with what. `-- --share` for what CI runs.",
        f"{HUNT}/dtensor_rules.py {{}}", f"{HUNT}/planned_calls.py {{}}", f"{HUNT}/dtensor_programs.py {{}}", f"{HUNT}/save_kills.py {{}}",
        "python tools/hold/compositions.py --check {}", groups=("demo",)),
    row("sharded-programs", "A pre-training loop and a fine-tuning loop as libraries write them give the same losses on 1, 2 and 4 processes, and from a checkpoint of another mesh. `-- --torch FOLDER` to compare with torch.",
        f"{HUNT}/sharded_programs.py {{}}", groups=("demo",)),
    row("shapes", "Odd, middle-sized shapes of what needs workspace are right, and write nowhere else. `-- --minutes 2` for less than 30.",
        f"{HUNT}/shapes.py {{}}", sanitizer=True),
    row("faults", "A rank breaks in the middle of every kind of call; the others end in time and name it. `-- --part 0/25` for a share.",
        f"{HUNT}/faults.py {{}}"),
    row("restarts", "Ranks of a training are killed 20 times; it ends with the bits of an undisturbed one.",
        f"{HUNT}/restarts.py {{}}"),
    row("ray", "Actors of a local Ray are ranks of a group and average their gradients.",
        "python tools/try/ray_ranks.py", extras={"distributed": "[mpi,ray]"}),
    row("open-mpi", "The collectives give the same on Open MPI, whose own launcher starts the ranks, as on MPICH.",
        "pytest packages/distributed/tests/test_collectives.py packages/distributed/tests/test_device_mesh.py packages/distributed/tests/nn/test_functional.py {}",
        extras={"distributed": "[ulfm]"},
        env={"TAEDA_RANKS_BY": "mpiexec", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
             "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}),
    row("fuzz-ports", "Wrong bytes at every port of a distributed job: servers stay up and hear no stranger. `-- --messages 100000` for a long run.",
        f"{HUNT}/fuzz_ports.py {{}}"),
    row("custom-op", "The example operator in C, C++ and CUDA builds and passes its tests; both are timed. What a call costs is printed; how large an extension's wheel is, is printed and held.",
        "pytest examples/custom_op {}", "python examples/custom_op/swiglu.py", "python tools/ship/extension_wheels.py",
        "python benchmarks/extensions.py --alone",
        env={"TAEDA_EXTENSIONS_DIR": "{tmp}/extensions"}),
    row("fuzz", "Every operation meets hostile arguments in child processes and none dies. `-- --calls 1000000` for more.",
        f"{HUNT}/fuzz.py {{}}"),
    row("fuzz-parts", "Modules, optimizers, distributions and data survive hostile numbers. `-- --calls 1000000` for more.",
        f"{HUNT}/fuzz_parts.py {{}}"),
    row("extremes", "Every operation survives arguments at the ends of their types and odd tensors. `-- --part 0/30` for a part.",
        f"{HUNT}/extremes.py {{}}"),
    row("geometry", "Paddings, strides, windows and lengths far beyond the tensors give what is right, or an error. `-- --part 0/20` for a part, `-- --seeds 1-20` for random ones.",
        f"{HUNT}/geometry.py {{}}"),
    row("fuzz-compile", "Random programs give the same bits compiled and as they are, whatever changes between calls. `-- --programs 100000` for more.",
        f"{HUNT}/fuzz_compile.py {{}}"),
    row("exported-programs", "Random programs give their bits from the graph and the .pt2 file, and their numbers in onnxruntime, at three batches. `-- --programs 20000` for more than a minute.",
        f"{HUNT}/exported_programs.py {{}}", extras={"onnx": "[verify]"}),
    row("python-states", "Programs that read and change state of Python give the same compiled and as they are. `-- --random 2000` for random ones.",
        f"{HUNT}/python_states.py {{}}"),
    row("interrupts", "Ctrl-C at random instants of compiled functions leaves nothing of a recording behind. `-- --count 300` for fewer.",
        f"{HUNT}/interrupts.py {{}}"),
    row("fuzz-chains", "Random chains of elementwise operations give the same bits as C and as they are. `-- --programs 2000` for more.",
        f"{HUNT}/fuzz_chains.py {{}}"),
    row("magnitude", "Numbers of 1e-30 to 1e30, one NaN among ordinary ones, and kinks: rows give what float64 gives. `-- --part 0/8` for a share, `-- --seeds 1-20` for random ones.",
        f"{HUNT}/magnitude.py {{}}"),
    row("properties", "What holds for every row of the op table holds with other numbers and sizes. `-- --seeds 1-50` for more.",
        f"{HUNT}/every_row.py {{}}"),
    row("transforms", "Random compositions of transforms under modes give what plain steps give; kernels of users and whole modules hold anything, or are refused. `-- --seeds 1-9000` for more.", f"{HUNT}/transforms.py {{}}", f"{HUNT}/kernels_of_users.py {{}}", f"{HUNT}/states.py {{}}"),
    row("ulps", "Functions of one number and their derivatives keep their bounds; the worst errors as a table. `-- --count 5000` for more.",
        f"{HUNT}/ulps.py {{}}"),
    row("cuda-null", "On a stand-in driver, device=\"cuda\" gives the processor's bits or refuses: every row of the op table, the demo, the GPT and the ResNet. `-- --part 0/8` for a share.",
        "python tools/cuda/standin.py {}", groups=("demo",)),
    row("same-bits", "Neither the number of threads nor the width of vectors changes a bit of any operation. `-- --parts 8` for an eighth.",
        "python tools/hold/fused.py", f"{HUNT}/same_bits.py {{}}"),
    row("fail-at", "When any single allocation fails, MemoryError comes and nothing is lost. Operations and training steps. `-- --part 0/8` for a part.",
        f"{HUNT}/fail_at.py {{}}"),
    row("guard-pages", "Kernels touch no byte beyond their inputs, outputs and workspace. `-- --wide` for more sizes, `-- --part 0/8` for a part.",
        f"{HUNT}/guard_pages.py {{}}"),
    row("race", "Pool, allocator and products by shared weights show no data race under ThreadSanitizer. `-- --rounds 5000` for more.",
        f"{HUNT}/race.py {{}}", needs=("core",)),
    row("branches", "Default tests take 95 % of the branches that parse arguments and files. `-- --open` names the others, `-- files` does one part.",
        "python tools/hold/branches.py {}", groups=("mirror",)),
    row("exits", "Programs end amid threads, loaders and open files without a crash or a hang, and leave nothing behind. `-- --times 50` for more.",
        f"{HUNT}/exits.py {{}}"),
    row("hostile-files", "Hostile files of every kind are refused: no code runs, memory stays bounded. `-- --all` for all 5,793.",
        f"{HUNT}/load_hostile.py {{}}", needs=FILES),
    row("loader", "Epochs, first batches, errors of lost workers, and hangs of loaders made amid threads. `-- --cycles 1000` for more.",
        "python benchmarks/loader.py {}", f"{HUNT}/stress_loader.py --seed {{time}}", beside_torch=True),
    row("first-use", "Eight threads of a fresh process use anything at all for the first time. `-- --processes 5` for less than 25 of each.",
        f"{HUNT}/first_use.py {{}}"),
    row("names", "Names of torch that 70 public libraries use exist, or a list says why not. Downloads their wheels.",
        "python tools/try/names_used.py --get {tmp}/libraries {}", beside_torch=True),
    row("torch-sources", "CPU sources of ten public extension projects compile unchanged through the headers of torch's names. Downloads their sdists.",
        "python tools/try/torch_sources.py --get {tmp}/projects {}", groups=("sdists",)),
    row("sdists", "Public extension projects build from their sdists by pip, without a line changed, and pass the tests that they ship. Takes an hour on two processors; `-- torchlpc` for one.",
        "python tools/try/sdists.py --get {tmp}/projects {}", groups=("sdists", "sdist-tests")),
    row("crash", "Saves are killed, disks fail, files are damaged: the old checkpoint or the new is there. `-- --large 1000` for more.",
        f"{HUNT}/crash.py {{}}", needs=("core",)),
    row("fuzz-files", "Files changed behind their outer form do no harm to any reader. `-- --files 1000000` for a long run.",
        f"{HUNT}/fuzz_files.py {{}}", needs=FILES),
    row("gates", "Size of core's wheel, time and memory of `import taeda` beside numpy's, and its modules: printed and held.",
        "python tools/hold/gates.py {}", needs=("core",)),
    row("frozen", "A program that PyInstaller froze runs where no Python is: it trains, saves, compiles, and finds what lies beside the modules.",
        "python tools/ship/frozen.py {}", wheels=True, groups=("frozen",)),
    row("wheels", "Build all wheels and an index; install from it offline, train a few steps, uninstall: nothing stays. `-- --cuda --arch 80 90` for a wheel of kernels compiled for these devices, too.",
        "python tools/ship/clean_installs.py dist {}", needs=(), groups=("build", "pip")),
    row("tutorial", "From nothing to a wheel: every command of docs/tutorial-custom-op.md, with wheels built here.",
        "python tools/ship/clean_installs.py dist", "python tools/ship/tutorial.py docs/tutorial-custom-op.md --wheels dist", needs=(), groups=("build", "pip")),
    row("gpu-check", "What `tools/gpu_check.sh` asks a machine with an NVIDIA device, tried whole on the stand-in driver.",
        "bash tools/gpu_check.sh build/gpu-check", groups=("demo",), env={"DRY": "1", "PYTHON": "{bin}/python"}),
    row("release", "Rehearse a release: versions, notes, files built twice with the same bytes, installation, on every Python. `-- --once`.",
        "python tools/ship/release.py {}", needs=(), groups=("build", "release", "uv")),
    row("install", "The README's install lines work in fresh environments, with pip and uv. `-- --first` for the one that installs all.",
        "python tools/ship/install_lines.py {}", needs=(), groups=("uv",)),
)  # fmt: skip
for entry in SESSIONS:
    declare(entry)


@nox.session(tags=["tests"])
@each_package
def tests(session: nox.Session, package: str) -> None:
    """A package passes its tests with nothing installed but what it declares."""
    install(session, package)
    session.run("pytest", f"packages/{package}/tests", *session.posargs)


@nox.session(python=PYTHONS, default=False)
@each_device
def matrix(session: nox.Session, package: str, device: str) -> None:
    """A package's wheel passes its tests on one Python and device; without brackets, on every one.

    All Pythons install the same built core. Skipped, with the reason, where an interpreter or a card is missing.
    """
    if device == "cuda" and not HAS_GPU:
        session.skip("no NVIDIA device here")
    install_wheels(session, package, device)
    codes = [0, 5] if device == "cuda" else [0]  # 5: no test has the mark `gpu`
    session.run("pytest", *tests_on(package, device), *session.posargs, success_codes=codes)


@nox.session(name="tests-all")
def tests_all(session: nox.Session) -> None:
    """All packages together, and the tools, pass their tests, in several pytests at a time.
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


@nox.session(venv_backend="virtualenv")
def parity(session: nox.Session) -> None:
    """Values, gradients and errors equal torch's; the examples have torch's loss curves.
    `-- --full` for every case, `-- --part 0/2` for half of the tests.
    """
    oracle(session)
    full, rest = taken(session.posargs, "--full")
    folders = [str(path.relative_to(ROOT)) for path in sorted(ROOT.glob("packages/*/tests_parity"))]
    env = {"TAEDA_PARITY": "full" if full else "bounded"}
    # every portion imports torch, which takes 3 s of a processor
    words = ("--portions", "12", *rest, "--below", *folders, "examples/tests_parity")
    session.run("python", "tools/hold/tests_all.py", *words, env=env)


@nox.session(venv_backend="virtualenv")
def bench(session: nox.Session) -> None:
    """Print times and their ratios to torch, both measured in turns. `-- conv train` chooses groups."""
    oracle(session)
    if not session.posargs:
        session.run("python", "benchmarks/startup.py")
        session.run("python", "benchmarks/checkpoints.py")
    session.run("python", "benchmarks/run.py", *session.posargs)


@nox.session
def sanitize(session: nox.Session) -> None:
    """Core's tests pass on a library built with the address and undefined behaviour sanitizers.
    `-- PATH` for some of them, `-- --part 0/3` for a third.
    """
    install(session, "core")
    places = [word for word in session.posargs if (ROOT / word).exists()]
    words = [word for word in session.posargs if word not in places]
    below = ["--below", *(places or ["packages/core/tests"])]
    session.run("python", "tools/hold/tests_all.py", *words, *below, env=sanitized(session))


@nox.session
def reentrance(session: nox.Session) -> None:
    """No call reads freed memory when its arguments change the others, or dies while a thread rewrites its indices.

    `-- --calls 500000` for more of the first, `-- --part 0/4` for a share of the others.
    """
    install(session, *NAMES)
    env = sanitized(session)
    # a huge size is a MemoryError
    env["ASAN_OPTIONS"] = f"{env['ASAN_OPTIONS']}:max_allocation_size_mb=2048"
    part, rest = taken(session.posargs, "--part", 1)
    session.run("python", "tools/hunt/reentrance.py", *rest, env=env)
    session.run("python", "tools/hunt/rewritten.py", *part)  # large tensors: without a sanitizer
    session.run("python", "tools/hunt/rewritten_kinds.py", *part)


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


@nox.session(name="c-tests")
def c_tests(session: nox.Session) -> None:
    """The runtime and every loop, in C without Python, under three sanitizers; then the share of branches taken."""
    install(session, "core")
    every: tuple[tuple[str, ...], ...] = ((), ("--sanitize", "thread"), ("--coverage",))
    for words in (tuple(session.posargs),) if session.posargs else every:
        session.run("python", "tools/hunt/c_tests.py", *words)


@nox.session
def neighbours(session: nox.Session) -> None:
    """Packages that stand beside taeda work with it; libraries written for torch run on it.

    `-- --suite zuko` runs the tests that a library ships in its sources, `-- --suite --all` all of them;
    `-- --lists` what users do with 47 libraries, `-- --lists kornia` with one.
    """
    if session.posargs[:1] == ["--lists"]:
        check_lists(session, session.posargs[1:])
        return
    install(session, *NAMES, extra_groups=("neighbours", "test"))
    session.install("--no-deps", *groups("written-for-torch"))  # each would bring torch
    if session.posargs[:1] == ["--suite"]:
        session.install("--no-deps", *groups("suites"))
        session.run("python", "tools/try/suites.py", "--get", *session.posargs[1:])
        return
    session.run("python", "tools/try/neighbours.py", *(session.posargs or ["--strict"]))


@nox.session
def aarch64(session: nox.Session) -> None:
    """The core for 64-bit Arm, under an emulator: tests in C and of operations, bits beside x86's.
    `-- --short` takes a few minutes. `-- --or-skip` gets what is missing, or skips with the reason.
    """
    install(session, "core", "autograd")
    options = [option for option in session.posargs if option != "--or-skip"]
    if options != session.posargs:
        skip_unless(session, "tools/hunt/aarch64.py", "ready")
    session.run("python", "tools/hunt/aarch64.py", *options)
