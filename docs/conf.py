"""Settings of Sphinx: ``python -m sphinx -W --keep-going -b html docs build/docs``, and ``-b doctest``.

The pages describe the package that is installed (``pip install '.[docs]'`` or ``pip install -e '.[docs]'``). A source
tree whose ``acl`` is not compiled, as in a fresh clone, is taken off the search path.
"""

import doctest
import os
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
compiled = any((HERE.parent / "acl").glob("_acl*.so"))
sys.path[:] = [entry for entry in sys.path if compiled or Path(entry).resolve() != HERE.parent]
sys.path.insert(0, str(HERE / "_ext"))
os.environ["ACL_BACKEND"] = "sim"  # set before acl is imported: the examples print the simulator's results

import acl  # noqa: E402

project = "acl"
copyright = "the acl developers"  # noqa: A001
version = release = re.search(r'^version = "(.*)"', (HERE.parent / "pyproject.toml").read_text(), re.M)[1]
extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.doctest",
    "sphinx.ext.napoleon",
    "sphinx_design",
    "programs",
    "reference",
    "results",
]
exclude_patterns = ["_ext", "_static", "snippets"]
html_theme = "furo"
html_title = "acl: AscendCL for Python"
highlight_language = "python"
html_copy_source = False
html_static_path = ["_static"]
html_css_files = ["pages.css"]

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented_params"
napoleon_google_docstring = False
python_maximum_signature_line_length = 100
c_maximum_signature_line_length = 100

# Doctests compare the texts of errors, too. The simulator is reset before and after each page.
doctest_default_flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.DONT_ACCEPT_TRUE_FOR_1
doctest_global_setup = "import acl; acl.sim.reset()"
doctest_global_cleanup = "acl.sim.reset()"
assert acl.is_simulator
