/*
 * calibration.mjs: always the same work, none of it of this program, and tells the processor time that each part took, in
 * µs. Two machines with the same version of Node compare by it. Change nothing here: earlier figures would mean nothing.
 */
const ROUNDS = 15;
const FRAMES = 2000;
const OBJECTS = 20_000;
const TEXTS = 400;

const table = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xa001 : crc >>> 1;
  return crc;
});

/** The CRC of RTU of 256 bytes: arithmetic and memory that is in the cache. */
function checkValues() {
  const frame = Uint8Array.from({ length: 256 }, (_, i) => i);
  let sum = 0;
  for (let i = 0; i < FRAMES; i++) {
    frame[0] = i;
    let crc = 0xffff;
    for (const byte of frame) crc = (crc >>> 8) ^ table[(crc ^ byte) & 0xff];
    sum ^= crc;
  }
  return sum;
}

/** Objects that are made, kept for a while, and found again in no order: memory that is in no cache, and garbage. */
function objects() {
  const found = new Map();
  let sum = 0;
  for (let i = 0; i < OBJECTS; i++) {
    const key = (i * 7919) % OBJECTS;
    found.set(key, { key, next: found.get((key * 31) % OBJECTS), bytes: [key & 0xff, key >> 8] });
    sum += found.get((key * 17) % OBJECTS)?.key ?? 0;
  }
  return sum;
}

/** Text that is made and read: what REST does. */
function texts() {
  const event = { seq: 1, line: 'lan', kind: 'reply', text: 'unit 1 read', values: [1, 2, 3, 4, 5, 6, 7, 8] };
  let sum = 0;
  for (let i = 0; i < TEXTS; i++) {
    const events = Array.from({ length: 10 }, (_, n) => ({ ...event, seq: i + n }));
    sum += JSON.parse(JSON.stringify(events))[9].seq;
  }
  return sum;
}

function timeOf(work) {
  const times = [];
  for (let round = 0; round < 2 * ROUNDS; round++) {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    if (round >= ROUNDS) times.push(user + system);
  }
  return times.toSorted((a, b) => a - b)[ROUNDS >> 1];
}

process.on('message', () => {
  process.send({
    [`${FRAMES} check values of 256 bytes`]: timeOf(checkValues),
    [`${OBJECTS} objects in a map`]: timeOf(objects),
    [`${TEXTS} JSON texts of ten events`]: timeOf(texts),
  });
});
process.send('ready');
