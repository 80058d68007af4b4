# Sourced by run and test: makes .venv hold the locked packages and this checkout, and builds what is
# out of date. Needs Python 3.11 or newer and a C++20 compiler; everything else comes from PyPI.
# Sets: top, python. Changes the working directory to the checkout.

set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
python=$top/.venv/bin/python
cd "$top"

if [ ! -x "$python" ]; then
  for base in python3.11 python3.12 python3.13 python3.14 python3; do
    if "$base" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      echo "uncore: creating .venv with $base" >&2
      "$base" -m venv .venv
      break
    fi
  done
  [ -x "$python" ] || { echo "uncore: Python 3.11 or newer was not found" >&2; exit 2; }
fi

# Installed once for each content of the two files that decide what is installed.
wanted=$(cat pyproject.toml requirements.lock | sha256sum)
if [ "$(cat .venv/installed 2>/dev/null)" != "$wanted" ]; then
  echo "uncore: installing packages into .venv" >&2
  "$python" -m pip install --quiet --disable-pip-version-check -r requirements.lock
  "$python" -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
  echo "$wanted" >.venv/installed
fi

"$python" -m SCons -Q -s -j"$(nproc)" >&2
