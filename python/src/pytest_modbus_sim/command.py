"""Where the command `modbus-sim` is found: it is a program of Node.js, and no part of this package."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

#: No registry is named: the name modbus-sim on npm, PyPI and Docker Hub is not the project's.
NOT_FOUND = (
    "modbus-sim was not found on the PATH, and is not downloaded. Install it from a clone or a package (its README says how), "
    'or set MODBUS_SIM="node /path/to/modbus-sim/dist/main.js", or MODBUS_SIM_IMAGE to an image that podman or docker has.'
)


def find_command(environment: Mapping[str, str], directories: Sequence[Path]) -> list[str] | None:
    """The command line that stands for `modbus-sim`; None if there is none on this machine.

    `directories` are those whose files the command reads and writes: a container is given them.
    """
    path = environment.get("PATH")
    named = environment.get("MODBUS_SIM")
    if named:
        return _split(named)
    image = environment.get("MODBUS_SIM_IMAGE")
    if image:
        return _in_container(image, path, directories)
    installed = shutil.which("modbus-sim", path=path)
    return [installed] if installed else None


def _split(command: str) -> list[str]:
    if os.name != "nt":
        return shlex.split(command)
    # A backslash is part of a path there.
    return [word.strip('"') for word in shlex.split(command, posix=False)]


def _in_container(image: str, path: str | None, directories: Sequence[Path]) -> list[str] | None:
    for engine in ("podman", "docker"):
        program = shutil.which(engine, path=path)
        if program is None:
            continue
        # On the network of this machine, because the ports are free ones, known only when the lines are open.
        command = [program, "run", "--rm", "--pull=never", "--network=host", "--env=MODBUS_SIM_TOKEN"]
        if os.name != "nt":
            command.append(f"--user={os.getuid()}:{os.getgid()}")
            if engine == "podman" and os.getuid() != 0:
                command.append("--userns=keep-id")
        return command + [f"--volume={each}:{each}" for each in directories] + [image]
    return None
