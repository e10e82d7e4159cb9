#!/usr/bin/env bash
# Builds the image of the Containerfile, runs it as engines do, and prints what held: not root, without capabilities, on a
# read-only root, with a pseudo-terminal as its serial port; then as a pod of examples/cluster/kubernetes.yaml.
# As root; needs buildah, mmdebstrap and socat, and mbpoll and curl to ask:
#   sudo scripts/container-trial.sh
# No registry of images is asked: under the name of the Containerfile's base it has a Debian (mmdebstrap) with the Node and the npm
# of npm's registry. All images are kept in a directory of its own, which is removed.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2

base=$(sed -n 's/^ARG NODE=//p' Containerfile)
work=$(mktemp -d)
token=0123456789abcdef0123456789abcdef
address=10.9.0.7
image=modbus-sim:trial
failed=0
unshare='' program=''
export BUILDAH_ISOLATION=${BUILDAH_ISOLATION:-chroot}
buildah() { command buildah --root "$work/images" --runroot "$work/run" "$@"; }

finish() {
  [ -z "$unshare" ] || kill -9 "$unshare" 2>/dev/null
  [ -z "${socat:-}" ] || kill "$socat" 2>/dev/null
  wait
  buildah umount --all >/dev/null 2>&1
  umount "$work/images/overlay" 2>/dev/null
  rm -rf --one-file-system "$work"
}
trap finish EXIT

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

# A base as small as the steps of the Containerfile allow: a shell, coreutils, what Node links to. Its packages are unpacked alone.
make_base() {
  local root=$work/base version=${base#*node:}
  mmdebstrap --quiet --mode=root --variant=extract --include=base-files,base-passwd,coreutils,dash,libc-bin,libstdc++6 \
    bookworm "$root" http://deb.debian.org/debian || return 1
  cp "$root/usr/share/base-passwd/passwd.master" "$root/etc/passwd"
  (cd "$work" && npm pack --silent "node-linux-$(node -p process.arch)@${version%%-*}" && tar -xzf node-linux-*.tgz package/bin/node) || return 1
  install -D "$work/package/bin/node" "$root/usr/local/bin/node"
  npm install --silent --global --ignore-scripts --prefix "$root/usr/local" npm@10 || return 1
  local container
  container=$(buildah from scratch) && buildah add --quiet "$container" "$root" / && buildah commit --quiet "$container" "$base" \
    && buildah rm "$container"
}

# Of the machine: whom npm trusts, and what it has fetched already.
build=(--volume "$(npm config get cache):/root/.npm")
if [ -n "${NODE_EXTRA_CA_CERTS:-}" ]; then
  echo "cafile=/etc/ssl/certs/ca-certificates.crt" >"$work/npmrc"
  build+=(--volume "$NODE_EXTRA_CA_CERTS:/etc/ssl/certs/ca-certificates.crt:ro" --volume "$work/npmrc:/root/.npmrc:ro")
fi

make_base >"$work/said" 2>&1 || { echo "no base could be made: $(tail -3 "$work/said")" >&2; exit 2; }
echo "        the base took $SECONDS s"
check "the image is built" buildah build --pull-never --format docker "${build[@]}" -t "$image" .
[ "$failed" -eq 0 ] || exit 1
layer=$(buildah inspect --type image --format '{{.Manifest}}' "$image" | node -p 'JSON.parse(fs.readFileSync(0)).layers.at(-1).size')
echo "        after $SECONDS s; $((layer / 1000000)) MB beside the base"
check "that is 60 MB at most" test "$layer" -le 60000000

# What an engine reads in the image, word by word.
config() { buildah inspect --type image "$image" | node -p "const { config } = JSON.parse(fs.readFileSync(0)).Docker; [$1].flat().join('\n')"; }
mapfile -t command < <(config 'config.Entrypoint')
mapfile -t arguments < <(config 'config.Cmd')
mapfile -t variables < <(config 'config.Env')
mapfile -t health < <(config 'config.Healthcheck.Test.slice(1)')
user=$(config 'config.User')
root=$(buildah mount "$(buildah from --pull-never "$image")") || exit 1

# What an engine does with it, with options as strict as the profile "restricted" of Kubernetes: no network but that of its own, processes,
# devices and files of its own, no capability, and no way to get one.
cat >"$work/container" <<'SH'
set -e
root=$1 user=$2 config=$3 port=$4
shift 4
ip link set lo up
ip address add "$ADDRESS/32" dev lo
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=755 dev "$root/dev"
while read -r name numbers; do mknod -m 666 "$root/dev/$name" c $numbers; done <<EOF
null 1 3
zero 1 5
full 1 7
random 1 8
urandom 1 9
tty 5 0
EOF
mkdir "$root/dev/pts"
mount -t devpts -o newinstance,ptmxmode=666,mode=620 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
touch "$root/dev/ttyUSB0"
mount --bind "$port" "$root/dev/ttyUSB0"
mkdir -p "$root$(dirname "$config")"
touch "$root$config"
mount --bind "$FILE" "$root$config"
mount -o remount,ro,bind "$root"
exec setpriv --no-new-privs --inh-caps=-all --bounding-set=-all,+sys_chroot,+setuid,+setgid \
  env --ignore-environment "$@"
SH

# start FILE PATH VARIABLE... -- ARGUMENT...: the image with this file at this path.
start() {
  local file=$1 path=$2 own=()
  shift 2
  while [ "$1" != -- ]; do own+=("$1") && shift; done
  shift
  : >"$work/log"
  ADDRESS=$address FILE=$file unshare --mount --net --pid --fork --kill-child \
    sh "$work/container" "$root" "$user" "$path" "$port" "${variables[@]}" "${own[@]}" \
    chroot --userspec="$user" --groups= "$root" "${command[@]}" "$@" >>"$work/log" 2>&1 &
  unshare=$!
  for _ in $(seq 300); do
    if grep -q '^ready$' "$work/log" || ! kill -0 "$unshare" 2>/dev/null; then break; fi
    sleep 0.2
  done
  program=$(pgrep -P "$unshare")
  prints '^ready$' cat "$work/log"
}
stop() {
  kill -TERM "$program" && timeout 10 tail --pid "$program" -f /dev/null || return 1
  local ended=$unshare
  unshare=''
  wait "$ended"
}
inside() { nsenter --target "$program" --mount --net --pid --root --wd --setuid "${user%:*}" --setgid "${user#*:}" env "${variables[@]}" "$@"; }
beside() { nsenter --target "$program" --net "$@"; }
status() { beside curl -s -m 10 -o /dev/null -w '%{http_code}' "$@"; }

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

check "it is ready with the command of the image" start "$work/bench.yaml" /etc/modbus-sim/config.yaml "MODBUS_SIM_TOKEN=$token" -- "${arguments[@]}"
# Without it there is nothing to ask.
if [ "$failed" -gt 0 ]; then cat "$work/log"; exit 1; fi
check "it is not root" prints '^1000$' stat --format %u "/proc/$program"
check "it has no capability" prints '^CapEff:.0+$' cat "/proc/$program/status"
check "its root is read-only" refused inside touch /opt/modbus-sim/x
check "the command is on its PATH" prints '^[0-9]' inside modbus-sim --version
check "a Modbus TCP request from outside is answered" beside mbpoll -q -m tcp -a 1 -p 5020 -t 4 -r 1 -c 3 -1 "$address"
check "an RTU request on the serial port is answered" mbpoll -q -m rtu -a 1 -b 9600 -P none -t 4 -r 1 -c 3 -1 "$work/client"
check "REST asks for the token" prints '^401$' status "http://$address:8080/api/v1/lines"
check "and takes it" prints '^200$' status -H "Authorization: Bearer $token" "http://$address:8080/api/v1/lines"
check "the health check succeeds" inside "${health[@]}"
kill -STOP "$program"
check "and fails while the program is stopped" refused timeout 10 nsenter --target "$program" --net -- "${health[@]}"
kill -CONT "$program"
check "it ends with exit code 0 on SIGTERM" stop

# The pod of the manifest: its file, its arguments, its probes by the address of the pod, and Prometheus.
manifest() {
  node --input-type=module -e "
    import { readFileSync } from 'node:fs';
    import { parseAllDocuments } from 'yaml';
    const [map, service, { spec }] = parseAllDocuments(readFileSync('examples/cluster/kubernetes.yaml', 'utf8')).map((each) => each.toJS());
    const [bench] = spec.template.spec.containers;
    const port = (name) => bench.ports.find((each) => each.name === name).containerPort;
    console.log([$1].flat().join('\n'));"
}
manifest "map.data['bench.yaml']" >"$work/pod.yaml"
chmod 644 "$work/pod.yaml"
mapfile -t arguments < <(manifest bench.args)
check "a pod of the manifest is ready" start "$work/pod.yaml" "$(manifest "bench.volumeMounts[0].mountPath + '/bench.yaml'")" \
  "$(manifest bench.env[0].name)=$token" -- "${arguments[@]}"
for probe in startup liveness readiness; do
  where=$(manifest "':' + port(bench.${probe}Probe.httpGet.port) + bench.${probe}Probe.httpGet.path")
  check "its $probe probe succeeds" prints '^200$' status "http://$address$where"
done
metrics="http://$address:$(manifest "port('rest')")/metrics"
check "its metrics need the token" prints '^401$' status "$metrics"
check "with it, Prometheus gets them" prints '^modbus_sim_line_open\{' beside curl -s -H "Authorization: Bearer $token" "$metrics"
check "its bench answers on the port of the Service" beside mbpoll -q -m tcp -a 247 -p "$(manifest "service.spec.ports.find(({ name }) => name === 'modbus').port")" \
  -t 4 -r 1 -c 3 -1 "$address"
check "it ends with exit code 0 on SIGTERM" stop

echo "$failed failed"
[ "$failed" -eq 0 ]
