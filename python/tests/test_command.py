"""Where the command is looked for: what the environment names, the PATH, npx, a container."""

import os
from pathlib import Path

import pytest

from pytest_modbus_sim.command import VERSION, find_command


@pytest.fixture
def machine(tmp_path: Path):
    """Makes the environment of a machine that has these programs and no others."""

    def with_programs(*names: str, **variables: str) -> dict[str, str]:
        for name in names:
            (tmp_path / name).write_text("#!/bin/sh\n")
            (tmp_path / name).chmod(0o755)
        return {"PATH": str(tmp_path), **variables}

    return with_programs


def names(command):
    return command and [os.path.basename(command[0]), *command[1:]]


def test_the_environment_comes_first(machine):
    environment = machine("modbus-sim", MODBUS_SIM='node "/opt/my sim/main.js"')
    assert find_command(environment, []) == ["node", "/opt/my sim/main.js"]


def test_then_what_is_installed(machine):
    assert names(find_command(machine("modbus-sim", "npx", "docker"), [])) == ["modbus-sim"]


def test_then_npx_in_the_version_that_belongs_to_this_package(machine):
    assert names(find_command(machine("npx", "docker"), [])) == ["npx", "--yes", f"modbus-sim@{VERSION}"]


def test_then_a_container_that_sees_the_files_of_the_test(machine):
    command = names(find_command(machine("docker"), [Path("/tests")]))
    assert command[:4] == ["docker", "run", "--rm", "--network=host"]
    assert command[-2:] == ["--volume=/tests:/tests", f"modbus-sim:{VERSION}"]


def test_an_image_that_is_named_is_used_though_npx_is_there(machine):
    command = names(find_command(machine("npx", "podman", MODBUS_SIM_IMAGE="registry.example.org/sim:1"), []))
    assert command[0] == "podman"
    assert command[-1] == "registry.example.org/sim:1"


def test_nothing_is_found_where_nothing_is(machine):
    assert find_command(machine(), []) is None
