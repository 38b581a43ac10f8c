#!/usr/bin/env bash
# Installs what the tests talk to: programs through apt where we are root (else says what is missing), and
# Node programs from their lock files.
set -euo pipefail
packages=()
command -v redis-server >/dev/null || packages+=(redis-server)
command -v chromium >/dev/null || packages+=(chromium)
command -v prometheus >/dev/null || packages+=(prometheus)
if [ ${#packages[@]} -gt 0 ]; then
  if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends "${packages[@]}" >/dev/null
  else
    echo "missing for the tests: ${packages[*]} (install them with your package manager)" >&2
    exit 1
  fi
fi

# Node programs of the tests, each with its own lock file; nothing is downloaded when they run.
cd "$(dirname "$0")/.."
for folder in $(git ls-files '*package-lock.json' | xargs -r -n1 dirname); do
  [ -d "$folder/node_modules" ] || npm ci --silent --no-audit --no-fund --prefix "$folder"
done
