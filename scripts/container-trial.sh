#!/usr/bin/env bash
# Builds the image of the Containerfile, runs it as its documents say, and prints what held: not root, on a read-only root,
# with a pseudo-terminal as its serial port. As root; needs podman and socat, and mbpoll to ask. Takes two minutes:
#   sudo scripts/container-trial.sh             with the base that the Containerfile names
#   sudo NODE=IMAGE scripts/container-trial.sh  with another one
# Where no registry can be reached, it makes a base: a Debian (mmdebstrap), with the Node and the npm of npm's registry.
#   PODMAN='podman --runtime runc'   another podman, as on a machine with two versions of cgroups
#   RUN='--ulimit nofile=1024:1024 --ulimit nproc=1000:1000'  more options of podman run, as where limits may not be raised
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2

podman=${PODMAN:-podman}
node=${NODE:-$(sed -n 's/^ARG NODE=//p' Containerfile)}
work=$(mktemp -d)
container=modbus-sim-trial-$$
token=0123456789abcdef0123456789abcdef
failed=0
trap '$podman rm -f "$container" >/dev/null 2>&1; kill "${socat:-}" 2>/dev/null; rm -rf "$work"' EXIT

check() {
  local name=$1
  shift
  if "$@" >"$work/said" 2>&1; then
    echo "ok      $name"
  else
    echo "FAILED  $name"
    sed 's/^/        /' "$work/said" | tail -5
    failed=$((failed + 1))
  fi
}
refused() { ! "$@"; }
prints() { grep -E -- "$1" <<<"$("${@:2}" 2>&1)"; }
inside() { $podman exec "$container" "$@"; }
megabytes() { echo $(($($podman image inspect --format '{{.Size}}' "$1") / 1000000)); }

# What a build needs to know of this machine: its own network, and whom to trust.
build=(--network host)
if [ -n "${NODE_EXTRA_CA_CERTS:-}" ]; then
  echo "cafile=/etc/ssl/certs/ca-certificates.crt" >"$work/npmrc"
  build+=(-v "$NODE_EXTRA_CA_CERTS:/etc/ssl/certs/ca-certificates.crt:ro" -v "$work/npmrc:/root/.npmrc:ro")
fi

own_base() {
  local root=$work/root
  mmdebstrap --quiet --mode=root --variant=minbase --aptopt='APT::Install-Recommends "false"' \
    --include=libstdc++6,ca-certificates trixie "$root" http://deb.debian.org/debian || return 1
  npm install --silent --global --ignore-scripts --prefix "$root/usr/local" npm@10 || return 1
  (cd "$work" && npm pack --silent "node-linux-$(node -p process.arch)@22" >/dev/null && tar -xzf node-linux-*.tgz) || return 1
  install "$work/package/bin/node" "$root/usr/local/bin/node"
  tar -C "$root" -c . | $podman import --quiet - localhost/modbus-sim-base >/dev/null
}
if ! $podman image exists "$node" && ! timeout 60 $podman pull --quiet "$node" >"$work/said" 2>&1; then
  echo "$node can't be had ($(tail -1 "$work/said" | grep -o '[^:]*$')): making a base"
  node=localhost/modbus-sim-base
  $podman image exists "$node" || own_base || { echo "no base could be made" >&2; exit 2; }
fi

check "the image is built" $podman build --format docker "${build[@]}" --build-arg NODE="$node" -t modbus-sim .
echo "        $(($(megabytes modbus-sim) - $(megabytes "$node"))) MB beside the base, of $(megabytes "$node") MB"
check "that is 60 MB at most" test $(($(megabytes modbus-sim) - $(megabytes "$node"))) -le 60

socat "PTY,link=$work/client,rawer" "PTY,link=$work/port,rawer" &
socat=$!
sleep 1
port=$(readlink -f "$work/port")
chgrp dialout "$port" && chmod 660 "$port"
cat >"$work/bench.yaml" <<'YAML'
devices: {meter: {registers: {holding: [{address: 0, value: [1, 2, 3]}]}}}
lines:
  bench: {serial: {path: /dev/ttyUSB0, baudRate: 9600, parity: none}, units: {1: meter}}
  virtual: {serial: {path: virtual}, units: {1: meter}}
  lan: {tcp: {host: 0.0.0.0, port: 5020}, units: {1: meter}}
api: {host: 0.0.0.0}
YAML
chmod 711 "$work" && chmod 644 "$work/bench.yaml"

# A pseudo-terminal is no device by its numbers alone, so it is a volume here; an adapter is --device.
check "the container starts" $podman run --detach --name "$container" --read-only ${RUN:-} \
  -p 15020:5020 -p 18080:8080 -e MODBUS_SIM_TOKEN=$token \
  -v "$port:/dev/ttyUSB0" -v "$work/bench.yaml:/etc/modbus-sim/config.yaml:ro" modbus-sim
# Without it there is nothing to ask. (And the process that is to be stopped below would be number 0: this script.)
if [ "$failed" -gt 0 ]; then echo "$failed failed"; exit 1; fi
for _ in $(seq 100); do
  if prints '^ready$' $podman logs "$container" >/dev/null; then break; fi
  sleep 0.2
done
check "all its lines are open" prints '^ready$' $podman logs "$container"
check "it is not root" prints '^1000$' inside id -u
check "its root is read-only" refused inside touch /opt/modbus-sim/x
check "the command is on its PATH" prints '^[0-9]' inside modbus-sim --version
check "a Modbus TCP request from outside is answered" mbpoll -q -m tcp -a 1 -p 15020 -t 4 -r 1 -c 3 -1 127.0.0.1
check "an RTU request on the serial port is answered" mbpoll -q -m rtu -a 1 -b 9600 -P none -t 4 -r 1 -c 3 -1 "$work/client"
check "REST asks for the token" prints '^401$' curl -s -o /dev/null -w '%{http_code}' http://127.0.0.1:18080/api/v1/lines
check "and takes it" prints '^200$' curl -s -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $token" \
  http://127.0.0.1:18080/api/v1/lines
check "the health check succeeds" $podman healthcheck run "$container"
# Nobody answers while the program stands still.
pid=$($podman inspect --format '{{.State.Pid}}' "$container")
kill -STOP "$pid"
check "and fails while the program stands still" refused timeout 20 $podman healthcheck run "$container"
kill -CONT "$pid"
check "it stops" $podman stop --time 10 "$container"
check "with exit code 0, as one who was asked to" prints '^0$' $podman inspect --format '{{.State.ExitCode}}' "$container"

echo "$failed failed"
[ "$failed" -eq 0 ]
