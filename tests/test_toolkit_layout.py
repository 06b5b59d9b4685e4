"""A toolkit directory: what is in it, that it may be moved and written anew, and what it is never written over."""

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import programs

import acl
from acl import __main__ as command
from acl import layout

HOME = Path(acl.toolkit_path())
ARCHITECTURES = ["x86_64-linux", "aarch64-linux", "arm64-linux"]
PARTS = ["runtime", "compiler", "acllib", "fwkacllib", "atc", "opp"]
INCLUDES = ["include", *(f"{part}/include" for part in PARTS)]
INCLUDES += [f"{arch}/{name}" for arch in ARCHITECTURES for name in ("include", "acllib/include")]
LIBRARIES = ["lib64", "lib64/stub", "devlib", *(f"{part}/{name}" for part in PARTS for name in ("lib64", "lib64/stub"))]
LIBRARIES += [f"{arch}/{name}" for arch in ARCHITECTURES for name in ("lib64", "devlib", "acllib/lib64/stub")]


def files(folder, pattern):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob(pattern)}


def settings(path):
    return dict(line.split("=", 1) for line in path.read_text().splitlines())


def test_headers_and_libraries_are_those_of_the_package(toolkit):
    assert files(toolkit / "include", "*.h") == files(HOME / "include", "*.h")
    assert files(toolkit / "include", "aclnnop/level2/*.h")
    ours = files(HOME / "lib64", "*.so")
    assert {"libacl_sim.so", "libascendcl.so", "libopapi.so", "libopapi_nn.so", "libprofapi.so"} <= set(ours)
    assert {name: data for name, data in files(toolkit / "lib64", "*.so").items() if "/" not in name} == ours
    assert (toolkit / "LICENSE").exists() and (toolkit / "NOTICE").exists()


@pytest.mark.parametrize("place", INCLUDES)
def test_a_place_of_headers(toolkit, place):
    assert (toolkit / place / "acl" / "acl.h").samefile(toolkit / "include" / "acl" / "acl.h")


@pytest.mark.parametrize("place", LIBRARIES)
def test_a_place_of_libraries(toolkit, place):
    for path in (HOME / "lib64").glob("*.so"):
        assert (toolkit / place / path.name).samefile(toolkit / "lib64" / path.name)


def test_the_package_is_a_toolkit_without_links():
    for name in (*layout.FOLDERS, *layout.FILES):
        paths = [HOME / name, *(HOME / name).rglob("*")]
        assert paths[0].exists() and not any(path.is_symlink() for path in paths), name


def test_a_toolkit_may_be_moved(toolkit):
    links = [path for path in toolkit.rglob("*") if path.is_symlink()]
    assert len(links) > 50
    for path in links:
        assert not os.path.isabs(os.readlink(path)) and toolkit in path.resolve(strict=True).parents, path


def test_versions_agree(toolkit):
    info = settings(toolkit / "version.info")
    assert info["simulator"] == "1"
    assert info["Version"] == info["version_dir"]
    pc = (toolkit / "share" / "pkgconfig" / "ascendcl.pc").read_text()
    assert f"\nVersion: {info['Version']}\n" in pc
    for arch in ARCHITECTURES:
        installed = settings(toolkit / arch / "ascend_toolkit_install.info")
        assert (installed["version"], installed["arch"]) == (info["Version"], platform.machine())
        assert installed["path"] == str(toolkit / arch)
    for part in PARTS:
        assert settings(toolkit / part / "version.info") == info
    for part in ("compiler", "opp", "runtime"):  # torch_npu looks for these in the package, too
        assert settings(HOME / part / "version.info") == info


def test_the_version_is_what_the_library_answers(toolkit, run_script):
    done = run_script("import acl; print(acl.get_version_str('runtime'))", {"ACL_BACKEND": "sim", "ACL_SIM_CANN": None})
    assert done.stdout == f"{(settings(toolkit / 'version.info')['Version'], 0)}\n"


def test_a_toolkit_is_written_anew(toolkit, tmp_path):
    place = tmp_path / "kit"
    shutil.copytree(toolkit, place, symlinks=True, ignore=shutil.ignore_patterns("aclnnop", "lib*.so"))
    stale, custom = place / "include" / "acl" / "stale.h", place / "opp" / "vendors" / "custom" / "config.ini"
    stale.touch()
    custom.parent.mkdir(parents=True)
    custom.write_text("kept")
    (place / "devlib").unlink()
    (place / "devlib").symlink_to("nowhere")
    layout.write(place)
    assert not stale.exists() and custom.read_text() == "kept"
    assert (place / "devlib" / "libascendcl.so").read_bytes() == (HOME / "lib64" / "libascendcl.so").read_bytes()


def test_foreign_directories_are_left_alone(tmp_path, capsys):
    mine = tmp_path / "include" / "mine.h"
    mine.parent.mkdir()
    mine.write_text("mine")
    for directory, reason in (
        (tmp_path, "is not empty and not a toolkit of the simulator"),
        (HOME, "belongs to the installed package"),
        (HOME / "include" / "kit", "belongs to the installed package"),
    ):
        assert command.main(["toolkit", str(directory)]) == 1
        assert capsys.readouterr().err.startswith(f"acl: toolkit: {directory} {reason}")
    assert files(tmp_path, "*.*") == {"include/mine.h": b"mine"}
    assert (HOME / "include" / "acl" / "acl.h").exists() and not (HOME / "include" / "kit").exists()


def test_a_place_that_cannot_be_written(tmp_path, capsys):
    (tmp_path / "file").touch()
    assert command.main(["toolkit", str(tmp_path / "file" / "kit")]) == 1
    assert capsys.readouterr().err.startswith(f"acl: toolkit: cannot write {tmp_path}/file")


def test_the_command_says_what_to_source(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert command.main(["toolkit", "kit"]) == 0
    assert capsys.readouterr().out == f"source {tmp_path}/kit/set_env.sh\n"
    assert (tmp_path / "kit" / "lib64" / "libascendcl.so").exists()


@pytest.mark.parametrize("home", ["toolkit", "package"])
def test_python_opens_it_as_the_vendors(home, toolkit):
    place = toolkit if home == "toolkit" else HOME
    environment = programs.environment({"ACL_TOOLKIT": place, "ACL_BACKEND": "npu"})
    code = "import acl; print(acl.backend, acl.is_simulator, acl.library_path, acl.rt.set_device(0))"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.stdout == f"npu True {place}/lib64/libascendcl.so 0\n", done.stderr
    done = subprocess.run(
        [sys.executable, "-m", "acl", "doctor", "--headers"], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0 and "headers    agree" in done.stdout
