import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { AsciiFraming } from '../../../../src/modbus/protocol/ascii.js';
import { concatBytes } from '../../../../src/modbus/protocol/bytes.js';
import { openLine, type TestLine } from './line.js';
import { type RawClient, until } from './raw-client.js';

let line: TestLine;
let client: RawClient;

beforeEach(async () => {
  line = await openLine({ framing: new AsciiFraming() });
  line.device.registers.set([11, 12]);
  client = line.client();
});

afterEach(() => line.close());

const text = (characters: string) => Buffer.from(characters, 'latin1');
const READ_0 = ':010300000001FB\r\n';
const READ_1 = ':010300010001FA\r\n';
const REPLY_0 = ':010302000BEF\r\n';
const REPLY_1 = ':010302000CEE\r\n';

async function expectNext(...replies: string[]): Promise<void> {
  const expected = replies.join('');
  await until(() => client.closed || client.received.length >= expected.length, 'the replies have come');
  expect(client.received.toString('latin1')).toBe(expected);
  client.received = Buffer.alloc(0);
}

test('answers an ASCII message on a TCP connection with one', async () => {
  client.send(text(READ_0));
  await expectNext(REPLY_0);
  expect(line.device.requests).toMatchObject([
    { unitId: 1, transactionId: 0, pdu: Uint8Array.of(3, 0, 0, 0, 1), clientId: 1 },
  ]);
});

test('answers merged messages in their order, cut at any character', async () => {
  const both = text(READ_0 + READ_1);
  for (let cut = 0; cut <= both.length; cut++) {
    client.send(both.subarray(0, cut));
    await sleep(3);
    client.send(both.subarray(cut));
    await expectNext(REPLY_0, REPLY_1);
  }
});

test('a wrong LRC is noise, and the next message is answered without a pause', async () => {
  client.send(concatBytes(text(':010300000001FC\r\n'), text(READ_1)));
  await expectNext(REPLY_1);
  expect(line.device.events.filter(({ kind }) => kind === 'noise')).toHaveLength(1);
});

test.each([
  ['a bare function code', [3]],
  ['no quantity', [3, 0, 0]],
  ['what looks like a response', [3, 2, 0, 11]],
])('answers a valid message that is cut short, %s, with exception 03', async (_, pdu) => {
  const framing = new AsciiFraming();
  const adu = framing.encode({ unitId: 1, pdu: Uint8Array.from(pdu) });
  client.send(text(READ_0));
  await expectNext(REPLY_0);
  client.send(Buffer.from(adu));
  await expectNext(':01830379\r\n');
});

test('half a message and a second of silence is noise, and never executed', async () => {
  client.send(text(':0106000000'));
  await until(() => line.device.events.some(({ kind }) => kind === 'noise'), 'it is noise');
  client.send(text(`05F4\r\n${READ_0}`));
  await expectNext(REPLY_0);
});

test('neither a broadcast nor a message for another unit is answered, the broadcast is executed', async () => {
  client.send(text(`:000600000005F5\r\n:C806000000062C\r\n${READ_0}`));
  await expectNext(':0103020005F5\r\n');
  expect(line.device.requests.map(({ unitId }) => unitId)).toEqual([0, 1]);
  expect(line.device.events.filter(({ kind }) => kind === 'foreign')).toHaveLength(1);
});

/** ASCII with an exclamation mark where the line feed was. */
const OTHER = Object.assign(new AsciiFraming(), { delimiter: '!'.charCodeAt(0) });

test('a line that takes another framing reads what comes later in it, on every connection', async () => {
  const other = line.client();
  for (const asking of [client, other]) {
    asking.send(text(READ_0));
    await until(() => asking.received.toString('latin1') === REPLY_0, 'answered');
  }
  line.line.reframe(OTHER);
  for (const asking of [client, other]) {
    asking.send(text(READ_1.replace('\n', '!')));
    await until(() => asking.received.toString('latin1') === REPLY_0 + REPLY_1, 'answered');
  }
});

test('a message that has begun before the framing changes can end after it', async () => {
  client.send(text(READ_0.slice(0, 9)));
  const other = line.client();
  other.send(text(READ_0));
  await until(() => line.device.requests.length === 1, 'the other client was heard');
  line.line.reframe(OTHER);
  client.send(text(READ_0.slice(9).replace('\n', '!')));
  await expectNext(REPLY_0);
  expect(line.device.events.filter(({ kind }) => kind === 'noise')).toEqual([]);
});

test('what comes in the same read behind the request that changes the framing is read in the new one', async () => {
  line.device.fault = (plan) => {
    line.line.reframe(OTHER);
    return plan;
  };
  client.send(text(READ_0 + READ_1.replace('\n', '!') + READ_0.slice(0, 9)));
  await expectNext(REPLY_0, REPLY_1);
  client.send(text(READ_0.slice(9).replace('\n', '!')));
  await expectNext(REPLY_0);
});

test('half a message that is complete in the new framing is answered after a second of silence at the latest', async () => {
  client.send(text(READ_0.replace('\n', '!')));
  await until(() => line.line.clients === 1, 'connected');
  await sleep(50);
  line.line.reframe(OTHER);
  await expectNext(REPLY_0);
});
