#!/usr/bin/env bash
# Tries the Debian package under a real systemd: installed by dpkg into a Debian system that systemd-nspawn boots, asked,
# stopped, killed, reloaded, upgraded, removed and purged. Prints what held, and the scores. As root, after
# `npm run package`; needs mmdebstrap and systemd-container. Takes four minutes, the first time one more for the root:
#   sudo scripts/service-trial.sh            in a Debian 13
#   sudo RELEASE=bookworm scripts/service-trial.sh   in a Debian 12, with Node 22 from npm in a package called nodejs
#   sudo PACKAGE=FILE.deb scripts/service-trial.sh   another package than that of build/packages
# There is no udev in such a container and no serial hardware: rules and DeviceAllow= are not tried.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2

architecture=$(dpkg --print-architecture)
package=${PACKAGE:-$(ls -t "$PWD"/build/packages/modbus-sim_*_"$architecture".deb 2>/dev/null | head -1)}
[ -n "$package" ] || { echo "no package for $architecture in build/packages: npm run package" >&2; exit 2; }
release=${RELEASE:-trixie}
base=$PWD/build/$release-root.tar
work=$(mktemp -d /var/tmp/modbus-sim-trial.XXXXXX)
root=$work/root
log=$work/console.log
leader=
failed=0

clean_up() {
  if [ -n "$leader" ]; then halt; fi
  rm -rf "$work"
}
trap clean_up EXIT

if [ ! -f "$base" ]; then
  echo "making a Debian ($base)"
  mmdebstrap --quiet --mode=root --variant=minbase --aptopt='APT::Install-Recommends "false"' \
    --include=systemd,systemd-sysv,dbus,udev,kmod,procps,libnss-systemd,nodejs,mbpoll,passwd \
    "$release" "$base" http://deb.debian.org/debian || exit 2
fi
mkdir "$root" && tar -xpf "$base" -C "$root" || exit 2
cp "$package" "$root/root/modbus-sim.deb"

# A package nodejs with a Node that npm has, as those for older Debians are made.
newer_node() {
  local cpu=x64
  if [ "$architecture" = arm64 ]; then cpu=arm64; fi
  mkdir -p "$work/node/DEBIAN" "$work/node/usr"
  (cd "$work" && npm pack --silent "node-linux-$cpu@22" >/dev/null && tar -xzf node-linux-*.tgz) || exit 2
  mv "$work/package/bin" "$work/node/usr/bin"
  printf 'Package: nodejs\nVersion: %s-1trial\nArchitecture: %s\nMaintainer: nobody <root@localhost>\nDescription: Node\n' \
    "$("$work/node/usr/bin/node" -p process.versions.node)" "$architecture" >"$work/node/DEBIAN/control"
  dpkg-deb --root-owner-group -Zgzip --build "$work/node" "$root/root/nodejs.deb" >/dev/null || exit 2
}

boot() {
  SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1 setsid systemd-nspawn --quiet -D "$root" --boot --register=no --keep-unit \
    --machine=modbus-sim-trial --private-network --capability=all --system-call-filter=bpf --console=pipe \
    >>"$log" 2>&1 </dev/null &
  nspawn=$!
  for _ in $(seq 300); do
    leader=$(pgrep -P "$nspawn" -x systemd) && there systemctl is-system-running --wait >/dev/null 2>&1
    if [ -n "$leader" ] && there systemctl is-system-running 2>/dev/null | grep -Eq '^(running|degraded)$'; then return; fi
    sleep 0.2
  done
  echo "the system did not come up:" >&2
  tail -20 "$log" >&2
  exit 2
}

halt() {
  kill -TERM "$nspawn" 2>/dev/null
  wait "$nspawn" 2>/dev/null
  leader=
}

# Runs a command inside.
there() {
  nsenter -t "$leader" -a env -i PATH=/usr/sbin:/usr/bin HOME=/root LC_ALL=C.UTF-8 "$@"
}

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

# Repeats a command until it succeeds, for at most so many seconds.
within() {
  local until=$((SECONDS + $1))
  shift
  while ! "$@"; do
    if [ "$SECONDS" -ge "$until" ]; then return 1; fi
    sleep 0.3
  done
}

refused() { ! "$@"; }
unit=modbus-sim.service
property() { there systemctl show "$unit" -p "$1" --value; }
has() { [ "$(property "$1")" = "$2" ]; }
status_is() { property StatusText | grep -Fq -- "$1"; }
journal() { there journalctl -u "$unit" -o cat --no-pager "${@:2}" | grep -Fq -- "$1"; }
prints() { grep -F -- "$1" <<<"$("${@:2}" 2>&1)"; }
version=0
at_least() { [ "$version" -ge "$1" ] || { echo "        left out: needs systemd $1"; false; }; }
as() { there runuser -u "$1" -- "${@:2}"; }
asks_rtu() { as "$1" mbpoll -q -m rtu -a 1 -b 9600 -P none -t 4 -r 1 -c 3 -1 /run/modbus-sim/demo; }
asks_tcp() { there mbpoll -q -m tcp -a 1 -p "$1" -t 4 -r 1 -c 3 -1 127.0.0.1; }
writes_tcp() { there mbpoll -q -m tcp -a 1 -p "$1" -t 4 -r 1 127.0.0.1 "$2"; }
reads_tcp() { asks_tcp "$1" | grep -Eq "^\[1\]:[[:space:]]+$2\$"; }
rest_status() {
  [ "$(there node -e 'fetch(process.argv[1], {headers: process.argv[2] ? {authorization: `Bearer ${process.argv[2]}`} : {}})
    .then((r) => console.log(r.status), (e) => console.log(e.message))' "$2" "${3:-}")" = "$1" ]
}
config() { there sh -c 'cat > /etc/modbus-sim/config.yaml' <<<"$1"; }
threads() { there ps -L -o comm=,cls=,rtprio=,ni= -p "$(property MainPID)"; }
# One thread in the real-time class, the first one, and no other.
only_first_is_rr() { threads | awk 'NR == 1 && $2 != "RR" || NR > 1 && $2 == "RR" {wrong = 1} END {exit wrong || NR < 5}'; }
# One thread is behind all others in the normal class: that of REST (the desk). Prints its number.
desk() { there ps -L -o lwp=,cls=,ni= -p "$(property MainPID)" | awk '$2 == "TS" && $3 == 10 {n++; lwp = $1} END {print lwp; exit n != 1}'; }
another_desk() { [ "$(desk)" != "$1" ] && desk; }
rest_answers() { rest_status 200 http://127.0.0.1:8080/healthz; }
restarted() { [ "$(property NRestarts)" -gt "$1" ] && has ActiveState active; }
files() {
  (cd "$root" && find . -xdev \( -path ./proc -o -path ./sys -o -path ./dev -o -path ./run -o -path ./tmp -o -path ./var/tmp \
    -o -path ./var/log -o -path ./var/cache -o -path ./var/lib/dpkg -o -path ./var/lib/systemd/timers -o -path ./root \) -prune \
    -o -print | sort)
}

boot
version=$(there systemctl --version | sed -n '1s/systemd \([0-9]*\).*/\1/p')
echo "$(. "$root/etc/os-release" && echo "$PRETTY_NAME"), systemd $version"
there useradd -m -G dialout tester
there useradd -m stranger
files >"$work/files-before"
cp "$root/etc/passwd" "$work/passwd-before"

echo "== install"
if [ "$release" = bookworm ]; then
  check "with the Node of this Debian, $(there node --version), dpkg refuses it" refused there dpkg -i /root/modbus-sim.deb
  there dpkg --purge --force-all modbus-sim >/dev/null 2>&1
  newer_node
  check "a newer nodejs is installed" there dpkg -i /root/nodejs.deb
  files >"$work/files-before"
  cp "$root/etc/passwd" "$work/passwd-before"
fi
check "dpkg installs it" there dpkg -i /root/modbus-sim.deb
check "the service is enabled and active" there systemctl is-active modbus-sim.service
check "its status tells of its lines" status_is "2 lines open"
check "the command is on PATH" there modbus-sim --version
check "a Modbus TCP request is answered" asks_tcp 5020
check "an RTU request of a member of dialout is answered" asks_rtu tester
check "of somebody else it is not" refused asks_rtu stranger
check "the program runs as modbus-sim" test "$(there stat -c %U "/proc/$(property MainPID)")" = modbus-sim
check "it may open 16384 files" there grep -Eq '^Max open files +16384' "/proc/$(property MainPID)/limits"
check "any user may check the configuration" as stranger modbus-sim check /etc/modbus-sim/config.yaml
if at_least 254; then check "verify finds nothing" test -z "$(there systemd-analyze verify --man=no modbus-sim.service modbus-sim@x.service 2>&1)"; fi
if at_least 254; then check "udevadm verify finds nothing" there udevadm verify /usr/lib/udev/rules.d/61-modbus-sim.rules; fi
check "its memory is limited" has MemoryMax 536870912
check "its thread for the lines alone is real-time" only_first_is_rr
threads | sed 's/^/        thread, class, priority, nice: /'
check "that of REST has nice 10 in the normal class" desk

echo "== the thread of REST is replaced"
# The unit as it is, with a Node that ends this thread on SIGUSR2: the program itself has no such way.
there mkdir -p /etc/systemd/system/modbus-sim.service.d
there sh -c 'cat > /usr/local/share/trial.cjs' <<'JS'
let desk;
process.on('worker', (worker) => { desk = worker; });
process.on('SIGUSR2', () => desk.terminate());
JS
there sh -c 'printf "[Service]\nEnvironment=NODE_OPTIONS=--require=/usr/local/share/trial.cjs\n" \
  > /etc/systemd/system/modbus-sim.service.d/trial.conf'
there systemctl daemon-reload
there systemctl restart modbus-sim.service
keep=$(property MainPID)
first=$(desk)
there systemctl kill --kill-whom=main -s USR2 modbus-sim.service
check "the journal says so" within 20 journal "REST is available again"
check "REST answers" within 5 rest_answers
check "the process is the same" has MainPID "$keep"
check "the thread for the lines alone is real-time, as before" only_first_is_rr
check "the new one of REST has nice 10 in the normal class" within 5 another_desk "$first"
threads | sed 's/^/        thread, class, priority, nice: /'
check "a request is answered" asks_tcp 5020
there rm -r /etc/systemd/system/modbus-sim.service.d /usr/local/share/trial.cjs
there systemctl daemon-reload

echo "== boot"
halt
boot
check "the service is active after a boot" within 20 has ActiveState active
check "a request is answered" asks_tcp 5020
ready=$(property ActiveEnterTimestampMonotonic)
begun=$(there systemctl show -p UserspaceTimestampMonotonic --value)
started=$(property ExecMainStartTimestampMonotonic)
echo "        ready $(((ready - begun) / 1000)) ms after the start of systemd, $(((ready - started) / 1000)) ms after its own"

echo "== reload"
keep=$(property MainPID)
config "$(sed 's/port: 5020/port: 5021/' packaging/config.yaml)"
check "a right file is taken" there systemctl reload modbus-sim.service
check "and acts" within 10 asks_tcp 5021
config 'lines: 7'
check "the journal says what it has changed" journal "changed: line lan"
check "a wrong file is refused, and systemctl fails" refused there systemctl reload modbus-sim.service
check "the journal says what is wrong with it" journal "lines: expected" -p err
check "a wrong file is refused when SIGHUP comes without systemctl" there systemctl kill -s HUP modbus-sim.service
check "and the status says so" within 5 status_is "reload: /etc/modbus-sim/config.yaml"
check "the lines serve as before" asks_tcp 5021
check "the process is the same" has MainPID "$keep"

echo "== remote access"
there sh -c 'umask 077; echo 0123456789abcdef0123456789abcdef > /etc/modbus-sim/token'
config 'devices: {meter: {registers: {holding: [{address: 0, value: [1, 2, 3], write: true}]}}}
lines: {lan: {tcp: {port: 5020}, units: {1: meter}}}
api: {host: 0.0.0.0, port: 8080}'
check "REST listens on all addresses (AF_NETLINK)" there systemctl restart modbus-sim.service
check "a reload works there, too" there systemctl reload modbus-sim.service
config 'devices: {meter: {registers: {holding: [{address: 0, value: [1, 2, 3], write: true}]}}}
lines: {lan: {tcp: {port: 5021}, units: {1: meter}}}
api: {host: 0.0.0.0, port: 8080}'
check "and what the file has changed" there systemctl reload modbus-sim.service
check "acts" asks_tcp 5021
config 'devices: {meter: {registers: {holding: [{address: 0, value: [1, 2, 3], write: true}]}}}
lines: {lan: {tcp: {port: 5020}, units: {1: meter}}}
api: {host: 0.0.0.0, port: 8080, maxConnections: 7}'
check "what needs a restart is a warning" there systemctl reload modbus-sim.service
check "and the journal says what it is" journal "api: takes effect at the next restart" -p warning
check "the rest is changed" asks_tcp 5020
check "root asks by hand" prints "api: takes effect at the next restart" there modbus-sim reload
check "nobody else may" prints "permission denied" as tester modbus-sim reload
there sh -c 'head -c 1000000 /dev/zero | timeout 5 node -e "
  const client = require(\"node:net\").connect(\"/run/modbus-sim/reload.sock\");
  client.on(\"error\", () => {}); process.stdin.pipe(client)"'
check "a megabyte of zeros on the socket disturbs nobody" asks_tcp 5020
check "check by hand says whose the token is" prints "the token comes from a credential of the service" there modbus-sim check /etc/modbus-sim/config.yaml
check "and finds no mistake" there modbus-sim check /etc/modbus-sim/config.yaml
check "also as the user of the service" as modbus-sim modbus-sim check /etc/modbus-sim/config.yaml
check "without the token nobody gets in" rest_status 401 http://127.0.0.1:8080/api/v1/lines
check "with the token of the credential one does" rest_status 200 http://127.0.0.1:8080/api/v1/lines 0123456789abcdef0123456789abcdef
check "the token's file is for root alone" refused as modbus-sim cat /etc/modbus-sim/token
check "any user may check the configuration that needs it" as stranger modbus-sim check /etc/modbus-sim/config.yaml
low='devices: {meter: {registers: {holding: [{address: 0, value: [1, 2, 3], write: true}]}}}
lines: {lan: {tcp: {port: 502}, units: {1: meter}}, safe: {udp: {port: 802}, units: {1: meter}}}'
config "$low"
check "port 502 is refused without the drop-in" refused there systemctl restart modbus-sim.service
check "and the journal says why" journal "ports below 1024 need"
there mkdir -p /etc/systemd/system/modbus-sim.service.d
there cp /usr/share/doc/modbus-sim/examples/privileged-ports.conf /etc/systemd/system/modbus-sim.service.d/
there systemctl daemon-reload
check "with the drop-in the service starts on 502 and 802" there systemctl restart modbus-sim.service
check "and answers on 502" asks_tcp 502
there rm -r /etc/systemd/system/modbus-sim.service.d /etc/modbus-sim/token

echo "== a port that the service may not open"
there mknod -m 660 /dev/ttyUSB7 c 188 7
there chgrp dialout /dev/ttyUSB7
config 'devices: {meter: {registers: {}}}
lines: {bench: {serial: {path: /dev/ttyUSB7}, units: {1: meter}}}'
there systemctl daemon-reload
there systemctl restart modbus-sim.service >/dev/null 2>&1
check "the message names the device policy" within 5 journal "forbidden by the device policy"
there systemctl stop modbus-sim.service
there rm /dev/ttyUSB7

echo "== an adapter that is missing at the start"
config 'devices: {meter: {registers: {holding: [{address: 0, value: [1, 2, 3], write: true}]}}}
start: waiting
lines: {lan: {tcp: {port: 5020}, units: {1: meter}}, bench: {serial: {path: /dev/ttyUSB0}, units: {1: meter}}}'
check "the service starts without it" there systemctl restart modbus-sim.service
check "and is active" has ActiveState active
check "its status names the line" status_is "1 line open, 1 waiting for /dev/ttyUSB0"
check "the journal says so" journal "line did not open, waiting until it does"
check "journalctl -p warning shows it" journal "line did not open" -p warning
check "and not what is well" refused journal "line open" -p warning
check "there is no JSON in the journal" refused journal '{"level"'
check "the other line serves" asks_tcp 5020
halt
boot
check "after a boot it is active, too" within 20 has ActiveState active
check "and waits" within 5 status_is "1 waiting for /dev/ttyUSB0"

echo "== state"
config 'devices: {meter: {registers: {holding: [{address: 0, value: [1, 2, 3], write: true}]}}}
state: keep
lines: {lan: {tcp: {port: 5020}, units: {1: meter}}}'
there systemctl restart modbus-sim.service
check "a register is written" writes_tcp 5020 4711
sleep 1.5
count=$(property NRestarts)
there systemctl kill -s KILL modbus-sim.service
check "killed, the service is started again" within 20 restarted "$count"
check "the register has its value" within 5 reads_tcp 5020 4711
check "another value is written" writes_tcp 5020 4712
there systemctl restart modbus-sim.service
check "and is there after a restart at once" within 5 reads_tcp 5020 4712
check "the state is in the directory of the service" there sh -c 'test -f /var/lib/modbus-sim/device-meter-*.json'
there sh -c 'echo broken > "$(echo /var/lib/modbus-sim/device-meter-*.json)"'
there systemctl kill -s KILL modbus-sim.service
check "with a damaged state the service starts" within 20 has ActiveState active
check "and its register is as the file says" within 10 reads_tcp 5020 1
check "the journal says so" journal "state set aside"
there sh -c 'rm -f /var/lib/modbus-sim/*'

echo "== template instances"
there sh -c 'cat > /etc/modbus-sim/bench.yaml' <<'YAML'
devices: {meter: {registers: {holding: [{address: 0, value: [1, 2, 3]}]}}}
lines: {demo: {serial: {path: virtual}, units: {1: meter}}, lan: {tcp: {port: 5030}, units: {1: meter}}}
api: {port: 8081}
YAML
check "modbus-sim@bench starts" there systemctl enable --now modbus-sim@bench.service
check "and answers" asks_tcp 5030
check "REST has the port of its file" rest_status 200 http://127.0.0.1:8081/healthz
# By %-escapes systemd has a space and a percent sign in a name; the udev rule makes those with a colon.
port=5040
for name in usb-1-1.2:1.0 usb-1-1.2:1.1 'my\x20bench' '50\x25'; do
  port=$((port + 1))
  unit="modbus-sim@$name.service"
  there sh -c 'cat > "/etc/modbus-sim/$0.yaml"' "$name" <<YAML
devices: {meter: {registers: {holding: [{address: 0, value: [1, 2, 3], write: true}]}}}
state: keep
lines: {demo: {serial: {path: virtual}, units: {1: meter}}, lan: {tcp: {port: $port}, units: {1: meter}}}
YAML
  check "modbus-sim@$name starts without a port for REST" there systemctl start "$unit"
  check "and its status says which one it has" status_is "REST on http://127.0.0.1:"
  check "its virtual line has a directory of its own" there test -c "/run/modbus-sim@/$name/demo"
  check "a reload works" there systemctl reload "$unit"
  check "a register is written" writes_tcp "$port" "$port"
  there systemctl restart "$unit"
  check "and is there after a restart" within 5 reads_tcp "$port" "$port"
  check "its state has a directory of its own" there sh -c 'test -f "/var/lib/modbus-sim/$0/"device-meter-*.json' "$name"
  there systemctl stop "$unit"
  there rm "/etc/modbus-sim/$name.yaml"
done
unit=modbus-sim.service

echo "== without koffi, as on an ARMv6"
there mv /usr/lib/modbus-sim/node_modules/koffi /usr/lib/modbus-sim/node_modules/koffi.off
config "$(cat packaging/config.yaml)"
if at_least 253; then
  check "the service starts" there systemctl restart modbus-sim.service
  check "the TCP line serves" asks_tcp 5020
  check "the status names the line that can't" status_is "1 line open, 1 failed on virtual"
  check "and the journal says why" journal "no pseudo-terminal for the virtual line: koffi did not load" -p err
fi
there mv /usr/lib/modbus-sim/node_modules/koffi.off /usr/lib/modbus-sim/node_modules/koffi

echo "== watchdog and restart"
config "$(cat packaging/config.yaml)"
there systemctl start modbus-sim.service
count=$(property NRestarts)
there systemctl kill -s KILL modbus-sim.service
check "killed, it is started again" within 20 restarted "$count"
check "and answers" within 5 asks_tcp 5020
count=$(property NRestarts)
there systemctl kill --kill-whom=main -s STOP modbus-sim.service
SECONDS=0
check "stopped (SIGSTOP), it is noticed and started again" within 60 restarted "$count"
echo "        after $SECONDS s"
check "and answers" within 5 asks_tcp 5020

check "its thread for the lines alone is real-time" only_first_is_rr

if at_least 254; then
  echo "== restart delays"
  # The same unit with shorter times: 1 s, growing to 27 s, and 10 healthy seconds.
  conf=/usr/lib/systemd/system/modbus-sim.service.d/50-modbus-sim.conf
  there mkdir -p /etc/systemd/system/modbus-sim.service.d
  there sh -c 'printf "[Service]\nRestartSec=1\nRestartSteps=3\nRestartMaxDelaySec=27\nExecStartPost=\n%s\n" \
    "$(grep ^ExecStartPost= "$0" | sed "s/sleep 600/sleep 10/")" > /etc/systemd/system/modbus-sim.service.d/trial.conf' "$conf"
  there systemctl daemon-reload
  there systemctl restart modbus-sim.service
  for crash in 1 2 3; do
    SECONDS=0
    count=$(property NRestarts)
    there systemctl kill -s KILL modbus-sim.service
    check "crash $crash: it is started again" within 60 restarted "$count"
    echo "        after $SECONDS s"
  done
  check "after a healthy time its restarts are forgotten" within 20 has NRestarts 0
  SECONDS=0
  there systemctl kill -s KILL modbus-sim.service
  check "and the next delay is the first one" within 60 restarted 0
  echo "        after $SECONDS s"
  there rm -r /etc/systemd/system/modbus-sim.service.d
  there systemctl daemon-reload
  there systemctl restart modbus-sim.service
fi

echo "== upgrade"
there sh -c 'echo "# edited" >> /etc/modbus-sim/config.yaml'
dpkg-deb -R "$package" "$work/newer"
sed -i 's/^Version: .*/&+trial/' "$work/newer/DEBIAN/control"
echo '# of the newer package' >>"$work/newer/etc/modbus-sim/config.yaml"
dpkg-deb --root-owner-group -Zgzip --build "$work/newer" "$root/root/newer.deb" >/dev/null
before=$(property MainPID)
check "dpkg upgrades it" there dpkg --force-confold -i /root/newer.deb
check "the edited configuration is kept" there grep -q '^# edited' /etc/modbus-sim/config.yaml
check "the service was started anew" refused has MainPID "$before"
check "and the instance" there systemctl is-active modbus-sim@bench.service
check "both answer" asks_tcp 5030
check "a second package of the same version installs, too" there dpkg --force-confold -i /root/newer.deb

echo "== remove and purge"
check "dpkg removes it" there dpkg -r modbus-sim
check "nothing of it runs" refused there pgrep -f /usr/lib/modbus-sim/
check "its configuration is kept" there test -f /etc/modbus-sim/config.yaml
check "it can be installed again" there dpkg --force-confold -i /root/modbus-sim.deb
check "and serves" within 10 asks_tcp 5020
check "dpkg purges it" there dpkg -P modbus-sim
check "purge leaves the configuration that somebody has written" there test -f /etc/modbus-sim/bench.yaml
there rm -rf /etc/modbus-sim
files >"$work/files-after"
check "purge leaves no file" diff "$work/files-before" "$work/files-after"
check "and no user" diff "$work/passwd-before" "$root/etc/passwd"

echo "== scores (systemd $(there systemctl --version | sed -n '1s/systemd \([0-9]*\).*/\1/p'))"
there dpkg -i /root/modbus-sim.deb >/dev/null 2>&1
for unit in modbus-sim.service modbus-sim@.service; do
  there systemd-analyze security --offline=true --no-pager "/usr/lib/systemd/system/$unit" | tail -1 | sed 's/^/        /'
done
if [ "$failed" -gt 0 ]; then echo "$failed FAILED"; else echo "all held"; fi
exit "$((failed > 0))"
