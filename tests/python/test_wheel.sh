#!/bin/bash
# test_wheel.sh FOLDER - installs the wheel that is in FOLDER into a new environment, and uses, tests and
# removes it there.
#
# The environment sees Debian's NumPy; nothing is fetched.  It is skipped, and says so, without NumPy or venv: a failure
# if ATTN_SKIP_NOTHING is 1.
set -euo pipefail
cd "$(dirname "$0")/../.."
skip() { echo "test-wheel: skipped, $1"; exit "${ATTN_SKIP_NOTHING:-0}"; }
python=${PYTHON:-python3}
"$python" -c 'import numpy, ensurepip' 2>/dev/null ||
    skip "there is no NumPy or venv (sudo apt-get install python3-numpy python3-venv)"
wheels=("$1"/*.whl)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$python" -m venv --system-site-packages "$work/venv"
pip() { "$work/venv/bin/python" -m pip --quiet --disable-pip-version-check --no-input "$@"; }
pip install --no-index --no-deps "${wheels[0]}"
pip check 2>&1 | grep -i attn && exit 1
# Everything comes from the environment, in another directory and with nothing of this one.
(cd "$work" && unset ATTN_LIBRARY ATTN_CLI PYTHONPATH &&
    venv/bin/attn-cli run -s "Life is short" --show tokens >said && "$OLDPWD/$1/attn-cli" run -s "Life is short" \
        --show tokens | cmp - said &&
    venv/bin/python -m attn --version | grep -q '^attn-cli ' &&
    ! ldd venv/lib/python*/site-packages/attn/native/{attn-cli,libattn.so} |
        grep -E 'not found|=> /(usr/)?lib.*(cjson|png)')
ATTN_INSTALLED=1 ATTN_CLI=$work/venv/bin/attn-cli "$work/venv/bin/python" -B tests/python/test_module.py -b
pip uninstall -y attn-cli
left=$(find "$work/venv" -path '*attn*' -not -path '*__pycache__*' -not -path "*/site-packages/pip/*")
[ -z "$left" ] || { echo "test-wheel: uninstalling left $left"; exit 1; }
echo "test-wheel: $(basename "${wheels[0]}"), $(stat -c %s "${wheels[0]}") bytes, installed, tested and removed"
