import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SOCKET } from '../../../../src/modbus/protocol/framing.js';
import type { TlsFiles } from '../../../../src/modbus/transport/settings.js';
import { SocketLine } from '../../../../src/modbus/transport/socket/socket-line.js';
import { Certificates, type Identity } from './certificates.js';
import { HoldingRegisters } from './holding-registers.js';
import { socketSettings } from './socket-settings.js';

let certificates: Certificates;
let server: Identity;
let other: Identity;

beforeAll(() => {
  certificates = new Certificates();
  server = certificates.signed('server');
  other = certificates.signed('other');
});

afterAll(() => certificates.remove());

/** Why a line with these files does not start, without the path; the state of the line says the same. */
async function refusal(files: Partial<TlsFiles>): Promise<string> {
  const tls = { ...server, ca: certificates.ca.cert, ...files };
  const line = new SocketLine(socketSettings('tls', { files: tls }), SOCKET, new HoldingRegisters());
  const started = await line.start();
  await (started.ok && line.stop());
  if (started.ok) return 'started';
  expect(line.state).toEqual({ kind: 'failed', reason: started.error });
  expect(started.error).toMatch(/^Cannot listen on 127\.0\.0\.1:0: .*\.$/);
  return started.error.slice('Cannot listen on 127.0.0.1:0: '.length, -1);
}

test.each([
  ['cert', 'certificate'],
  ['key', 'key'],
  ['ca', 'CA'],
] as const)('a %s file that does not exist, or is a directory, is named', async (field, what) => {
  const missing = certificates.path('missing.pem');
  expect(await refusal({ [field]: missing })).toBe(`the ${what} file ${missing} does not exist (ENOENT)`);
  const { directory } = certificates;
  expect(await refusal({ [field]: directory })).toBe(`the ${what} file ${directory} is a directory (EISDIR)`);
});

test('what is no regular file is refused at once, and so is one that is too long', async () => {
  const pipe = certificates.path('pipe.pem');
  execFileSync('mkfifo', [pipe]);
  for (const key of [pipe, '/dev/zero']) {
    expect(await refusal({ key })).toBe(`the key file ${key} can't be read: is not a regular file`);
  }
  const long = certificates.write('long.pem', ' '.repeat(2 ** 20 + 1));
  expect(await refusal({ ca: long })).toBe(
    `the CA file ${long} can't be read: is too large: more than 1048576 bytes`,
  );
});

test('files that are not PEM are named', async () => {
  const text = certificates.write('text.pem', 'no certificate');
  expect(await refusal({ cert: text })).toBe(
    `the certificate file ${text} contains no certificate, expected PEM`,
  );
  expect(await refusal({ ca: text })).toBe(`the CA file ${text} contains no certificate, expected PEM`);
  expect(await refusal({ key: text })).toBe(`the key file ${text} contains no private key, expected PEM`);
  const damaged = certificates.write(
    'damaged.pem',
    '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
  );
  expect(await refusal({ cert: damaged })).toBe(
    `the certificate file ${damaged} contains a damaged certificate`,
  );
});

test('certificate and key that were exchanged are named', async () => {
  expect(await refusal({ cert: server.key, key: server.cert })).toContain(`certificate file ${server.key}`);
  expect(await refusal({ key: server.cert })).toContain(`key file ${server.cert}`);
});

test('a key that belongs to another certificate is named with it', async () => {
  expect(await refusal({ key: other.key })).toBe(
    `the key in ${other.key} does not belong to the first certificate in ${server.cert}`,
  );
});

test('an encrypted key is named', async () => {
  const key = certificates.encryptedKey(server);
  expect(await refusal({ key })).toBe(`the key file ${key} is encrypted, expected one without a passphrase`);
});

test('an expired certificate is a note, the line starts', async () => {
  const device = new HoldingRegisters();
  const expired = certificates.signed('expired', { days: -1 });
  const tls = { ...expired, ca: certificates.ca.cert };
  const line = new SocketLine(socketSettings('tls', { files: tls }), SOCKET, device);
  expect(await line.start()).toMatchObject({ ok: true });
  expect(device.events).toMatchObject([
    { kind: 'open', notes: [expect.stringContaining(`${expired.cert} expired on`)] },
  ]);
  await line.stop();
});

test('a line that could not read its certificate starts when it is there', async () => {
  const tls = { cert: certificates.path('later.pem'), key: certificates.path('later.key') };
  const line = new SocketLine(socketSettings('tls', { files: tls }), SOCKET, new HoldingRegisters());
  expect(await line.start()).toMatchObject({ ok: false });
  certificates.signed('later');
  const [first, second] = await Promise.all([line.start(), line.start()]);
  expect([first?.ok, second?.ok]).toEqual([true, false]);
  await line.stop();
  expect(line.state).toEqual({ kind: 'stopped' });
});

test('a line that is stopped while it reads its certificate stays closed', async () => {
  const line = new SocketLine(socketSettings('tls', { files: server }), SOCKET, new HoldingRegisters());
  const starting = line.start();
  await line.stop();
  expect(await starting).toMatchObject({
    ok: false,
    error: expect.stringContaining('stopped while opening'),
  });
  expect(line.state).toEqual({ kind: 'stopped' });
});

test('a file that says it has no bytes, and has more and more, is read up to the limit', async () => {
  // Its size is 0, as that of all files in /proc; reading it to its end would take hundreds of MB.
  const key = '/proc/self/pagemap';
  expect(await refusal({ key })).toBe(
    `the key file ${key} can't be read: is too large: more than 1048576 bytes`,
  );
});
