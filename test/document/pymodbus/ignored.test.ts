import { describe, expect, it } from 'vitest';
import { checkFile, loadPymodbus } from '../../../src/document/load.js';
import { pymodbusConfiguration } from '../../../src/document/pymodbus/file.js';
import { cursor, deviceOf, imageOf, mistakesOf, problemsOf, scratchFiles, warningsOf } from '../helpers.js';

const write = scratchFiles();

const SETUP = {
  'co size': 20,
  'di size': 20,
  'hr size': 20,
  'ir size': 20,
  'shared blocks': true,
  'type exception': false,
};
const TCP = { comm: 'tcp', host: '127.0.0.1', port: 5020, framer: 'socket' };
const SERIAL = { comm: 'serial', port: '/dev/ttyUSB0', framer: 'rtu' };

/** A file with one server and one device, read for serving. */
function read(server: object, entry: unknown = 5) {
  const at = cursor({ server_list: { s: server }, device_list: { d: { setup: SETUP, uint16: [entry] } } });
  const configuration = pymodbusConfiguration(at, {});
  return { configuration, mistakes: mistakesOf(at), warnings: warningsOf(at) };
}

function actionOf(entry: unknown) {
  const { configuration, ...told } = read(TCP, entry);
  const cells = configuration && deviceOf(configuration, 'd').cells;
  return { action: cells && imageOf(cells).actionAt(5), ...told };
}

describe('a file of an earlier pymodbus', () => {
  it.each([
    ['allow_reuse_address', true, TCP],
    ['allow_reuse_port', true, TCP],
    ['backlog', 20, TCP],
    ['defer_start', false, TCP],
    ['auto_reconnect', true, SERIAL],
  ])('is loaded with a warning for %s of a server', (key, value, server) => {
    const { configuration, mistakes, warnings } = read({ ...server, [key]: value });
    expect(configuration?.lines).toEqual(read(server).configuration?.lines);
    expect(mistakes).toEqual([]);
    expect(warnings).toEqual([`server_list.s.${key}: ${key} has no effect`]);
  });

  it.each(['parameters', 'kwargs'])('has the bounds of an action under %s', (key) => {
    const bounds = { minval: 3, maxval: 9 };
    expect(actionOf({ addr: 5, action: 'random', [key]: bounds })).toEqual({
      action: { name: 'random', ...bounds },
      mistakes: [],
      warnings: [],
    });
    expect(actionOf({ addr: 5, action: 'random', [key]: { minval: 70000 } }).mistakes).toEqual([
      `device_list.d.uint16[0].${key}.minval: expected a whole number from 0 to 65535 (uint16), got 70000`,
    ]);
    expect(actionOf({ addr: 5, action: 'random', [key]: null }).action).toEqual({ name: 'random' });
  });

  it('may have both kinds of parameters, of which the newer one counts', () => {
    const entry = { addr: 5, action: 'random', kwargs: { minval: 1 }, parameters: { minval: 2 } };
    expect(actionOf(entry)).toEqual({
      action: { name: 'random', minval: 2 },
      mistakes: [],
      warnings: ['device_list.d.uint16[0].kwargs: kwargs has no effect together with parameters'],
    });
  });

  it('has args without an effect, as in pymodbus', () => {
    expect(actionOf({ addr: 5, action: 'increment', args: { minval: 1, maxval: 100 } })).toEqual({
      action: { name: 'increment' },
      mistakes: [],
      warnings: ['device_list.d.uint16[0].args: args has no effect'],
    });
  });

  it('may leave the host of a server to every interface with null', () => {
    expect(read({ ...TCP, host: null }).configuration?.lines).toMatchObject([{ host: '0.0.0.0' }]);
  });
});

describe('warnings', () => {
  const file = (server: object) =>
    write(
      'w.json',
      JSON.stringify({ server_list: { s: server }, device_list: { d: { setup: SETUP } } }, null, 1),
    );
  const warning = { path: 'server_list.s.backlog', message: 'backlog has no effect', line: 8, column: 4 };

  it('leave a file usable, and have their place', () => {
    expect(checkFile(file({ ...TCP, backlog: 20 }))).toEqual({ ok: true, warnings: [warning] });
    expect(loadPymodbus({ file: file({ ...TCP, backlog: 20 }) })).toMatchObject({
      ok: true,
      warnings: [warning],
    });
  });

  it('stand beside mistakes', () => {
    const result = checkFile(file({ ...TCP, port: -1, backlog: 20 }));
    expect(problemsOf(result)).toMatchObject([{ path: 'server_list.s.port' }]);
    expect(result.warnings).toEqual([warning]);
  });

  it('of a pymodbus file stand at the device of a native file that refers to it', () => {
    const entry = { addr: 5, args: {} };
    const old = { server_list: {}, device_list: { d: { setup: SETUP, uint16: [entry] } } };
    write('old.json', JSON.stringify(old));
    const native = 'devices: {m: {pymodbus: old.json}}\nlines: {l: {tcp: {}, units: {1: m}}}\n';
    expect(checkFile(write('native.yaml', native))).toMatchObject({
      ok: true,
      warnings: [{ path: 'devices.m.pymodbus', message: expect.stringMatching(/old\.json:1:\d+: .*args/) }],
    });
  });
});
