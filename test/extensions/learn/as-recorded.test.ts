import modbusSerial from 'modbus-serial';
import { expect, it } from 'vitest';
import { loadNative } from '../../../src/document/load.js';
import { learnFiles } from '../../../src/extensions/learn/learn.js';
import { startSimulator, stopAfterEach } from '../../support/simulator.js';

/* A log that is played as it was: values by the clock, and the time of each reply. */

stopAfterEach();

/** A log in which a client reads input 10 and a setpoint, and writes the setpoint. Replies take 5, 130 and 7 ms. */
const LOG = [
  ['00.000', 'send', '0001 0000 0006 01 04 000a 0001'],
  ['00.005', 'recv', '0001 0000 0005 01 04 02 0064'],
  ['10.000', 'send', '0002 0000 0006 01 04 000a 0001'],
  ['10.130', 'recv', '0002 0000 0005 01 04 02 0065'],
  ['12.000', 'send', '0003 0000 0006 01 06 0000 0007'],
  ['12.005', 'recv', '0003 0000 0006 01 06 0000 0007'],
  ['20.000', 'send', '0004 0000 0006 01 04 000a 0001'],
  ['20.007', 'recv', '0004 0000 0005 01 04 02 0063'],
]
  .map(
    ([time, word, bytes = '']) =>
      `12:00:${time} ${word}: ${(bytes.replaceAll(' ', '').match(/../g) ?? []).join(' ')}`,
  )
  .join('\n');

function made(log: string | readonly string[], loop = false) {
  const learned = learnFiles(
    [log].flat().map((text) => Buffer.from(text)),
    'log',
    { loop },
  );
  if (!learned.ok) throw new Error(learned.error);
  return learned.value.text;
}

it('values move on the clock of the device, and each reply takes as long as it did', async () => {
  const text = made(LOG);
  expect(text).toContain('# Plays 21 s as recorded, on the clock of each device.');
  expect(text).toContain('signal: {recorded: {values: "0 100, 10 101, 20 99, 20.007"}}');
  expect(text).toContain('delay: [5, 130, 7]');
  const loaded = loadNative(text.replace('port: 5020', 'port: 0'), '.');
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  const { rest, port } = await startSimulator(loaded.configuration);
  const client = new modbusSerial.default();
  await client.connectTCP('127.0.0.1', { port: port('lan') });
  client.setTimeout(20_000);
  const at = async (step: number) => {
    await rest.send('POST', '/api/v1/devices/unit-1/clock', { pause: true, step });
    const began = performance.now();
    const { data } = await client.readInputRegisters(10, 1);
    return { value: data[0], ms: performance.now() - began };
  };
  try {
    client.setID(1);
    expect((await at(1000)).value).toBe(100);
    const slow = await at(9500);
    expect(slow.value).toBe(101);
    expect(slow.ms).toBeGreaterThan(125);
    await client.writeRegister(0, 9);
    expect((await client.readHoldingRegisters(0, 1)).data).toEqual([9]);
    expect((await at(60_000)).value).toBe(99);
  } finally {
    await new Promise<void>((closed) => client.close(() => closed()));
  }
});

it('begins again at the end if wanted, all registers at once', () => {
  expect(made(LOG, true)).toContain(
    'signal: {recorded: {values: "0 100, 10 101, 20 99, 20.007", loop: true}}',
  );
});

it('has times, or nothing is played', () => {
  const log = LOG.replaceAll(/12:00:\S+ /g, '');
  expect(learnFiles([Buffer.from(log)], 'log', { loop: false })).toMatchObject({
    ok: false,
    error: 'the input has no timestamps, so nothing can be played as recorded',
  });
});

it('is bounded: a register that moves more often than a file has room for stands still in the end, and a comment says so', () => {
  const lines = Array.from({ length: 24_000 }, (_, i) => {
    const hex = (n: number) =>
      n
        .toString(16)
        .padStart(4, '0')
        .replace(/(..)(..)/, '$1 $2');
    const time = (ms: number) => new Date(ms).toISOString().slice(11, 23);
    const id = hex(i % 65536);
    return `${time(i * 10)} send: ${id} 00 00 00 06 01 04 00 0a 00 01\n${time(i * 10 + 3)} recv: ${id} 00 00 00 05 01 04 02 ${hex(i % 60000)}`;
  });
  const text = made(lines.join('\n'));
  expect(text.length).toBeLessThan(1_000_000);
  expect(text).toContain('# Values changed too often for a file, so some stop changing before the end.\n');
  expect(text).toContain(
    '# There are more reply times than a file may have, so they repeat from the first.\n',
  );
  expect(loadNative(text, '.').ok).toBe(true);
});

/** A log of reads of input 10, one after the other, each with its reply 5 ms later. */
function reads(...all: readonly (readonly [clock: string, value: number])[]): string {
  const text = all.map(
    ([clock, value]) =>
      `${clock}.000 send: 00 01 00 00 00 06 01 04 00 0a 00 01\n${clock}.005 recv: 00 01 00 00 00 05 01 04 02 00 ${value}\n`,
  );
  return text.join('');
}

const EVENING = reads(['23:00:00', 64], ['23:30:00', 65]);

it.each([
  ['over midnight', reads(['00:10:00', 66], ['00:40:00', 67]), '0 100, 1800 101, 4200 102, 6000 103'],
  [
    'of an earlier hour',
    reads(['13:00:00', 66], ['13:30:00', 67]),
    '0 100, 1800 101, 1800.005 102, 3600.005 103',
  ],
])('files follow one another, also %s', (_, second, values) => {
  expect(made([EVENING, second])).toContain(`values: "${values},`);
});

it.each([
  ['a gap', (first: string, second: string) => `${first}...\n${second}`],
  ['the end of a file', (first: string, second: string) => [first, second]],
])('a reply behind %s answers nothing from before', (_, put) => {
  const first = `${reads(['12:00:00', 64])}12:00:01.000 send: 00 01 00 00 00 06 01 04 00 0a 00 01\n`;
  const second = reads(['15:00:00', 65], ['15:00:01', 66]);
  expect(made(put(first, second))).toContain('delay: [5, 5, 5]}');
  const without = second.slice(second.indexOf('\n') + 1);
  const text = made(put(first, without));
  expect(text).toContain('delay: [5, 5]}');
  expect(text).toContain('left out, neither a request nor a reply to one');
});
