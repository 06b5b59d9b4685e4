"""Check the contents of a wheel: python .ci/wheel.py FILE."""

import re
import runpy
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from pathlib import Path

names = [name for name in zipfile.ZipFile(sys.argv[1]).namelist() if not name.endswith("/")]
root = Path(__file__).resolve().parent.parent
headers = {path.relative_to(root).as_posix() for path in (root / "acl" / "include").rglob("*.h")}
listed = runpy.run_path(str(root / "acl" / "libraries.py"))
# libfmk_onnx_parser.so passes std::shared_ptr to its callers, so it is linked with the C++ library, which its callers
# have anyway. libacl_hccl_net.so is there if Gloo's development package was. All other libraries need the C library
# alone, so that C programs run without the C++ library.
CLIB = re.compile(r"lib(c|m|dl|pthread)\.so\.\d+|ld-linux-\S+")
RUNTIME = {"libstdc++.so.6", "libgcc_s.so.1"}
CXX = {"libfmk_onnx_parser.so": {*RUNTIME, "libacl_sim.so"}, "libacl_hccl_net.so": {*RUNTIME, "libgloo.so.0"}}


def needed(path):
    """Return the names of the libraries that a file of the wheel needs."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(zipfile.ZipFile(sys.argv[1]).read(path))
        file.flush()
        text = subprocess.run(["readelf", "-d", file.name], check=True, stdout=subprocess.PIPE, text=True).stdout
    return re.findall(r"\(NEEDED\).*\[(.*)\]", text)


required = {
    *headers,
    *(f"acl/lib64/lib{name}.so" for name in ("acl_sim", "acl_record", "fmk_onnx_parser")),
    *(f"acl/lib64/lib{name}.so" for name in (*listed["VENDOR"], *listed["OTHERS"])),
    *(path.relative_to(root).as_posix() for path in (root / "acl").rglob("*.py")),
    *(
        f"acl/{path.relative_to(root).as_posix()}"
        for path in (root / "examples").rglob("*")
        if path.is_file() and path.parent.name != "__pycache__"
    ),
    "acl/py.typed",
    "acl/version.info",
    "acl/set_env.sh",
    "acl/bin/setenv.bash",
    "acl/compiler/version.info",
    "acl/opp/version.info",
    "acl/runtime/version.info",
    "acl/share/cmake/ascendcl/ascendcl-config.cmake",
    "acl/share/pkgconfig/ascendcl.pc",
    "acl/tools/tikcpp/ascendc_kernel_cmake/ascendc.cmake",
    "acl/rt.pyi",
    "acl/codes.pyi",
    "acl/nn.pyi",
    "acl/include/aclnnop/aclnn_add.h",
    "acl/include/aclnnop/level2/aclnn_add.h",
    "acl/operators.json",
    "ascendcl.py",
    "ascendcl_pytest.py",
}
wrong = [f"lacks {name}" for name in sorted(required - set(names))]
wrong += [f"lacks {name}" for name in ("LICENSE", "NOTICE") if not any(
    re.fullmatch(rf"[^/]*\.dist-info/(licenses/)?{name}", path) for path in names)]  # fmt: skip
ours = re.compile(r"(^|/)(tests|simulator|\.ci|build)/|build_acl|__pycache__")
wrong += [f"holds {name}" for name in names if ours.search(name)]
# Two headers in different folders may have the same name; two libraries may not.
wrong += [f"holds {name} {count} times" for name, count in Counter(n.rpartition("/")[2] for n in names).items()
          if count > 1 and name.endswith(".so")]  # fmt: skip
libraries = [name for name in names if name.endswith(".so")]
wrong += [f"{name} needs {other}" for name in libraries for other in needed(name)
          if not CLIB.fullmatch(other) and other not in CXX.get(name.rpartition("/")[2], ())]  # fmt: skip
size = sum(info.compress_size for info in zipfile.ZipFile(sys.argv[1]).infolist())
print(f"{Path(sys.argv[1]).name}: {len(names)} files, {size / 1e6:.1f} MB")
sys.exit("\n".join(wrong) or 0)
