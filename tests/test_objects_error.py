"""Errors of the objects: families, texts, what they carry."""

import pickle

import pytest
from helpers.objects import raises

import acl
from acl import abi, errors, facts

CODES = facts.status_codes(abi.load())
del CODES["ACL_ERROR_NONE"]
FAMILIES = (
    (100000, acl.InvalidArgumentError, ValueError),
    (107001, acl.InvalidArgumentError, ValueError),
    (107002, acl.ContextError, RuntimeError),
    (107017, acl.InvalidHandleError, RuntimeError),
    (107030, acl.CaptureError, RuntimeError),
    (507903, acl.CaptureError, RuntimeError),
    (107023, acl.AbortedError, RuntimeError),
    (207000, acl.NotSupportedError, NotImplementedError),
    (207001, acl.OutOfMemoryError, MemoryError),
    (207008, acl.ResourceError, RuntimeError),
    (507015, acl.TaskError, RuntimeError),
    (507046, acl.TimedOutError, TimeoutError),
    (100011, acl.ModelError, RuntimeError),
    (561000, acl.OperatorError, RuntimeError),
    (561003, acl.OperatorError, RuntimeError),
    (500000, acl.AclError, RuntimeError),
)


@pytest.mark.parametrize("code, family, builtin", FAMILIES)
def test_each_code_has_its_family(code, family, builtin):
    error = errors.error_of(code, "aclrtSomething")
    assert type(error) is family and isinstance(error, builtin) and isinstance(error, acl.AclError)
    assert error.code == code and error.function == "aclrtSomething"
    assert str(code) in str(error) and "aclrtSomething" in str(error) and error.name in str(error)


def test_families_name_declared_codes_and_none_twice():
    listed = [code for codes in errors.FAMILIES.values() for code in codes]
    assert len(listed) == len(set(listed))
    assert set(listed) <= set(CODES.values())


def test_every_declared_code_has_its_name():
    assert {name: errors.name_of(code) for name, code in CODES.items()} == {name: name for name in CODES}
    assert errors.name_of(561000) == "ACLNN_ERR_INNER" and errors.name_of(999) == "unknown"
    assert errors.name_of(1) == "HCCL_E_PARA"


def test_advice_is_for_declared_codes():
    assert set(errors.ADVICE) <= set(CODES.values())


def test_an_error_carries_the_message_of_its_call():
    acl.get_recent_err_msg()
    with raises(acl.InvalidArgumentError) as caught:
        raise errors.error_of(acl.rt.set_device(4096), "aclrtSetDevice")
    error = caught.value
    assert (error.code, error.name) == (107001, "ACL_ERROR_RT_INVALID_DEVICEID")
    assert "acl.Device.count()" in error.advice
    if acl.is_simulator:
        assert "deviceId is 4096" in error.message and error.message.split("\n")[0] in str(error)


@pytest.mark.parametrize("family", [acl.AclError, *errors.FAMILIES])
def test_errors_can_be_pickled(family):
    error = family(107017, "aclrtFree", "said", "do that")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is family
    assert (again.code, again.function, again.message, again.advice) == (107017, "aclrtFree", "said", "do that")
    assert str(again) == str(error) == "aclrtFree failed: said (107017 ACL_ERROR_RT_INVALID_HANDLE); do that"


def test_the_names_of_the_objects_are_those_that_type_checkers_see():
    from acl.objects import HOME

    with open(acl.__file__, encoding="utf-8") as text:
        seen = [line.split() for line in text if line.startswith(("    from acl.objects", "    from acl.errors"))]
    assert {words[-1]: words[1] for words in seen if words[-1] != "HOME"} == HOME
    assert set(HOME) <= set(dir(acl))
    assert all(getattr(acl, name).__module__ == home for name, home in HOME.items())


def test_importing_acl_loads_no_objects(run_script):
    done = run_script("import sys, acl; print([name for name in sys.modules if name.startswith('acl.obj')])")
    assert done.stdout == "[]\n"


def test_an_unknown_name_is_an_attribute_error():
    with raises(AttributeError, "module 'acl' has no attribute 'Strem'"):
        acl.Strem  # noqa: B018
