"""Check what a wheel holds: python .ci/wheel.py FILE."""

import re
import sys
import zipfile
from collections import Counter
from pathlib import Path

names = [name for name in zipfile.ZipFile(sys.argv[1]).namelist() if not name.endswith("/")]
root = Path(__file__).resolve().parent.parent
headers = {path.relative_to(root).as_posix() for path in (root / "acl" / "include").rglob("*.h")}
required = {
    *headers,
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
    "acl/opp/version.info",
    "acl/share/cmake/ascendcl/ascendcl-config.cmake",
    "acl/share/pkgconfig/ascendcl.pc",
    "acl/tools/tikcpp/ascendc_kernel_cmake/ascendc.cmake",
    "acl/rt.pyi",
    "acl/nn.pyi",
    "acl/lib64/libacl_sim.so",
    "acl/lib64/libascendcl.so",
    "acl/lib64/libopapi.so",
    "acl/include/aclnnop/aclnn_add.h",
    "acl/include/aclnnop/level2/aclnn_add.h",
    "acl/operators.json",
    "ascendcl.py",
}
wrong = [f"lacks {name}" for name in sorted(required - set(names))]
wrong += [f"lacks {name}" for name in ("LICENSE", "NOTICE") if not any(
    re.fullmatch(rf"[^/]*\.dist-info/(licenses/)?{name}", path) for path in names)]  # fmt: skip
ours = re.compile(r"(^|/)(tests|simulator|\.ci|build)/|build_acl|__pycache__")
wrong += [f"holds {name}" for name in names if ours.search(name)]
# Namesakes are two headers of one name in two folders, never two libraries.
wrong += [f"holds {name} {count} times" for name, count in Counter(n.rpartition("/")[2] for n in names).items()
          if count > 1 and name.endswith(".so")]  # fmt: skip
size = sum(info.compress_size for info in zipfile.ZipFile(sys.argv[1]).infolist())
print(f"{Path(sys.argv[1]).name}: {len(names)} files, {size / 1e6:.1f} MB")
sys.exit("\n".join(wrong) or 0)
