#!/usr/bin/env bash
# Tries the ZIP file for Windows under Wine, with Node's own node.exe and serialport's own binding for Windows: unpacked,
# started by its command, asked over TCP and over a COM port that is a pseudo-terminal, spoilt, tested, unplugged, ended by
# Ctrl-C. Prints what held. Needs wine (Debian's 8.0, 64 bits), socat, mbpoll, curl, python3 and script(1), and takes four minutes:
#   npm run package -- windows && scripts/windows-trial.sh
# Wine is not Windows: its COM ports are terminals of Linux, and there are no drivers, no USB and no Device Manager.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2

zip=${PACKAGE:-$(ls -t build/packages/modbus-sim-*-windows-x64.zip 2>/dev/null | head -1)}
[ -n "$zip" ] || { echo "no ZIP file in build/packages: npm run package -- windows" >&2; exit 2; }
work=$(mktemp -d)
export WINEPREFIX=$work/prefix WINEDEBUG=-all NODE_SKIP_PLATFORM_CHECK=1
wine=${WINE:-/usr/lib/wine/wine64}
failed=0
pids=()
clean_up() {
  kill "${pids[@]}" "${line:-}" 2>/dev/null
  # Ends what runs in this prefix, and nothing else.
  timeout 20 wineserver -k 2>/dev/null || "$(dirname "$wine")/wineserver" -k 2>/dev/null
  rm -rf "$work"
}
trap clean_up EXIT

check() {
  local name=$1
  shift
  if "$@" >"$work/said" 2>&1; then
    echo "ok      $name"
  else
    echo "FAILED  $name"
    sed 's/^/        /' "$work/said" | tail -8
    failed=$((failed + 1))
  fi
}
prints() { grep -E -- "$1" <<<"$("${@:2}" 2>&1)"; }
within() {
  local limit=$((10 * $1))
  shift
  until "$@" >"$work/tried" 2>&1; do
    ((limit-- > 0)) || { cat "$work/tried"; return 1; }
    sleep 0.1
  done
}

python3 -m zipfile -e "$zip" "$work" || exit 2
home=$(echo "$work"/modbus-sim-*-windows-x64)
echo "        $(($(stat -c %s "$zip") / 1000000)) MB, unpacked $(($(du -sb "$home" | cut -f1) / 1000000)) MB"
timeout 120 "$wine" wineboot -i >/dev/null 2>&1
timeout 60 "$wine" winecfg -v win10 >/dev/null 2>&1

# Wine 8 has no pipes that libuv could use, so what the program prints goes to files.
sim() { (cd "$work" && timeout "${LIMIT:-60}" "$wine" "$home/node.exe" "$home/dist/main.js" "$@") </dev/null >"$work/out" 2>"$work/err"; }
# Runs a command of the program, and prints what it printed.
told() {
  sim "$@"
  local code=$?
  cat "$work/out" "$work/err"
  return "$code"
}
# Starts a program that serves. $1: the files for what it prints.
serve() {
  local name=$1
  shift
  (cd "$work" && exec "$wine" "$home/node.exe" "$home/dist/main.js" "$@") </dev/null >"$work/$name.out" 2>"$work/$name.err" &
  pids+=($!)
  within 60 grep -q '^ready' "$work/$name.out"
}
port_of() { sed -n "s/^line $2: .* on [^ ]*:\([0-9]*\),.*/\1/p" "$work/$1.out"; }
rest_of() { sed -n 's/^REST on //p' "$work/$1.out" | tr -d '\r'; }

# A pair of ports: COM5 of Windows, and $work/com5 for the client. A link to another link would not do.
plug() {
  socat "pty,raw,echo=0,link=$work/$1.windows" "pty,raw,echo=0,link=$work/$1" &
  line=$!
  within 10 test -e "$work/$1" || return 1
  ln -sf "$(readlink -f "$work/$1.windows")" "$WINEPREFIX/dosdevices/$1"
}
unplug() {
  kill "$line"
  wait "$line" 2>/dev/null
  rm -f "$WINEPREFIX/dosdevices/$1"
}
# $2: a value to write; without it, three registers are read.
poll_com() {
  local how=(-c 3 -1 "$work/$1")
  if [ -n "${2:-}" ]; then how=(-1 "$work/$1" "$2"); fi
  timeout 20 mbpoll -q -m rtu -b 19200 -P none -a 1 -t 4 -r 1 -o 2 "${how[@]}"
}
is_waiting() { prints '"state":"waiting"' curl -fsS "$1/api/v1/lines/bus"; }
poll_tcp() { timeout 20 mbpoll -q -m tcp -p "$1" -a 1 -t 4 -r 1 -c 3 -1 127.0.0.1; }

echo "— the command"
check "the command prints its version" prints '^[0-9]+\.[0-9]+\.[0-9]+' \
  sh -c "cd '$home' && timeout 60 '$wine' cmd /c modbus-sim.cmd --version >'$work/v' 2>&1 </dev/null; cat '$work/v'"
(cd "$home" && exec timeout 300 "$wine" cmd /c modbus-sim.cmd --free-ports) </dev/null >"$work/demo.out" 2>"$work/demo.err" &
pids+=($!)
check "without a file, it runs the demo" within 60 grep -q '^ready' "$work/demo.out"
check "which says where the console is" grep '^console: http://127.0.0.1:' "$work/demo.out"
check "and that RTU is on TCP here" grep -E '^line demo: RTU .*127\.0\.0\.1:[0-9]+' "$work/demo.out"
lan=$(port_of demo lan)
rest=$(rest_of demo)
check "mbpoll reads the demo over TCP" prints '\[3\]:.*2' poll_tcp "$lan"
check "REST lists its lines" prints '"demo".*"lan"' curl -fsS "$rest/api/v1/lines"
check "the console's page is served" prints '<script.*/assets/app-' curl -fsS "$rest/"
check "and what it loads" curl -fsS -o "$work/app.js" "$rest$(curl -fsS "$rest/" | grep -o '/assets/app-[A-Z0-9]*\.js')"
check "a second one on free ports does not disturb it" serve second --free-ports
check "mbpoll reads the first one still" prints '\[3\]:.*2' poll_tcp "$lan"

echo "— a serial line"
cat >"$work/bench.yaml" <<END
devices:
  meter:
    registers:
      holding: [{address: 0, value: [7, 8, 9], write: true}]
lines:
  # Without parity: the second program that opens a pseudo-terminal with one is refused (EINVAL), whatever opens it.
  bus: {serial: {path: COM5, baudRate: 19200, parity: none}, units: {1: meter}}
  lan: {tcp: {host: 127.0.0.1, port: 0}, units: {1: meter}}
api: {host: 127.0.0.1, port: 0}
END
printf '%s\r\n' "$(cat "$work/bench.yaml")" >"$work/crlf.yaml"
sed 's/COM5/COM12/' "$work/bench.yaml" >"$work/bench12.yaml"
sed 's/path: COM5/path: virtual/' "$work/bench.yaml" >"$work/virtual.yaml"
sed 's/parity: none/parity: none, rs485: {mode: rts}/' "$work/bench.yaml" >"$work/rts.yaml"
check "check: a file is right, also with lines that end in CR LF" told check crlf.yaml
check "check: a virtual line is an error that says what to write" prints 'lines\.bus\.serial\.path.*com0com' told check virtual.yaml
check "a port that does not exist is named" prints 'COM5: does not exist; modbus-sim ports' told --config bench.yaml
plug com5
check "ports prints a list" prints 'COM|no serial ports found' told ports
check "rs485: {mode: rts} says that it is not there" prints 'rs485: .*needs Linux, and this is Windows' told --config rts.yaml
check "serves on COM5, and keeps a state" serve bus --config bench.yaml --state state
rest=$(rest_of bus)
check "mbpoll reads over COM5" prints '\[3\]:.*9' poll_com com5
check "mbpoll writes over COM5" prints 'Written 1' poll_com com5 42
check "what it wrote is read over TCP" prints '\[1\]:.*42' poll_tcp "$(port_of bus lan)"
curl -fsS "$rest/api/v1/faults" -H 'content-type: application/json' \
  -d '{"name": "bad", "when": {"line": "bus", "count": 1}, "do": [{"crc": "invert"}]}' >/dev/null
check "a fault spoils one reply" prints 'Invalid CRC' poll_com com5
check "and one only" prints '\[1\]:.*42' poll_com com5
check "no reply left before its time" python3 - "$rest" <<'END'
import json, sys, urllib.request
def steps(value):
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    here = [value] if isinstance(value, dict) and {"plannedUs", "achievedUs"} <= value.keys() else []
    return here + [step for child in children for step in steps(child)]

found = steps(json.load(urllib.request.urlopen(sys.argv[1] + "/api/v1/exchanges?line=bus&limit=100")))
late = [step["achievedUs"] - step["plannedUs"] for step in found]
print(f"{len(late)} replies, late by {min(late)} to {max(late)} us")
assert min(late) >= 0
END
sed 's/^/        /' "$work/said"
curl -fsS "$rest/api/v1/capture.pcapng" -o "$work/bus.pcapng"
check "a capture is a pcapng file" prints '^0a0d0d0a' xxd -p -l 4 "$work/bus.pcapng"

echo "— unplugged and back"
unplug com5
check "a port that is pulled is told" within 20 is_waiting "$rest"
check "the line on TCP goes on" prints '\[3\]:.*9' poll_tcp "$(port_of bus lan)"
plug com5
check "it is served again when it is back" within 30 prints '\[1\]:.*42' poll_com com5

echo "— a scenario, a client test, a measurement"
cat >"$work/scenario.yaml" <<END
name: a client reads
devices: {meter: {registers: {holding: [{address: 0, value: [7, 8, 9]}]}}}
lines:
  lan: {tcp: {host: 127.0.0.1, port: 0}, units: {1: meter}}
  # Free ports make a socket of it.
  bus: {serial: {path: virtual}, units: {1: meter}}
steps:
  - {expect: {line: lan, unit: 1, function: 3}, within: 60s}
END
(cd "$work" && exec timeout 120 "$wine" "$home/node.exe" "$home/dist/main.js" test scenario.yaml --free-ports --junit junit.xml) </dev/null >"$work/test.out" 2>"$work/test.err" &
tested=$!
within 60 grep -q '^line lan' "$work/test.out"
poll_tcp "$(port_of test lan)" >/dev/null
check "test: a scenario passes" wait "$tested"
check "test: with its report" grep -q '<testsuites' "$work/junit.xml"
plug com12
(while sleep 0.2; do poll_com com12; done) >/dev/null 2>&1 &
client=$!
pids+=("$client")
LIMIT=300 told test-client bus --config bench12.yaml --checks time-out,wrong-crc >"$work/client"
check "test-client: what mbpoll does about lost and damaged replies" grep -E 'Discards a reply with a wrong CRC' "$work/client"
sed 's/^/        /' "$work/client" | head -12
LIMIT=120 told measure bus --config bench12.yaml >"$work/measured"
check "measure: what COM12 achieves" grep -E '^ *turnaround .*median' "$work/measured"
sed 's/^/        /' "$work/measured"
kill "$client"

echo "— the end"
# Only a terminal has a Ctrl-C, so script(1) gives one; what is printed goes to files all the same.
mkfifo "$work/keys"
(
  exec 7<>"$work/keys"
  cd "$work" && script -qfec "exec '$wine' '$home/node.exe' '$home/dist/main.js' --config bench12.yaml --free-ports >keys.out 2>keys.err" /dev/null <&7 >/dev/null 2>&1
  echo "$?" >"$work/code"
) &
pids+=($!)
check "it runs in a console" within 60 grep -q '^ready' "$work/keys.out"
check "and goes on until a key is pressed" test ! -e "$work/code"
printf '\003' >"$work/keys"
check "Ctrl-C ends it with exit code 0" within 10 grep -qx 0 "$work/code"

[ "$failed" -eq 0 ] && echo "all held" || echo "$failed did not hold"
exit "$((failed > 0))"
