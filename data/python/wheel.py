"""wheel.py FOLDER VERSION MACHINE FILE... - packs the module and its native files into FOLDER/attn_cli-VERSION-....whl.

A FILE that ends with `copyright` or `LICENSE` is a licence; a wheel has them all, named after their packages.  All
other FILEs go beside the module.  The name says which glibc they need, as objdump, or $OBJDUMP, finds it.  The same
files give the same bytes: members are sorted, with one date and one mode each.
"""
import base64
import hashlib
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

HERE = Path(__file__).parent
LAUNCHER = """#!python
import os
import sys

for folder in sys.path:
    program = os.path.join(folder, "attn", "native", "attn-cli")
    if os.access(program, os.X_OK):
        if not os.path.exists("/proc/self/exe"):    # where the loader looks up what $ORIGIN is
            os.environ["LD_LIBRARY_PATH"] = os.path.dirname(program)
        try:
            os.execv(program, ["attn-cli", *sys.argv[1:]])
        except OSError as why:
            sys.exit(f"attn-cli: cannot start {program}: {why.strerror}; it is made for one kind of processor, and "
                     f"this is {os.uname().machine}: install the wheel for it")
sys.exit("attn-cli: the package attn is not there: expected attn/native/attn-cli in a folder of sys.path")
"""
METADATA = """Metadata-Version: 2.1
Name: attn-cli
Version: {version}
Summary: Run GPT-style decoders and see everything attention does
License: MIT
Requires-Python: >=3.8
Requires-Dist: numpy
Description-Content-Type: text/markdown

{text}"""
WHEEL = "Wheel-Version: 1.0\nGenerator: attn-cli\nRoot-Is-Purelib: false\nTag: {tag}\n"


def glibc(files):
    """The newest glibc whose symbols one of them needs, as (2, 34)."""
    said = subprocess.run([os.environ.get("OBJDUMP", "objdump"), "-T", *files], check=True, capture_output=True,
                          text=True).stdout
    if "GLIBC_ABI_DT_RELR" in said:
        sys.exit("wheel: packed relocations need glibc 2.36: link with -z nopack-relative-relocs")
    return max(tuple(map(int, v)) for v in re.findall(r"GLIBC_(\d+)\.(\d+)", said))


def licence_name(path):
    return path.name if path.name == "LICENSE" else f"{path.parent.name}.copyright"


def members(native, licences, version, tag):
    info = f"attn_cli-{version}.dist-info"
    for path in sorted((HERE / "attn").glob("*.py")):
        yield f"attn/{path.name}", path.read_bytes(), 0o644
    for path in native:
        yield f"attn/native/{path.name}", path.read_bytes(), 0o755
    yield f"attn_cli-{version}.data/scripts/attn-cli", LAUNCHER.encode(), 0o755
    for path in licences:
        yield f"{info}/licenses/{licence_name(path)}", path.read_bytes(), 0o644
    text = (HERE / "README.md").read_text()
    yield f"{info}/METADATA", METADATA.format(version=version, text=text).encode(), 0o644
    yield f"{info}/WHEEL", WHEEL.format(tag=tag).encode(), 0o644


def digest(data):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def add(archive, name, data, mode):
    item = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    item.external_attr = (0o100000 | mode) << 16
    item.create_system = 3
    item.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(item, data, compresslevel=9)


def main(folder, version, machine, *paths):
    paths = [Path(p) for p in paths]
    licences = [p for p in paths if p.name in ("copyright", "LICENSE")]
    native = [p for p in paths if p not in licences]
    major, minor = glibc(native)
    tag = f"py3-none-manylinux_{major}_{minor}_{machine}"
    wheel = Path(folder) / f"attn_cli-{version}-{tag}.whl"
    record = ""
    with zipfile.ZipFile(f"{wheel}.new", "w") as archive:
        for name, data, mode in sorted(members(native, licences, version, tag)):
            add(archive, name, data, mode)
            record += f"{name},{digest(data)},{len(data)}\n"
        name = f"attn_cli-{version}.dist-info/RECORD"
        add(archive, name, f"{record}{name},,\n".encode(), 0o644)
    Path(f"{wheel}.new").replace(wheel)
    print(wheel)


if __name__ == "__main__":
    main(*sys.argv[1:])
