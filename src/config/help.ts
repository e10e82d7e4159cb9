/** What `--help` prints. In a clone nothing is called `modbus-sim`, so it says what to type there. */
export const HELP = `modbus-sim: a Modbus server (slave) simulator for serial lines, TCP, UDP and TLS

In a clone, type node dist/main.js where it says modbus-sim here, or make it a command with npm link.

  modbus-sim                   run the built-in demo: a virtual serial line, also found at
                               /tmp/modbus-sim/demo, and TCP on 127.0.0.1:5020
  modbus-sim --config FILE     run what a file (YAML or JSON) describes
  modbus-sim check FILE        print every mistake of a file, native or pymodbus; exit 1 if there is one
  modbus-sim catalogue [ID]    list what real devices do wrong, or explain one of them with its sources
  modbus-sim import FILE       write a file from a table of registers (CSV) or the configuration of a client:
                               Telegraf, Home Assistant, ESPHome, modbus_exporter; from models of SunSpec or a dump of them; says
                               what was not understood, exit 1 if nothing was
  modbus-sim clone             read a real device (--serial PATH or --tcp HOST:PORT), never writing to it, and write
                               a file that answers as it does; exit 1 if no device was found
  modbus-sim learn FILE...     write a file of devices that answer as those in logs of clients or servers did
                               (pymodbus, libmodbus, hexadecimal lines), or in captures; -o FILE as of import;
                               --line NAME --url URL: what a line of a running simulator has heard;
                               --scenario FILE: also a test that expects the same requests of a client
  modbus-sim fleet VERB        ask or command all benches on an MQTT broker (--broker URL): list; run COMMAND [JSON];
                               fault apply FILE; fault clear [--all]; push FILE: a configuration, on all or none;
                               test FILE... and examine LINE on all at once; targets --file FILE for Prometheus.
                               --on GLOB and --label NAME=VALUE choose benches; exit 1 if one refused or is gone
  modbus-sim ports             list serial ports by their stable names
  modbus-sim reload [DIR]      have a running service read its configuration again, and print what was
                               changed and what was not; exit 1 if something was not. DIR is its runtime
                               directory: default RUNTIME_DIRECTORY, then /run/modbus-sim
  modbus-sim selftest LINE     measure what a line of the demo, or of --config FILE, achieves on this
                               machine; exit 1 if that is worse than configured. --seconds N: how long
                               to wait for requests on a real bus (default 10)
  modbus-sim test FILE...      run scenarios against a client and say how it behaved; exit 1 if a step did
                               not pass, 2 if a file or the bench is wrong
  modbus-sim examine LINE      watch the client that polls a line of the demo, or of --config FILE, then disturb
                               it and say how it behaves; exit 1 if a check failed, 2 if nobody polls
  modbus-sim monitor           print what passes the lines of a running simulator, one line a frame
  modbus-sim extcap --install [DIR]
                               make the lines of a running simulator interfaces of Wireshark;
                               MODBUS_SIM_URL in its environment: default http://127.0.0.1:8080

Which devices clone reads, and how
  --serial PATH, --tcp HOST:PORT
                               where they are; with --framing rtu, ascii or socket
  --baud N, --parity none|even|odd, --stop-bits 1|2
                               of the port (default: 19200, even, 1)
  --units LIST                 unit identifiers such as 1-10,20 (default: 1)
  --ranges LIST                addresses of each table (default: 0-9999,40000-40999)
  --pause TIME, --timeout TIME before each request, and for each reply (default: 10ms, 1s)
  --watch TIME                 read again after this time; values that rose become counters
  --probe-functions LIST       function codes that are sent too, without data
  --map FILE                   names and types from a file that import understands
  -o FILE, --output FILE, --force
                               as of import

What import reads and writes
  -o FILE, --output FILE       where it is written (default: standard output)
  --force                      overwrite that file
  --from KIND                  csv, telegraf, home-assistant, esphome, modbus-exporter, solarman, modbuspal or sunspec,
                               when the content does not say what it is

Which benches fleet asks
  --broker URL                 where the MQTT broker is; --username NAME, and MODBUS_SIM_MQTT_PASSWORD in
                               the environment; --ca FILE for mqtts:; --topic TOPIC has the states of benches;
                               --timeout TIME for each answer; --json FILE writes them; --watch lists again and
                               again; --junit, --html, --inconclusive, --set, --unit, --checks, --limit, --seed are
                               those of test and examine

Which frames monitor prints, and how
  --line NAME, --unit N, --function N
                               of these only; also several with commas, and ranges such as 1-9
  --hex                        with their bytes
  --url URL                    where its REST interface is (default http://127.0.0.1:8080)
  --token TOKEN                its token; MODBUS_SIM_TOKEN keeps it from the list of processes

Scenarios of test, and reports on them
  --set NAME=VALUE             a parameter of the scenarios; may be given again and again
  --junit FILE, --html FILE, --json FILE
                               write a report on all of them
  --inconclusive failure       JUnit counts an inconclusive step as a failure (default: skipped)
  --url URL, --token TOKEN     use a simulator that runs already

What examine does, and reports on it
  --list                       print all checks, with their rules and sources
  --unit N                     disturb only questions to this unit
  --checks NAME,...            only these checks or groups, and the checks that they need
  --limit TIME                 take no longer than this (default 10m); the other checks are not run
  --seed N                     of the order of checks and their random parts
  --dut COMMAND                start the client with this command, and stop it in the end; it may have
                               {lines.NAME.path}, {lines.NAME.host} and {lines.NAME.port} in it
  --restart                    start it again when it ends, and run the checks that are left
  --junit FILE, --html FILE, --json FILE
                               write a report
  --inconclusive failure       JUnit counts an inconclusive check as a failure (default: skipped)
  --url URL, --token TOKEN     examine a line of a simulator that runs already
  --witness-register DEVICE.NAME
                               what the client has read is in this register: it writes that back
  --witness-url URL, --witness-path PATH
                               it is on this page, or at this place in its JSON: values[0].voltage
  --witness-command COMMAND    this command prints it

Files of pymodbus.simulator
  --json_file FILE             its configuration file
  --modbus_server NAME         which of server_list (default: server, or the only one)
  --modbus_device NAME         which of device_list (default: device, or the only one)

REST interface, with all of them; goes before what the file says
  --http_host HOST             default 127.0.0.1; beyond loopback a token is needed
  --http_port PORT             default 8080, with --json_file 8081; 0 is any free port
  MODBUS_SIM_HTTP_PORT         environment: the port where neither this nor the file has one
  MODBUS_SIM_TOKEN             environment: the token that clients must send
  MODBUS_SIM_MQTT_PASSWORD     environment: the password at the MQTT broker

  --free-ports                 sockets listen on free ports of 127.0.0.1, REST too, and serial lines are virtual,
                               whatever the file says; also for test and examine. Ports and paths are printed
  --misbehave ID               all devices do wrong what this entry of the catalogue says
  --state DIR                  keep what changes at run time in DIR: it is there again after a restart. With
                               state: keep in the file, a service keeps it in its STATE_DIRECTORY
  --log LEVEL                  critical, error, warning, info or debug; default info, on a terminal warning
  --log_file FILE              log into a file instead of standard error
  --help, --version
`;
