# Sourced by what stands beside it, run by .ci/run: makes .venv hold the locked packages and this checkout, and builds what is
# out of date. Needs Python 3.11 or newer with its headers; everything else comes from PyPI, also a C++
# compiler, which is taken where neither CXX names one nor g++ or clang++ is there.
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

# Installed once for each content of the two files that decide what is installed.  What a build needs
# comes first, and the build goes on beside the rest.  Bytecode is written when a module is first
# imported, which most never are, unless Python was told to write none.
wanted=$(cat pyproject.toml requirements.lock | sha256sum)
bytecode=--no-compile
[ -z "${PYTHONDONTWRITEBYTECODE-}" ] || bytecode=--compile
install() { "$python" -m pip install --quiet --disable-pip-version-check $bytecode "$@"; }
needed_to_build() {
  "$python" -c 'import sys, tomllib
for wanted in tomllib.load(sys.stdin.buffer)["build-system"]["requires"]: print(wanted)' <pyproject.toml
}
if [ "$(cat .venv/installed 2>/dev/null)" != "$wanted" ]; then
  echo "uncore: installing packages into .venv" >&2
  mapfile -t first < <(needed_to_build)
  install --constraint requirements.lock "${first[@]}"
  "$python" -m SCons -Q -s -j"$(nproc)" >&2 &
  trap "kill $! 2>/dev/null" EXIT # where what follows fails
  install -r requirements.lock
  wait $!
  trap - EXIT
  install --no-deps --no-build-isolation -e .
  echo "$wanted" >.venv/installed
fi

# Built once for each state of what a build reads and writes: SCons takes half a second to find that
# there is nothing to do.  A file of the same number, size and time of change (ctime) has the same
# content, because nobody can set that time.  What changes while SCons works is not in the stamp,
# which says how the sources were before.  Where find cannot tell (not GNU's), SCons always looks.
state() { find -L "$@" -name __pycache__ -prune -o -type f -printf '%p %i %s %C@\n' 2>/dev/null || true; }
sources() {
  echo "CXX=${CXX:-} UNCORE_SST=${UNCORE_SST:-} PATH=$PATH"
  state SConstruct sim workloads .venv/installed $(type -P ${CXX:-} g++ clang++ sst-config)
  state "${UNCORE_SST:-.venv}"{,/bin}/sst-config
}
products() { state build/native/*.so build/workloads build/sst; }

before=$(sources)
if [[ $before != *SConstruct\ * || $before$'\n'$(products) != "$(cat build/stamp 2>/dev/null)" ]]; then
  "$python" -m SCons -Q -s -j"$(nproc)" >&2
  "$python" -m compileall -q sim validation # a short run is a third quicker; Python may have been told to write none
  printf '%s\n' "$before" "$(products)" >build/stamp.$$
  mv build/stamp.$$ build/stamp
fi
