/*
 * Traffic of public issue threads, typed again: the lines of the log that matter, and the replies to the same requests in their
 * order, as `request > reply`.
 */

interface Thread {
  /** The path of the thread on https://github.com/. */
  readonly thread: string;
  readonly what: string;
  readonly log: string;
  readonly exchanges: readonly string[];
}

export const THREADS: readonly Thread[] = [
  {
    thread: 'pymodbus-dev/pymodbus/issues/2709',
    what: 'the transaction identifier comes back swapped',
    log: `
send     ->: 00 01 00 00 00 06 01 03 0b b7 00 02
received <-: 01 00 00 00 00 07 01 03 04 00 00 00 00
`,
    exchanges: ['00 01 00 00 00 06 01 03 0b b7 00 02 > 01 00 00 00 00 07 01 03 04 00 00 00 00'],
  },
  {
    thread: 'pymodbus-dev/pymodbus/issues/2777',
    what: 'input registers of unit 0, each after 170 ms',
    log: `
2025-09-17 15:43:33,921 DEBUG transport:375 send: 0x0 0x12 0x0 0x0 0x0 0x6 0x0 0x4 0x1 0x35 0x0 0x1
2025-09-17 15:43:34,089 DEBUG transport:329 recv: 0x0 0x12 0x0 0x0 0x0 0x5 0x0 0x4 0x2 0x0 0x0 extra data:
2025-09-17 15:43:34,089 DEBUG base:72 Processing: 0x0 0x12 0x0 0x0 0x0 0x5 0x0 0x4 0x2 0x0 0x0
2025-09-17 15:43:34,091 DEBUG transport:375 send: 0x0 0x13 0x0 0x0 0x0 0x6 0x0 0x4 0x1 0x36 0x0 0x2
2025-09-17 15:43:34,261 DEBUG transport:329 recv: 0x0 0x13 0x0 0x0 0x0 0x7 0x0 0x4 0x4 0x0 0xf 0x42 0x3f extra data:
`,
    exchanges: [
      '00 12 00 00 00 06 00 04 01 35 00 01 > 00 12 00 00 00 05 00 04 02 00 00',
      '00 13 00 00 00 06 00 04 01 36 00 02 > 00 13 00 00 00 07 00 04 04 00 0f 42 3f',
    ],
  },
  {
    thread: 'ljean/modbus-tk/pull/182',
    what: 'bytes with hyphens between them',
    log: `
DEBUG:modbus_tk:-> 00-01-00-00-00-06-01-04-fa-01-00-1b
DEBUG:modbus_tk:<- 00-01-00-00-00-39-01-04-36-00-2a-37-4b-4d-33-32-32-30-2d-31-42-41-30-31-2d-31-4a-41-30-20-20-4c-51-4e-2f-32-32-30-35-33-31-38-38-30-30-30-38-00-01-44-03-03-00-00-00-f6-00-00-00-01-01-00-1e
`,
    exchanges: [
      '00 01 00 00 00 06 01 04 fa 01 00 1b > 00 01 00 00 00 39 01 04 36 00 2a 37 4b 4d 33 32 32 30 2d 31 42 41 30 31 2d 31 4a 41 30 20 20 4c 51 4e 2f 32 32 30 35 33 31 38 38 30 30 30 38 00 01 44 03 03 00 00 00 f6 00 00 00 01 01 00 1e',
    ],
  },
  {
    thread: 'davidrapan/ha-solarman/issues/506',
    what: 'RTU frames in the log of pymodbus',
    log: `
2025-04-03 19:32:56.060 DEBUG (MainThread) [pymodbus.logging] send: 0x1 0x3 0x0 0x6c 0x0 0x1 0x44 0x17
2025-04-03 19:32:56.090 DEBUG (MainThread) [pymodbus.logging] recv: 0x1 0x3 0x2 0x0 0x36 0x38 0x52 old_data:  addr=None
2025-04-03 19:32:56.090 DEBUG (MainThread) [pymodbus.logging] Processing: 0x1 0x3 0x2 0x0 0x36 0x38 0x52
2025-04-03 19:32:56.121 DEBUG (MainThread) [pymodbus.logging] send: 0x1 0x3 0x0 0x6d 0x0 0x1 0x15 0xd7
2025-04-03 19:32:56.151 DEBUG (MainThread) [pymodbus.logging] recv: 0x1 0x3 0x2 0x0 0x5 0x78 0x47 old_data:  addr=None
`,
    exchanges: [
      '01 03 00 6c 00 01 44 17 > 01 03 02 00 36 38 52',
      '01 03 00 6d 00 01 15 d7 > 01 03 02 00 05 78 47',
    ],
  },
  {
    thread: 'home-assistant/core/issues/115489',
    what: 'one register over and over',
    log: `
2024-04-13 15:04:44.885 DEBUG (MainThread) [pymodbus.logging] send: 0x1 0x3 0x0 0x74 0x0 0x1 0xc4 0x10
2024-04-13 15:04:44.916 DEBUG (MainThread) [pymodbus.logging] recv: 0x1 0x3 0x2 0x6 0x54 0xba 0x1b old_data:  addr=None
`,
    exchanges: ['01 03 00 74 00 01 c4 10 > 01 03 02 06 54 ba 1b'],
  },
  {
    thread: 'emelianov/modbus-esp8266/issues/109',
    what: 'the log of a server whose replies have transaction identifier 0',
    log: `
2021-02-23 16:40:49  RX(tcp): 02 08 00 00 00 06 A0 03 00 0E 00 0A 
2021-02-23 16:40:49  TX(tcp): 00 00 00 00 00 17 A0 03 14 41 56 45 A2 41 D1 DF 3B 42 43 CE 95 3F 80 00 00 00 00 00 00
`,
    exchanges: [
      '02 08 00 00 00 06 a0 03 00 0e 00 0a > 00 00 00 00 00 17 a0 03 14 41 56 45 a2 41 d1 df 3b 42 43 ce 95 3f 80 00 00 00 00 00 00',
    ],
  },
  {
    thread: 'stephane/libmodbus/issues/744',
    what: 'bytes that are no frame, and a right reply to another address',
    log: `
Opening /dev/ttyUSB0 at 9600 bauds (O, 8, 1)
[21][03][75][30][00][04][59][6A]
Waiting for a confirmation...
<21><00><00><00><00>
ERROR CRC received 0x0 != CRC calculated 0x21CA
[21][03][00][00][00][03][02][AB]
Waiting for a confirmation...
<21><03><06><00><00><00><00><00><21><78><AC>
`,
    exchanges: [
      '21 03 75 30 00 04 59 6a > 21 00 00 00 00',
      '21 03 00 00 00 03 02 ab > 21 03 06 00 00 00 00 00 21 78 ac',
    ],
  },
  {
    thread: 'stephane/libmodbus/issues/116',
    what: 'five zeros instead of a reply',
    log: `
[01][04][00][00][00][12][70][07]
Waiting for a confirmation...
 < 00 >< 00 >< 00 >< 00 >< 00 >
ERROR CRC received 0 != CRC calculated 71C0
`,
    exchanges: ['01 04 00 00 00 12 70 07 > 00 00 00 00 00'],
  },
  {
    thread: 'epsilonrt/libmodbuspp/issues/4',
    what: 'the log of a simulator, which received the request',
    log: `
Rx-> 01 03 00 F8 00 02 45 FA
Tx-> 01 03 04 00 00 40 40 CA 03
`,
    exchanges: ['01 03 00 f8 00 02 45 fa > 01 03 04 00 00 40 40 ca 03'],
  },
  {
    thread: 'evcc-io/evcc/issues/16992',
    what: 'a write with the date before it',
    log: `
[db:1 ] TRACE 2024/10/30 18:19:13 modbus: send 15 96 00 00 00 0b 47 10 04 12 00 02 04 00 00 42 be
[db:1 ] TRACE 2024/10/30 18:19:13 modbus: recv 15 96 00 00 00 06 47 10 04 12 00 02
`,
    exchanges: ['15 96 00 00 00 0b 47 10 04 12 00 02 04 00 00 42 be > 15 96 00 00 00 06 47 10 04 12 00 02'],
  },
  {
    thread: 'evcc-io/evcc/issues/24812',
    what: 'input registers of a charger',
    log: `
[alpitronic] TRACE 2026/02/05 09:37:35 modbus: send 00 c3 00 00 00 06 01 04 00 84 00 04
[alpitronic] TRACE 2026/02/05 09:37:35 modbus: recv 00 c3 00 00 00 0b 01 04 08 00 00 00 00 00 1d 6a 04
[alpitronic] TRACE 2026/02/05 09:37:35 modbus: send 00 c4 00 00 00 06 01 04 00 64 00 01
[alpitronic] TRACE 2026/02/05 09:37:35 modbus: recv 00 c4 00 00 00 05 01 04 02 00 01
`,
    exchanges: [
      '00 c3 00 00 00 06 01 04 00 84 00 04 > 00 c3 00 00 00 0b 01 04 08 00 00 00 00 00 1d 6a 04',
      '00 c4 00 00 00 06 01 04 00 64 00 01 > 00 c4 00 00 00 05 01 04 02 00 01',
    ],
  },
  {
    thread: 'evcc-io/evcc/issues/12713',
    what: 'dates of syslog and of the program',
    log: `
Mar  6 16:25:15 raspberrypi evcc[14431]: [sunspec] TRACE 2024/03/06 16:25:15 modbus: send 00 09 00 00 00 06 47 03 9d b4 00 02
Mar  6 16:25:15 raspberrypi evcc[14431]: [sunspec] TRACE 2024/03/06 16:25:15 modbus: recv 00 09 00 00 00 07 47 03 04 ff ff 00 00
Mar  6 16:25:15 raspberrypi evcc[14431]: [sunspec] TRACE 2024/03/06 16:25:15 modbus: send 00 0b 00 00 00 06 47 03 9d 30 00 08
Mar  6 16:25:15 raspberrypi evcc[14431]: [sunspec] TRACE 2024/03/06 16:25:15 modbus: recv 00 0b 00 00 00 13 47 03 10 ff fe ff ff 00 00 00 00 00 00 00 00 00 02 00 00
`,
    exchanges: [
      '00 09 00 00 00 06 47 03 9d b4 00 02 > 00 09 00 00 00 07 47 03 04 ff ff 00 00',
      '00 0b 00 00 00 06 47 03 9d 30 00 08 > 00 0b 00 00 00 13 47 03 10 ff fe ff ff 00 00 00 00 00 00 00 00 00 02 00 00',
    ],
  },
  {
    thread: 'evcc-io/evcc/pull/5836',
    what: 'unit 255, between lines of a database',
    log: `
[db    ] INFO 2023/02/01 19:19:16 using sqlite database: /Users/someone/.evcc/evcc.db
[db    ] TRACE 2023/02/01 19:19:16 SELECT * FROM settings LIMIT 1 -1 <nil>
[dhl   ] TRACE 2023/02/01 19:19:16 modbus: send 00 01 00 00 00 06 ff 03 00 59 00 01
[dhl   ] TRACE 2023/02/01 19:19:16 modbus: recv 00 01 00 00 00 05 ff 03 02 00 1e
`,
    exchanges: ['00 01 00 00 00 06 ff 03 00 59 00 01 > 00 01 00 00 00 05 ff 03 02 00 1e'],
  },
  {
    thread: 'tallakt/modbus-cli/pull/5',
    what: 'brackets in both directions',
    log: `
Tx (12 bytes): [00][01][00][00][00][06][01][01][00][00][00][64]
Rx (22 bytes): [00][01][00][00][00][10][01][01][0d][fd][ff][ff][ff][ff][ff][ff][ff][ff][ff][ff][ff][0f]
`,
    exchanges: [
      '00 01 00 00 00 06 01 01 00 00 00 64 > 00 01 00 00 00 10 01 01 0d fd ff ff ff ff ff ff ff ff ff ff ff 0f',
    ],
  },
  {
    thread: 'favalex/modbus-cli/issues/41',
    what: 'a frame between zeros',
    log: `
→ < 2e 03 00 6e 00 01 e2 48 >
← < 00 2e 03 02 04 80 6e e2 00 > 9 bytes
`,
    exchanges: ['2e 03 00 6e 00 01 e2 48 > 00 2e 03 02 04 80 6e e2 00'],
  },
  {
    thread: 'home-assistant/core/issues/106651',
    what: 'a reply that is printed twice, after three seconds',
    log: `
2023-12-30 07:28:18.608 DEBUG (SyncWorker_7) [pymodbus.logging] SEND: 0x0 0x4 0x0 0x0 0x0 0x6 0x1 0x3 0x4 0x4 0x0 0x1
2023-12-30 07:28:21.667 DEBUG (SyncWorker_7) [pymodbus.logging] RECV: 0x0 0x4 0x0 0x0 0x0 0x5 0x1 0x3 0x2 0x0 0x2
2023-12-30 07:28:21.668 DEBUG (SyncWorker_7) [pymodbus.logging] Got response!!!
2023-12-30 07:28:21.668 DEBUG (SyncWorker_7) [pymodbus.logging] Processing: 0x0 0x4 0x0 0x0 0x0 0x5 0x1 0x3 0x2 0x0 0x2
`,
    exchanges: ['00 04 00 00 00 06 01 03 04 04 00 01 > 00 04 00 00 00 05 01 03 02 00 02'],
  },
  {
    thread: 'home-assistant/core/issues/115489',
    what: 'in the same thread, input registers over TCP',
    log: `
2024-04-13 18:15:14.662 DEBUG (MainThread) [pymodbus.logging] send: 0x0 0x1 0x0 0x0 0x0 0x6 0x1 0x4 0x13 0x87 0x0 0x1
2024-04-13 18:15:14.671 DEBUG (MainThread) [pymodbus.logging] recv: 0x0 0x1 0x0 0x0 0x0 0x5 0x1 0x4 0x2 0xe 0xd old_data:  addr=None
2024-04-13 18:15:14.702 DEBUG (MainThread) [pymodbus.logging] send: 0x0 0x7 0x0 0x0 0x0 0x6 0x1 0x4 0x13 0x94 0x0 0x1
2024-04-13 18:15:14.707 DEBUG (MainThread) [pymodbus.logging] recv: 0x0 0x7 0x0 0x0 0x0 0x5 0x1 0x4 0x2 0x0 0x0 old_data:  addr=None
`,
    exchanges: [
      '00 01 00 00 00 06 01 04 13 87 00 01 > 00 01 00 00 00 05 01 04 02 0e 0d',
      '00 07 00 00 00 06 01 04 13 94 00 01 > 00 07 00 00 00 05 01 04 02 00 00',
    ],
  },
  {
    thread: 'home-assistant/core/issues/116675',
    what: 'each reply after 230 ms',
    log: `
2024-05-03 08:54:29.974 DEBUG (MainThread) [pymodbus.logging] Resetting frame - Current Frame in buffer -
2024-05-03 08:54:29.974 DEBUG (MainThread) [pymodbus.logging] send: 0x0 0x9 0x0 0x0 0x0 0x6 0x1 0x4 0x0 0x6c 0x0 0x1
2024-05-03 08:54:30.212 DEBUG (MainThread) [pymodbus.logging] recv: 0x0 0x9 0x0 0x0 0x0 0x5 0x1 0x4 0x2 0x1 0xed old_data: addr=None
2024-05-03 08:54:30.258 DEBUG (MainThread) [pymodbus.logging] send: 0x0 0xa 0x0 0x0 0x0 0x6 0x1 0x4 0x0 0x6d 0x0 0x1
2024-05-03 08:54:30.487 DEBUG (MainThread) [pymodbus.logging] recv: 0x0 0xa 0x0 0x0 0x0 0x5 0x1 0x4 0x2 0x0 0x4 old_data: addr=None
`,
    exchanges: [
      '00 09 00 00 00 06 01 04 00 6c 00 01 > 00 09 00 00 00 05 01 04 02 01 ed',
      '00 0a 00 00 00 06 01 04 00 6d 00 01 > 00 0a 00 00 00 05 01 04 02 00 04',
    ],
  },
  {
    thread: 'home-assistant/core/issues/88800',
    what: 'RTU, with a part of the reply in another line',
    log: `
2023-02-26 19:03:11.610 DEBUG (SyncWorker_1) [pymodbus.transaction] SEND: 0x1 0x4 0x0 0xc 0x0 0x2 0xb1 0xc8
2023-02-26 19:03:11.611 DEBUG (SyncWorker_1) [pymodbus.framer.rtu_framer] Changing state to IDLE - Last Frame End - 1677434578.174977, Current Time stamp - 1677434591.610909
2023-02-26 19:03:11.668 DEBUG (SyncWorker_1) [pymodbus.transaction] RECV: 0x1 0x4 0x4 0x43 0xc9 0xaa 0x46 0xc1 0x6c
2023-02-26 19:03:11.668 DEBUG (SyncWorker_1) [pymodbus.framer.rtu_framer] Getting Frame - 0x4 0x4 0x43 0xc9 0xaa 0x46
`,
    exchanges: ['01 04 00 0c 00 02 b1 c8 > 01 04 04 43 c9 aa 46 c1 6c'],
  },
  {
    thread: 'home-assistant/core/issues/115039',
    what: 'unit 11 on a serial line',
    log: `
2024-04-07 22:26:10.310 DEBUG (MainThread) [pymodbus.logging] send: 0xb 0x4 0x0 0x2 0x0 0x1 0x90 0xa0
2024-04-07 22:26:10.350 DEBUG (MainThread) [pymodbus.logging] recv: 0xb 0x4 0x2 0x5 0x42 0xa2 0x50 old_data:  addr=None
`,
    exchanges: ['0b 04 00 02 00 01 90 a0 > 0b 04 02 05 42 a2 50'],
  },
  {
    thread: 'pymodbus-dev/pymodbus/issues/2151',
    what: 'the length in the header of an exception is too small',
    log: `
DEBUG:pymodbus.logging:send: 0x0 0x4 0x0 0x0 0x0 0x6 0x1 0x4 0x13 0xce 0x0 0x1
DEBUG:pymodbus.logging:recv: 0x0 0x4 0x0 0x0 0x0 0x2 0x1 0x84 0x2 old_data:  addr=None
DEBUG:pymodbus.logging:Processing: 0x0 0x4 0x0 0x0 0x0 0x2 0x1 0x84 0x2
`,
    exchanges: ['00 04 00 00 00 06 01 04 13 ce 00 01 > 00 04 00 00 00 02 01 84 02'],
  },
  {
    thread: 'pymodbus-dev/pymodbus/issues/518',
    what: 'a server that never answers',
    log: `
2020-07-31 16:33:39,112 MainThread      DEBUG    transaction    :219      SEND: 0x1 0x3 0x0 0x1 0x0 0x1 0xd5 0xca
2020-07-31 16:33:39,113 MainThread      DEBUG    transaction    :228      Changing transaction state from 'SENDING' to 'WAITING FOR REPLY'
2020-07-31 16:33:41,119 MainThread      DEBUG    rtu_framer     :235      Frame - [b''] not ready
`,
    exchanges: ['01 03 00 01 00 01 d5 ca >'],
  },
  {
    thread: 'pymodbus-dev/pymodbus/issues/488',
    what: 'coils that nobody answers for',
    log: `
DEBUG:pymodbus.transaction:SEND: 0x6 0x1 0x0 0x0 0x0 0x10 0x3c 0x71
DEBUG:pymodbus.transaction:Incomplete message received, Expected 7 bytes Recieved 0 bytes !!!!
DEBUG:pymodbus.transaction:RECV: 
`,
    exchanges: ['06 01 00 00 00 10 3c 71 >'],
  },
  {
    thread: 'pymodbus-dev/pymodbus/issues/2762',
    what: 'unit 19 behind a gateway',
    log: `
2025-09-02 13:49:10,372 - pymodbus.logging - [DEBUG] send: 0x0 0x10 0x0 0x0 0x0 0x6 0x13 0x3 0x4 0x50 0x0 0x1
2025-09-02 13:49:10,534 - pymodbus.logging - [DEBUG] recv: 0x0 0x10 0x0 0x0 0x0 0x5 0x13 0x3 0x2 0x1 0x4a old_data:  addr=None
`,
    exchanges: ['00 10 00 00 00 06 13 03 04 50 00 01 > 00 10 00 00 00 05 13 03 02 01 4a'],
  },
  {
    thread: 'pymodbus-dev/pymodbus/issues/220',
    what: 'two requests to unit 64 without an answer',
    log: `
2017-10-14 11:13:59,927 DEBUG:send: 0x40 0x3 0x7 0x8 0x0 0x2 0x4b 0xac
2017-10-14 11:14:00,552 DEBUG:recv: 
2017-10-14 11:14:00,552 DEBUG:Factory Response[64]
2017-10-14 11:14:00,661 DEBUG:send: 0x40 0x3 0x13 0xa0 0x0 0x1 0x8f 0xbd
2017-10-14 11:14:01,286 DEBUG:recv: 
`,
    exchanges: ['40 03 07 08 00 02 4b ac >', '40 03 13 a0 00 01 8f bd >'],
  },
  {
    thread: 'Cloud-Automation/node-modbus/issues/341',
    what: 'an exception that is printed over and over',
    log: `
  client-request-handler flushing new request <Buffer 00 01 00 00 00 06 01 03 a0 3c 00 01> +1ms
  tcp-response-handler receiving new data <Buffer 00 01 00 00 00 03 01 83 02> +0ms
  tcp-response-handler buffer <Buffer 00 01 00 00 00 03 01 83 02> +0ms
  tcp-response buffer <Buffer 00 01 00 00 00 03 01 83 02> +0ms
  response-factory fc 131 payload <Buffer 83 02> +0ms
`,
    exchanges: ['00 01 00 00 00 06 01 03 a0 3c 00 01 > 00 01 00 00 00 03 01 83 02'],
  },
  {
    thread: 'timofei-iatsenko/node-modbus-rtu/issues/6',
    what: 'the request comes back',
    log: `
write <Buffer 01 03 00 5e 00 02 a5 d9>
resp <Buffer 01 03 00 5e 00 02 a5 d9>
`,
    exchanges: ['01 03 00 5e 00 02 a5 d9 > 01 03 00 5e 00 02 a5 d9'],
  },
  {
    thread: 'yaacov/node-modbus-serial/issues/273',
    what: 'the direction in the line before',
    log: `
  modbus-serial { action: 'send serial rtu buffered',
  modbus-serial   data: <Buffer 01 03 00 00 00 01 84 0a>,
  modbus-serial   unitid: 1,
  modbus-serial   functionCode: 3 } +11ms
  modbus-serial { action: 'receive serial rtu buffered port',
  modbus-serial   data: <Buffer 01 03 02 00 f5 78 03>,
  modbus-serial   buffer: <Buffer 01 03 02 00 f5 78 03> } +4ms
  modbus-serial { action: 'emit data serial rtu buffered port',
  modbus-serial   buffer: <Buffer 01 03 02 00 f5 78 03> } +0ms
  modbus-serial { action: 'send serial rtu buffered',
  modbus-serial   data: <Buffer 06 03 00 00 00 01 85 bd>,
  modbus-serial   unitid: 6,
  modbus-serial   functionCode: 3 } +11ms
  modbus-serial { action: 'receive serial rtu buffered port',
  modbus-serial   data: <Buffer 06 03 02 00 00 0d 84>,
  modbus-serial   buffer: <Buffer 06 03 02 00 00 0d 84> } +4ms
`,
    exchanges: [
      '01 03 00 00 00 01 84 0a > 01 03 02 00 f5 78 03',
      '06 03 00 00 00 01 85 bd > 06 03 02 00 00 0d 84',
    ],
  },
  {
    thread: 'odya/esphome-powmr-hybrid-inverter/issues/63',
    what: 'each request printed twice, each reply garbled',
    log: `
[16:54:13][V][modbus:222]: Modbus write: 05.03.11.C9.00.03.D1.4D (8)
[16:54:13][D][uart_debug:114]: >>> 05:03:11:C9:00:03:D1:4D
[16:54:13][W][modbus:124]: Modbus CRC Check failed! 5DE5!=FEE9
[16:54:13][D][uart_debug:114]: <<< E5:F3:D9:E9:FE:F3:D9:4D
[16:54:13][V][modbus:042]: Stop waiting for response from 5
[16:54:14][V][modbus:222]: Modbus write: 05.03.11.C9.00.03.D1.4D (8)
[16:54:14][D][uart_debug:114]: >>> 05:03:11:C9:00:03:D1:4D
[16:54:14][D][uart_debug:114]: <<< E5:F3:D9:E9:FE:F3:D9:4D
`,
    exchanges: [
      '05 03 11 c9 00 03 d1 4d > e5 f3 d9 e9 fe f3 d9 4d',
      '05 03 11 c9 00 03 d1 4d > e5 f3 d9 e9 fe f3 d9 4d',
    ],
  },
  {
    thread: 'esphome/esphome/issues/12183',
    what: 'the log of a server, with each reply twice',
    log: `
[14:55:28.311][D][uart_debug:114]: <<< 21:03:00:84:00:01:C3:43
[14:55:28.326][V][modbus:356]: Write: 21.03.02.00.00.39.83 (7) 36ms after last send, 16ms after last receive
[14:55:28.326][D][uart_debug:114]: >>> 21:03:02:00:00:39:83
`,
    exchanges: ['21 03 00 84 00 01 c3 43 > 21 03 02 00 00 39 83'],
  },
  {
    thread: 'rosenrot00/esphome_modbus_bridge/issues/3',
    what: 'a reply without its second and third byte',
    log: `
[16:33:11][D][modbus_bridge:348]: RTU send: 01 03 00 00 00 17 05 C4  client_id=0
[16:33:11][D][modbus_bridge:776]: RTU recv (44 bytes): 01 00 D9 00 00 64 00 00 27 10 00 A4 10 03 E8 41 4C 31 2E 30 00 5A 41 42 41 00 02 00 01 00 01 03 E8 00 3C 00 3C 00 5A 00 5A 00 00 60 
[16:33:11][D][modbus_bridge:790]: RTU->TCP response: 00 01 00 00 00 2A 01 00 D9 00 00 64 00 00 27 10 00 A4 10 03 E8 41 4C 31 2E 30 00 5A 41 42 41 00 02 00 01 00 01 03 E8 00 3C 00 3C 00 5A 00 5A 00 
`,
    exchanges: [
      '01 03 00 00 00 17 05 c4 > 01 00 d9 00 00 64 00 00 27 10 00 a4 10 03 e8 41 4c 31 2e 30 00 5a 41 42 41 00 02 00 01 00 01 03 e8 00 3c 00 3c 00 5a 00 5a 00 00 60',
    ],
  },
  {
    thread: 'pyhys/minimalmodbus/issues/91',
    what: 'a write that is answered as function 1',
    log: `
MinimalModbus debug mode. Will write to instrument (expecting 7 bytes back): C9 03 00 C0 00 01 94 7E (8 bytes)
MinimalModbus debug mode. No sleep required before write. Time since previous read: 127454.06 ms, minimum silent period: 4.01 ms.
MinimalModbus debug mode. Response from instrument: C9 03 02 00 04 58 57 (7 bytes)
MinimalModbus debug mode. Will write to instrument (expecting 8 bytes back): C9 10 00 C0 00 01 02 00 00 80 95 (11 bytes)
MinimalModbus debug mode. Response from instrument: C9 01 00 A0 6E (5 bytes)
`,
    exchanges: [
      'c9 03 00 c0 00 01 94 7e > c9 03 02 00 04 58 57',
      'c9 10 00 c0 00 01 02 00 00 80 95 > c9 01 00 a0 6e',
    ],
  },
  {
    thread: 'pyhys/minimalmodbus/issues/18',
    what: 'equal requests, whose replies come in other pieces each time',
    log: String.raw`
MinimalModbus debug mode. Writing to instrument (expecting 7 bytes back): '\x1e\x04\x00\xd2\x00\x01\x93\x9c' (1E 04 00 D2 00 01 93 9C)
MinimalModbus debug mode. Response from instrument: '\x00\x1e\x04\x02\x0ba\xea' (00 1E 04 02 0B 61 EA) (7 bytes)
MinimalModbus debug mode. Writing to instrument (expecting 7 bytes back): '\x1e\x04\x00\xd2\x00\x01\x93\x9c' (1E 04 00 D2 00 01 93 9C)
MinimalModbus debug mode. Response from instrument: '*\x00\x00\x1e\x04\x02\x0b' (2A 00 00 1E 04 02 0B) (7 bytes)
MinimalModbus debug mode. Writing to instrument (expecting 7 bytes back): '\x1e\x04\x00\xd2\x00\x01\x93\x9c' (1E 04 00 D2 00 01 93 9C)
MinimalModbus debug mode. Response from instrument: 'a\xea*\x00\x00\x1e\x04' (61 EA 2A 00 00 1E 04) (7 bytes)
`,
    exchanges: [
      '1e 04 00 d2 00 01 93 9c > 00 1e 04 02 0b 61 ea',
      '1e 04 00 d2 00 01 93 9c > 2a 00 00 1e 04 02 0b',
      '1e 04 00 d2 00 01 93 9c > 61 ea 2a 00 00 1e 04',
    ],
  },
  {
    thread: 'pyhys/minimalmodbus/issues/77',
    what: 'function 32, which nobody knows',
    log: `
MinimalModbus debug mode. Will write to instrument (expecting 1000 bytes back): 01 20 11 F9 CC (5 bytes)
MinimalModbus debug mode. Response from instrument: 01 20 33 44 14 D1 (6 bytes)
`,
    exchanges: ['01 20 11 f9 cc > 01 20 33 44 14 d1'],
  },
  {
    thread: 'pyhys/minimalmodbus/issues/102',
    what: 'the request comes back without its last byte',
    log: `
MinimalModbus debug mode. Will write to instrument (expecting 7 bytes back): 01 03 01 31 00 01 D4 39 (8 bytes)
MinimalModbus debug mode. Response from instrument: 01 03 01 31 00 01 D4 (7 bytes)
`,
    exchanges: ['01 03 01 31 00 01 d4 39 > 01 03 01 31 00 01 d4'],
  },
  {
    thread: 'syssi/esphome-solax-x1-mini/issues/20',
    what: 'the same arrow in both directions, and a meter that is not there',
    log: `
145ms Solax >> Meter: 01 03 00 0b 00 01 f5 c8
209ms Meter >> Solax: 01 03 02 00 a8 b9 fa
409ms Solax >> Meter: 02 03 00 0b 00 01 f5 fb
669ms Solax >> Meter: 01 04 00 48 00 02 f1 dd
729ms Meter >> Solax: 01 04 04 46 2a 75 21 29 8c
`,
    exchanges: [
      '01 03 00 0b 00 01 f5 c8 > 01 03 02 00 a8 b9 fa',
      '02 03 00 0b 00 01 f5 fb >',
      '01 04 00 48 00 02 f1 dd > 01 04 04 46 2a 75 21 29 8c',
    ],
  },
  {
    thread: 'arduino-libraries/ArduinoModbus/issues/31',
    what: 'two spaces between bytes',
    log: `
[RTU]>Tx > 10:31:12:301 - 01  03  00  00  00  04  44  09  
[RTU]>Rx > 10:31:12:316 - 01  83  02  C0  F1  
`,
    exchanges: ['01 03 00 00 00 04 44 09 > 01 83 02 c0 f1'],
  },
  {
    thread: 'stephane/libmodbus/pull/329',
    what: 'an exception to a mask write, and two units',
    log: `
[00][21][00][00][00][08][FF][16][01][80][00][F2][00][25]
Waiting for a confirmation...
<00><21><00><00><00><03><FF><96><02>
ERROR Illegal data address
[00][24][00][00][00][06][12][03][01][60][00][03]
Waiting for a confirmation...
<00><24><00><00><00><09><12><03><06><00><17><00><00><00><00>
`,
    exchanges: [
      '00 21 00 00 00 08 ff 16 01 80 00 f2 00 25 > 00 21 00 00 00 03 ff 96 02',
      '00 24 00 00 00 06 12 03 01 60 00 03 > 00 24 00 00 00 09 12 03 06 00 17 00 00 00 00',
    ],
  },
  {
    thread: 'stephane/libmodbus/issues/6',
    what: 'unit 17 of its own tests',
    log: `
[11][03][00][6C][00][03][C7][46]
Waiting for a confirmation...
<11><03><06><02><2B><00><00><00><00><C9><51>
`,
    exchanges: ['11 03 00 6c 00 03 c7 46 > 11 03 06 02 2b 00 00 00 00 c9 51'],
  },
  {
    thread: 'stephane/libmodbus/issues/278',
    what: 'mbpoll -v: an identification that the library did not expect',
    log: `
mbpoll(debug): Set timeout to 1 sec, 0 us
Communication.........: /dev/ttyUSB1, 19200-8E1
[20][11][D8][7C]
Waiting for a confirmation...
ERROR Connection timed out: select
Report slave ID failed(-1): Connection timed out
<20><11><10><FF><68><75><6D><2D><31><2E><30><2D><35><35><02><04>
`,
    exchanges: ['20 11 d8 7c > 20 11 10 ff 68 75 6d 2d 31 2e 30 2d 35 35 02 04'],
  },
  {
    thread: 'cwalter-at/freemodbus/issues/17',
    what: 'mbpoll -v: an identification without its byte count',
    log: `
[0A][11][C7][1C]
Waiting for a confirmation...
ERROR Connection timed out: select
Report slave ID failed(-1): Connection timed out
<0A><11><34><FF><AA><BB><CC><61><14>
`,
    exchanges: ['0a 11 c7 1c > 0a 11 34 ff aa bb cc 61 14'],
  },
  {
    thread: 'eModbus/eModbus/issues/127',
    what: 'the direction in the line before, and a reply without its end',
    log: `
send data to eModbus:
01 01 00 04 00 01 BC 0B

received data from eModbus:
01 01 00 00 00 01
`,
    exchanges: ['01 01 00 04 00 01 bc 0b > 01 01 00 00 00 01'],
  },
  {
    thread: 'epics-modules/modbus/issues/39',
    what: 'twenty bytes a line',
    log: `
2026/05/11 13:17:34.792 gsets22:4002 write 8

01 04 00 00 00 2a 71 d5
2026/05/11 13:17:34.821 gsets22:4002 read 89

01 04 54 00 00 41 de 12 75 43 1a e2 80 00 00 00 00 00 00 00
00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
00 00 78 02 84 02 84 00 00 00 00 00 00 00 00 00 00 00 00 00
00 00 00 00 08 00 00 00 08 00 00 10 00 00 00 00 00 00 00 00
00 00 00 00 00 00 00 86 ce
2026/05/11 13:17:34.909 gsets22:4002 write 8

01 01 00 00 00 1f 7d c2
2026/05/11 13:17:34.916 gsets22:4002 read 9

01 01 04 10 00 00 10 fe dd
`,
    exchanges: [
      '01 04 00 00 00 2a 71 d5 > 01 04 54 00 00 41 de 12 75 43 1a e2 80 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 78 02 84 02 84 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 08 00 00 00 08 00 00 10 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 86 ce',
      '01 01 00 00 00 1f 7d c2 > 01 01 04 10 00 00 10 fe dd',
    ],
  },
];
