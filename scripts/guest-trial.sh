#!/usr/bin/env bash
# Tries the Debian package on a processor of a Raspberry Pi with serial ports that have drivers: a Debian 13 in QEMU, with a
# PL011 (ttyAMA0), a 16550A (ttyS0) and an FTDI adapter behind a hub (ttyUSB0), which is pulled out and put back in. Prints
# what held. As root, after `npm run package`; needs mmdebstrap, qemu-user-static, qemu-system-arm, ssh and python3:
#   sudo scripts/guest-trial.sh          on arm64
#   sudo scripts/guest-trial.sh armhf
#   sudo RELEASE=stable scripts/guest-trial.sh   another name of the release, where the mirror's trixie is half renewed
#   sudo PACKAGE=FILE.deb scripts/guest-trial.sh   another package than that of build/packages
# Takes five minutes, the first time five more for the root (build/trixie-arm64-root.tar). QEMU has no baud rate, no
# RS-485 line and no speed of a Raspberry Pi: whoever needs those needs the hardware.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2

architecture=${1:-arm64}
case $architecture in
  arm64) kernel=linux-image-arm64 machine=(qemu-system-aarch64 -M virt -cpu cortex-a72) ;;
  armhf) kernel=linux-image-armmp machine=(qemu-system-arm -M "virt,highmem=off" -cpu cortex-a15) ;;
  *) echo "usage: guest-trial.sh [arm64|armhf]" >&2; exit 2 ;;
esac
package=${PACKAGE:-$(ls -t "$PWD"/build/packages/modbus-sim_*_"$architecture".deb 2>/dev/null | head -1)}
[ -n "$package" ] || { echo "no package for $architecture in build/packages: npm run package" >&2; exit 2; }
release=${RELEASE:-trixie}
base=$PWD/build/$release-$architecture-root.tar
work=$(mktemp -d /var/tmp/modbus-sim-guest.XXXXXX)
root=$work/root
qemu=
held=0
failed=0

clean_up() {
  if [ -n "$qemu" ]; then kill -KILL "$qemu" 2>/dev/null; fi
  rm -rf "$work"
}
trap clean_up EXIT

# Without the kernel's package and initramfs-tools, whose scripts take longest in an emulated processor: the kernel is unpacked.
if [ ! -f "$base" ]; then
  echo "making a Debian ($base)"
  timeout 1800 mmdebstrap --quiet --mode=root --variant=minbase --architectures="$architecture" \
    --aptopt='APT::Install-Recommends "false"' \
    --include=systemd,systemd-sysv,dbus,udev,kmod,procps,libnss-systemd,nodejs,passwd,iproute2,openssh-server \
    --customize-hook='chroot "$1" sh -c "cd /boot && apt-get download busybox-static \
      \$(apt-cache depends '"$kernel"' | sed -n \"s/ *Depends: //p\")"' \
    "$release" "$work/base.tar" http://deb.debian.org/debian </dev/null || exit 2
  mv "$work/base.tar" "$base"
fi

# A disk with the system, its network and a key for root, and a first system in memory that loads what is needed to mount it.
make_guest() {
  local version module file
  mkdir "$root" && tar -xpf "$base" -C "$root" || return 1
  dpkg-deb --fsys-tarfile "$root"/boot/linux-image-*.deb | tar -x --keep-directory-symlink -C "$root" || return 1
  version=$(basename "$root"/boot/vmlinuz-*) && version=${version#vmlinuz-}
  mv "$root/boot/vmlinuz-$version" "$work/vmlinuz"
  depmod -b "$root" "$version" || return 1
  mkdir -p "$work/first"/{bin,dev,proc,sys,mnt,modules} "$work/busybox"
  dpkg-deb -x "$root"/boot/busybox-static*.deb "$work/busybox"
  find "$work/busybox" -name busybox -type f -size +100k -exec cp {} "$work/first/bin/" \;
  rm "$root"/boot/*.deb
  for module in virtio_pci virtio_blk ext4; do
    modprobe -d "$root" -S "$version" --show-depends "$module"
  done | awk '$1 == "insmod" && !seen[$2]++ {print $2}' | while read -r file; do
    module=$(basename "$file" .xz)
    case $file in *.xz) xz -dc "$file" ;; *) cat "$file" ;; esac >"$work/first/modules/$module"
    echo "$module" >>"$work/first/modules/order"
  done
  cat >"$work/first/init" <<'SH'
#!/bin/busybox sh
/bin/busybox mount -t proc none /proc
/bin/busybox mount -t sysfs none /sys
/bin/busybox mount -t devtmpfs none /dev
while read -r module; do /bin/busybox insmod "/modules/$module"; done </modules/order
for _ in $(/bin/busybox seq 100); do [ -b /dev/vda ] && break; /bin/busybox sleep 0.2; done
/bin/busybox mount -t ext4 /dev/vda /mnt
/bin/busybox mount --move /dev /mnt/dev
/bin/busybox umount /proc /sys
exec /bin/busybox switch_root /mnt /sbin/init
SH
  chmod 755 "$work/first/init"
  (cd "$work/first" && find . | cpio -o -H newc --quiet | gzip -1) >"$work/initrd"

  cp "$package" "$root/root/modbus-sim.deb"
  ssh-keygen -q -t ed25519 -N '' -f "$work/key"
  install -D -m 600 "$work/key.pub" "$root/root/.ssh/authorized_keys"
  chmod 700 "$root/root/.ssh"
  printf '[Match]\nType=ether\n[Network]\nAddress=10.0.2.15/24\n' >"$root/etc/systemd/network/guest.network"
  systemctl --quiet --root="$root" enable systemd-networkd.service 2>/dev/null
  truncate -s 2500M "$work/disk"
  mke2fs -q -t ext4 -d "$root" "$work/disk" || return 1
  rm -rf "$root"
}

boot() {
  port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  "${machine[@]}" -accel tcg,thread=multi -m 1024 -smp 2 -display none -no-reboot \
    -kernel "$work/vmlinuz" -initrd "$work/initrd" -append "console=hvc0 systemd.getty_auto=no" \
    -drive "file=$work/disk,format=raw,if=none,id=disk,cache=unsafe" -device virtio-blk-pci,drive=disk \
    -device virtio-serial-pci -chardev "file,id=console,path=$work/console.log" -device virtconsole,chardev=console \
    -serial "unix:$work/ttyAMA0,server=on,wait=off" \
    -chardev "socket,id=isa,path=$work/ttyS0,server=on,wait=off" -device pci-serial,chardev=isa \
    -device qemu-xhci,id=usb -device usb-hub,bus=usb.0,port=1 \
    -chardev "socket,id=ftdi,path=$work/ttyUSB0,server=on,wait=off" \
    -netdev "user,id=net,restrict=on,hostfwd=tcp:127.0.0.1:$port-:22" -device virtio-net-pci,netdev=net,romfile= \
    -qmp "unix:$work/qmp,server=on,wait=off" >"$work/qemu.log" 2>&1 </dev/null &
  qemu=$!
  within 240 there true 2>/dev/null && return
  echo "the guest did not come up:" >&2
  tail -20 "$work/qemu.log" "$work/console.log" >&2
  exit 2
}

# Runs a command in the guest.
there() {
  timeout 120 ssh -i "$work/key" -p "$port" -o ConnectTimeout=20 -o ControlMaster=auto -o ControlPath="$work/ssh" \
    -o ControlPersist=yes -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR \
    root@127.0.0.1 "$(printf '%q ' "$@")"
}

check() {
  local name=$1
  shift
  if "$@" >"$work/said" 2>&1; then
    echo "ok      $name"
    held=$((held + 1))
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
    sleep 0.5
  done
}

cat >"$work/wire.py" <<'PY'
"""The other end of a serial port (ask, write), and the one who plugs the adapter in (plug, unplug)."""
import json, socket, sys, time

def crc(data):
    value = 0xFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = (value >> 1) ^ (0xA001 if value & 1 else 0)
    return value.to_bytes(2, "little")

def request(port, pdu, length):
    """The PDU of the reply of unit 1, without its function code; nothing when none comes within 5 s."""
    port.settimeout(5)
    port.sendall(b"\x01" + pdu + crc(b"\x01" + pdu))
    reply = b""
    try:
        while len(reply) < length:
            reply += port.recv(256)
    except socket.timeout:
        return None
    right = reply[:2] == b"\x01" + pdu[:1] and crc(reply[:-2]) == reply[-2:]
    return reply[2:-2] if right else None

def monitor(path, command, awaited=None, **arguments):
    with socket.socket(socket.AF_UNIX) as end:
        end.settimeout(20)
        end.connect(path)
        lines = end.makefile("rw")
        lines.readline()
        for order in ({"execute": "qmp_capabilities"}, {"execute": command, "arguments": arguments}):
            lines.write(json.dumps(order) + "\n")
            lines.flush()
            answer = json.loads(lines.readline())
            while "event" in answer:
                if answer["event"] == awaited:
                    awaited = None
                answer = json.loads(lines.readline())
            if "error" in answer:
                sys.exit(str(answer["error"]))
        while awaited is not None and json.loads(lines.readline()).get("event") != awaited:
            pass

action, path, *rest = sys.argv[1:]
if action == "plug":
    monitor(path, "device_add", driver="usb-serial", id="adapter", bus="usb.0", port="1.2", chardev="ftdi", serial="TRIAL1",
            **{"always-plugged": True})
elif action == "unplug":
    monitor(path, "device_del", "DEVICE_DELETED", id="adapter")
else:
    with socket.socket(socket.AF_UNIX) as port:
        port.connect(path)
        if action == "write":
            value = int(rest[0]).to_bytes(2, "big")
            sys.exit(0 if request(port, b"\x06\x00\x00" + value, 8) == b"\x00\x00" + value else "not written")
        # What the port had before somebody listened.
        time.sleep(0.2)
        port.setblocking(False)
        try:
            port.recv(4096)
        except BlockingIOError:
            pass
        count, expected = int(rest[0]), b"\x02" + int(rest[1]).to_bytes(2, "big")
        begun = time.monotonic()
        answered = sum(request(port, b"\x03\x00\x00\x00\x01", 7) == expected for _ in range(count))
        print(f"{answered} of {count}, {(time.monotonic() - begun) * 1000 / count:.0f} ms each")
        sys.exit(answered != count)
PY
wire() { timeout 150 python3 "$work/wire.py" "$@"; }
asks() { wire ask "$work/$1" "$2" "$3"; }
# For what depends on the start of the program, which takes up to a minute here.
asks_soon() { within 120 asks "$1" 1 "$3" >/dev/null 2>&1; asks "$@"; }

unit=modbus-sim.service
instance=modbus-sim@usb-1-1.2:1.0.service
property() { there systemctl show "$unit" -p "$1" --value; }
has() { [ "$(property "$1")" = "$2" ]; }
status_is() { property StatusText | grep -Fq -- "$1"; }
journal() { there journalctl -u "$unit" -o cat --no-pager | grep -Fq -- "$1"; }
config() { there sh -c 'cat > "/etc/modbus-sim/$0.yaml"' "$1" <<<"$2"; }
refused() { ! "$@"; }
rest_status() {
  [ "$(there node -e 'fetch(process.argv[1], {headers: process.argv[2] ? {authorization: `Bearer ${process.argv[2]}`} : {}})
    .then((r) => console.log(r.status), (e) => console.log(e.message))' "$2" "${3:-}")" = "$1" ]
}
# The flags of struct serial_rs485, by TIOCGRS485 (0x542e): 1 is on, 2 raises RTS to send.
rs485_flags() {
  there perl -e 'use Fcntl; sysopen(P, $ARGV[0], O_RDWR | O_NOCTTY | O_NONBLOCK) or die $!; $b = "\0" x 32;
    ioctl(P, 0x542e, $b) or die $!; print unpack("L", $b), "\n"' "$1"
}
# One thread in the real-time class, the first one; one of the others, that of REST, has nice 10.
threads_are_right() {
  there ps -L -o cls=,ni= -p "$(property MainPID)" | tee /dev/stderr |
    awk 'NR == 1 && $1 != "RR" || NR > 1 && $1 == "RR" {wrong = 1} $1 == "TS" && $2 == 10 {n++} END {exit wrong || n != 1}'
}
rs485_is() {
  local flags
  flags=$(rs485_flags "$1")
  echo "the flags are $flags"
  [ "$flags" = "$2" ]
}

make_guest || { echo "the guest could not be made" >&2; exit 2; }
SECONDS=0
boot
echo "Debian $(there cat /etc/debian_version), $(there uname -r), $(there uname -m), Node $(there node --version); up after $SECONDS s"

echo "== install"
check "dpkg installs it" there dpkg -i /root/modbus-sim.deb
check "the service is active" within 120 has ActiveState active
check "its status names its lines" within 20 status_is "2 lines open"
check "its thread for the lines is real-time, that of REST has nice 10" within 10 threads_are_right
ready=$(property ActiveEnterTimestampMonotonic)
started=$(property ExecMainStartTimestampMonotonic)
echo "        ready $(((ready - started) / 1000)) ms after its start, $(there grep VmRSS "/proc/$(property MainPID)/status" | tr -s '\t ' ' ')"

echo "== serial ports"
devices='devices: {meter: {registers: {holding: [{address: 0, value: [1, 2, 3], write: true}]}}}
start: waiting'
two_ports="$devices
lines:
  uart: {serial: {path: /dev/ttyAMA0, baudRate: 9600, parity: none, rs485: {mode: kernel}}, units: {1: meter}}
  pci: {serial: {path: /dev/ttyS0, baudRate: 9600, parity: none}, units: {1: meter}}"
token=0123456789abcdef0123456789abcdef
there sh -c 'umask 077; echo "$0" > /etc/modbus-sim/token' "$token"
config config "$two_ports
api: {host: 0.0.0.0, port: 8080}"
check "the RS-485 mode of the PL011 is off before" rs485_is /dev/ttyAMA0 2
check "the service starts with both, and a token" there systemctl restart "$unit"
check "both are open" within 20 status_is "2 lines open"
check "20 of 20 requests on the PL011" asks_soon ttyAMA0 20 1
sed 's/^/        /' "$work/said"
check "20 of 20 on the 16550A" asks_soon ttyS0 20 1
sed 's/^/        /' "$work/said"
check "the driver of the PL011 has the RS-485 mode" rs485_is /dev/ttyAMA0 3

echo "== reload with a token"
keep=$(property MainPID)
config config "$two_ports
  lan: {tcp: {port: 5020}, units: {1: meter}}
api: {host: 0.0.0.0, port: 8080}"
check "systemctl reload takes the file" there systemctl reload "$unit"
check "and what it adds is there" within 20 status_is "3 lines open"
check "REST takes the token" rest_status 200 http://127.0.0.1:8080/api/v1/lines $token
check "and asks for it" rest_status 401 http://127.0.0.1:8080/api/v1/lines
config config 'lines: 7'
check "a wrong file is refused" refused there systemctl reload "$unit"
check "and the PL011 serves as before" asks ttyAMA0 5 1
check "the process is the same" has MainPID "$keep"

echo "== an adapter, and a service of its own"
unit=$instance
link=/dev/serial/by-id/usb-QEMU_QEMU_USB_SERIAL_TRIAL1-if00-port0
config usb-1-1.2:1.0 "$devices
state: keep
lines: {bench: {serial: {path: $link, baudRate: 9600, parity: none}, units: {1: meter}}}"
check "the adapter is plugged in" wire plug "$work/qmp"
check "it has its name by its serial number" within 30 there test -c "$link"
check "and that of the package" there test -c /dev/modbus-sim/TRIAL1
check "udev starts $instance" within 120 has ActiveState active
check "its line is open" within 60 status_is "1 line open"
check "20 of 20 requests on the FTDI" asks_soon ttyUSB0 20 1
sed 's/^/        /' "$work/said"
check "the udev rule made its latency 1 ms" there grep -qx 1 /sys/bus/usb-serial/devices/ttyUSB0/latency_timer
check "a register is written" wire write "$work/ttyUSB0" 4711
check "the service is restarted" there systemctl restart "$instance"
check "and the register has its value (state: keep)" asks_soon ttyUSB0 5 4711
check "its state has a directory of its own" there sh -c 'test -f /var/lib/modbus-sim/usb-1-1.2:1.0/device-meter-*.json'

echo "== pulled out and put back in"
keep=$(property MainPID)
for round in 1 2 3 4 5; do
  check "round $round: without the adapter" wire unplug "$work/qmp"
  check "the line waits" within 30 status_is "1 waiting"
  check "and with it" wire plug "$work/qmp"
  SECONDS=0
  check "the line is open again" within 60 status_is "1 line open"
  echo "        after $SECONDS s"
  check "and answers 5 of 5, with its registers" asks ttyUSB0 5 4711
done
check "the process is the same" has MainPID "$keep"
unit=modbus-sim.service
check "the other service has served all the time" asks ttyS0 5 1
echo "        memory at most: $(($(property MemoryPeak) / 1000000)) and $(($(there systemctl show -P MemoryPeak "$instance") / 1000000)) MB"

echo "$held held, $failed did not"
exit "$((failed > 0))"
