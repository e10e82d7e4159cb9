"""Where the command is looked for: what the environment names, and the PATH. Nothing is ever fetched."""

import os
from pathlib import Path

import pytest

from pytest_modbus_sim.command import NOT_FOUND, find_command


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


def test_then_an_image_that_is_named_which_sees_the_files_of_the_test(machine):
    environment = machine("modbus-sim", "podman", MODBUS_SIM_IMAGE="registry.example.org/sim:1")
    command = names(find_command(environment, [Path("/tests")]))
    assert command[:4] == ["podman", "run", "--rm", "--pull=never"]
    assert command[-2:] == ["--volume=/tests:/tests", "registry.example.org/sim:1"]


def test_the_image_has_the_token_without_its_being_in_the_list_of_processes(machine):
    command = find_command(machine("docker", MODBUS_SIM_IMAGE="sim:1"), [])
    assert "--env=MODBUS_SIM_TOKEN" in command


def test_then_what_is_installed(machine):
    assert names(find_command(machine("modbus-sim", "npx", "docker"), [])) == ["modbus-sim"]


def test_a_package_or_an_image_that_somebody_else_may_have_given_this_name_is_not_fetched(machine):
    assert find_command(machine("npx", "npm", "podman", "docker"), []) is None


def test_who_has_nothing_is_told_what_to_set(machine):
    assert find_command(machine(), []) is None
    assert all(each in NOT_FOUND for each in ("PATH", "MODBUS_SIM=", "MODBUS_SIM_IMAGE"))
