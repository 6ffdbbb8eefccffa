"""CPU seconds of imports and of `mercer --help`, next to `import sklearn`.

Each line is the shortest of five runs in a new process.
"""

import resource
import subprocess
import sys

N_RUNS = 5
COMMANDS = {
    "python -c pass": ["-c", "pass"],
    "import mercer": ["-c", "import mercer"],
    "mercer --help": ["-m", "mercer", "--help"],
    "mercer learn --help": ["-m", "mercer", "learn", "--help"],
    "import sklearn": ["-c", "import sklearn"],
    "from mercer import UnifiedKernelMachine": [
        "-c",
        "from mercer import UnifiedKernelMachine",
    ],
}


def cpu_seconds(arguments: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    user = after.ru_utime - before.ru_utime
    return user + after.ru_stime - before.ru_stime


for name, arguments in COMMANDS.items():
    shortest = min(cpu_seconds(arguments) for _ in range(N_RUNS))
    print(f"| `{name}` | {shortest:.2f} |")
