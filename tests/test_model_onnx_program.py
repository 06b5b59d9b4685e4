"""ONNX models run by C programs: a Python process beside the program computes them."""

import subprocess
import sys

import numpy
import pytest
from helpers.networks import atc, numbers, same, save_classifier
from helpers.programs import environment

from acl.sim import om

pytestmark = pytest.mark.needs_sim

# program MODEL STEP...: a number runs the model with that batch; floats come from stdin, results go to the file "out".
PROGRAM = r"""
#include <acl/acl.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MUST(call) if ((call) != 0) fail(#call)
static float in[8 * 192], out[8 * 10];

static void fail(const char *call)
{
    const char *text = aclGetRecentErrMsg();
    printf("%s: %s\n", call, text != NULL ? text : "no message");
    exit(1);
}

static aclDataBuffer *buffer(size_t size)
{
    void *memory;
    MUST(aclrtMalloc(&memory, size, ACL_MEM_MALLOC_HUGE_FIRST));
    return aclCreateDataBuffer(memory, size);
}

static uint32_t load(const char *path)
{
    uint32_t model;
    MUST(aclInit(NULL));
    MUST(aclrtSetDevice(0));
    MUST(aclmdlLoadFromFile(path, &model));
    return model;
}

static void run(uint32_t model, uint64_t batch, int file)
{
    aclmdlDesc *desc = aclmdlCreateDesc();
    aclmdlDataset *inputs = aclmdlCreateDataset(), *outputs = aclmdlCreateDataset();
    size_t gear;
    MUST(aclmdlGetDesc(desc, model));
    for (size_t i = 0; i < aclmdlGetNumInputs(desc); i++)
        MUST(aclmdlAddDatasetBuffer(inputs, buffer(aclmdlGetInputSizeByIndex(desc, i))));
    MUST(aclmdlAddDatasetBuffer(outputs, buffer(aclmdlGetOutputSizeByIndex(desc, 0))));
    MUST(aclmdlGetInputIndexByName(desc, ACL_DYNAMIC_TENSOR_NAME, &gear));
    MUST(aclmdlSetDynamicBatchSize(model, inputs, gear, batch));
    MUST(aclrtMemcpy(aclGetDataBufferAddr(aclmdlGetDatasetBuffer(inputs, 0)), sizeof in, in, batch * 768,
                     ACL_MEMCPY_HOST_TO_DEVICE));
    MUST(aclmdlExecute(model, inputs, outputs));
    MUST(aclrtMemcpy(out, sizeof out, aclGetDataBufferAddr(aclmdlGetDatasetBuffer(outputs, 0)), batch * 40,
                     ACL_MEMCPY_DEVICE_TO_HOST));
    if (write(file, out, batch * 40) < 0)
        fail("write");
}

/* The process beside this one: its only child. */
static pid_t beside(void)
{
    int child = 0;
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE *children = fopen(path, "r");
    if (children == NULL || fscanf(children, "%d", &child) != 1)
        fail("fscanf");
    fclose(children);
    return child;
}

int main(int count, char **arguments)
{
    int file = open("out", O_CREAT | O_WRONLY | O_TRUNC, 0600);
    if (fread(in, 1, sizeof in, stdin) != sizeof in)
        fail("fread");
    uint32_t model = load(arguments[1]);
    for (int i = 2; i < count; i++) {
        siginfo_t info;
        if (strcmp(arguments[i], "kill") == 0) {
            pid_t child = beside();
            MUST(kill(child, SIGKILL));
            MUST(getsid(child) == child ? 0 : 1); /* the terminal does not reach it */
            MUST(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT));
        } else if (strcmp(arguments[i], "fork") == 0) {
            pid_t child = fork();
            if (child == 0) {
                MUST(aclmdlUnload(model) == ACL_ERROR_GE_EXEC_MODEL_ID_INVALID ? 0 : 1);
                run(load(arguments[1]), 1, file);
                exit(0);
            }
            int status;
            MUST(waitpid(child, &status, 0) == child && status == 0 ? 0 : 1);
        } else {
            run(model, strtoul(arguments[i], NULL, 10), file);
        }
    }
    MUST(aclmdlUnload(model));
    MUST(aclrtResetDevice(0));
    MUST(aclFinalize());
    MUST(waitpid(-1, NULL, 0) == -1 && errno == ECHILD ? 0 : 1); /* nobody is left */
    return 0;
}
"""


@pytest.fixture
def run(compile_c, tmp_path):
    """Give ``run(path, *steps, python=sys.executable)``: the program's process, its input and its results."""
    program = compile_c(PROGRAM, "-Werror")

    def execute(path, *steps, python=sys.executable):
        x = numbers(8, 3, 8, 8)
        done = subprocess.run(
            [program, str(path), *map(str, steps)],
            input=x.tobytes(),
            cwd=tmp_path,
            env=environment({"ACL_SIM_PYTHON": python}),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=60,
        )
        return done.returncode, done.stdout.decode(), x, numpy.fromfile(tmp_path / "out", "f4").reshape(-1, 10)

    return execute


@pytest.fixture
def network(tmp_path):
    path = save_classifier(tmp_path)
    atc(path, "--input_shape=x:-1,3,8,8", "--dynamic_batch_size=1,4,8")
    return path


def check(network, batches, code, text, x, results):
    """Compare what a program wrote with what onnxruntime computes."""
    assert (code, text) == (0, "")
    assert len(results) == sum(batches)
    for batch in batches:
        same(results[:batch], network, x[:batch])
        results = results[batch:]


def test_a_program_runs_gears(network, run):
    check(network, (1, 4, 8, 1), *run(network.with_suffix(".om"), 1, 4, 8, 1))


def test_a_process_that_was_killed_is_replaced(network, run):
    check(network, (4, 8), *run(network.with_suffix(".om"), 4, "kill", 8))


def test_a_fork_has_a_process_of_its_own(network, run):
    check(network, (4, 1, 8), *run(network.with_suffix(".om"), 4, "fork", 8))


def test_without_python(network, run):
    code, text, *_ = run(network.with_suffix(".om"), python="no-such-python")
    assert code == 1 and "145000" in text
    assert "no-such-python cannot be started: No such file or directory; pip install 'ascendcl[onnx]'" in text
    assert "ACL_SIM_PYTHON" in text


def test_a_python_without_the_packages(network, run, tmp_path):
    code = "import sys; sys.modules['onnxruntime'] = None"
    (tmp_path / "sitecustomize.py").write_text(code)
    python = tmp_path / "bare"
    python.write_text(f'#!/bin/sh\nPYTHONPATH={tmp_path} exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    code, text, *_ = run(network.with_suffix(".om"), python=python)
    assert code == 1 and "145000" in text and "bare: ImportError: ONNX models need the package onnxruntime" in text
    assert "pip install 'ascendcl[onnx]'" in text
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S "$@"\n')
    code, text, *_ = run(network.with_suffix(".om"), python=python)
    assert code == 1 and "145000" in text and "bare: ImportError: acl is not built for this interpreter" in text
    assert "pip install 'ascendcl[onnx]'" in text


def test_a_process_that_ends_in_a_run(network, run, tmp_path):
    """It takes the model, and leaves with the first run."""
    python = tmp_path / "leaver"
    python.write_text(
        f"#!{sys.executable}\nimport os, socket\nchannel = socket.socket(fileno=3)\n"
        "channel.recv(8), channel.send(bytes(4)), channel.recv(8), os._exit(3)\n"
    )
    python.chmod(0o755)
    code, text, *_ = run(network.with_suffix(".om"), 1, python=python)
    assert code == 1 and "the Python process that runs ONNX models ended with status 3" in text
    assert "aclmdlExecute" in text and "507011" in text


def test_a_file_that_onnxruntime_refuses(network, run):
    path = network.with_suffix(".om")
    path.write_bytes(
        om.write("m", [om.Tensor("x", (1,))], [om.Tensor("y", (1,))], weights=b"no model", executor="onnx")
    )
    code, text, *_ = run(path)
    assert code == 1 and "145000" in text and "INVALID_PROTOBUF" in text
