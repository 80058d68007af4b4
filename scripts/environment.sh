# Installs the locked packages and this checkout into .venv, and builds what is out of date. The other scripts of
# this folder source it, and .ci/run runs it. It needs Python 3.11 or newer with its headers; everything else comes
# from PyPI, including a C++ compiler, which is used if CXX is not set and neither g++ nor clang++ is installed.
# Sets the variables top and python. Changes the working directory to the checkout.

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

# Packages are installed again only if one of the two files that list them has changed.  The packages that
# the build needs are installed first; the build then runs in parallel with the installation of the others.
# pip writes no bytecode, because most modules are never imported; Python writes it when it imports a module,
# except if PYTHONDONTWRITEBYTECODE is set.
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
  trap "kill $! 2>/dev/null" EXIT # ends the build if the installation fails
  install -r requirements.lock
  wait $!
  trap - EXIT
  install --no-deps --no-build-isolation -e .
  echo "$wanted" >.venv/installed
fi

# SCons takes half a second to find that there is nothing to do, so it is run only if a file that the build
# reads or writes has changed.  A file with the same inode number, size and ctime has the same content, because
# nobody can set the ctime.  The stamp describes the sources before SCons ran, so changes made while it runs
# cause another build.  If find is not GNU's and cannot print these values, SCons is always run.
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
  "$python" -m compileall -q sim validation # a short run is a third quicker, even if Python may not write bytecode
  printf '%s\n' "$before" "$(products)" >build/stamp.$$
  mv build/stamp.$$ build/stamp
fi
