#!/usr/bin/env bash
# Installs the programs that the tests talk to, through apt, where we are root; otherwise says what is missing.
set -euo pipefail
packages=()
command -v redis-server >/dev/null || packages+=(redis-server)
command -v chromium >/dev/null || packages+=(chromium)
[ ${#packages[@]} -eq 0 ] && exit 0
if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends "${packages[@]}" >/dev/null
else
  echo "missing for the tests: ${packages[*]} (install them with your package manager)" >&2
  exit 1
fi
