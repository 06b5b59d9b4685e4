"""Settings of Sphinx: ``python -m sphinx -W --keep-going -b html docs build/docs``, and ``-b doctest``."""

import doctest
import os
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent)]
os.environ["ACL_BACKEND"] = "sim"  # before acl is imported: the examples print what the simulator answers

import acl  # noqa: E402

project = "acl"
copyright = "the authors of acl"  # noqa: A001
version = release = re.search(r'^version = "(.*)"', (HERE.parent / "pyproject.toml").read_text(), re.M)[1]
extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.doctest",
    "sphinx.ext.napoleon",
    "sphinx_design",
    "programs",
    "reference",
]
exclude_patterns = ["_ext", "snippets"]
html_theme = "furo"
html_title = "acl: AscendCL for Python"
highlight_language = "python"
html_copy_source = False

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented_params"
napoleon_google_docstring = False
python_maximum_signature_line_length = 100
c_maximum_signature_line_length = 100

# The texts of errors are compared too. Each page starts on a simulator that starts anew, and a device is closed again.
doctest_default_flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.DONT_ACCEPT_TRUE_FOR_1
doctest_global_setup = "import acl; acl.sim.reset()"
doctest_global_cleanup = "acl.sim.reset()"
assert acl.is_simulator
