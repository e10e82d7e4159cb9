import { describe, expect, it } from 'vitest';
import { loadNative } from '../../../src/document/load.js';

const FILE = {
  devices: { meter: { registers: { holding: [{ address: 0 }] } } },
  lines: { lan: { tcp: {}, units: { 1: 'meter' } } },
};

function loaded(mqtt: unknown, more: object = {}) {
  const came = loadNative({ ...FILE, mqtt, ...more }, '/d');
  return {
    mqtt: came.ok ? came.configuration.mqtt : undefined,
    problems: came.ok ? [] : came.problems.map(({ path, message }) => `${path}: ${message}`),
    warnings: came.warnings.map(({ path, message }) => `${path}: ${message}`),
  };
}

describe('the section mqtt', () => {
  it('needs the address of the broker alone', () => {
    const { mqtt, problems, warnings } = loaded({ url: 'mqtt://broker' });
    expect([problems, warnings]).toEqual([[], []]);
    expect(mqtt).toMatchObject({
      url: 'mqtt://broker',
      topic: expect.stringMatching(/^modbus-sim\/./),
      qos: 1,
      commands: 'none',
      publish: { values: true, every: 1000 },
      labels: {},
    });
  });

  it.each([
    [true, { group: 'modbus-sim', node: 'bench-7' }],
    [{ group: 'lab' }, { group: 'lab', node: 'bench-7' }],
    [{ node: 'n 1' }, { group: 'modbus-sim', node: 'n 1' }],
    [false, undefined],
    [undefined, undefined],
  ])('makes the bench an edge node of Sparkplug B with %j', (sparkplug, expected) => {
    const { mqtt, problems } = loaded({ url: 'mqtt://b', topic: 'modbus-sim/bench-7', sparkplug });
    expect([problems, mqtt?.sparkplug]).toEqual([[], expected]);
  });

  it('takes labels as text, and files from its directory', () => {
    const { mqtt } = loaded({ url: 'mqtts://b', labels: { rack: 3, hot: true }, ca: 'ca.pem', topic: 'x/y' });
    expect(mqtt).toMatchObject({
      labels: { rack: '3', hot: 'true' },
      files: { ca: '/d/ca.pem' },
      topic: 'x/y',
    });
  });

  it.each([
    [{}, 'mqtt.url: missing, expected the address of a broker, such as mqtts://broker:8883'],
    [{ url: 'http://b' }, /^mqtt\.url: expected the address of a broker/],
    [{ url: 'mqtt://u:secret@b' }, 'mqtt.url: expected an address without a user: use username and password'],
    [{ url: 'mqtt://b', topic: 'a/+/b' }, /^mqtt\.topic: expected a topic prefix/],
    [{ url: 'mqtt://b', topic: '$SYS' }, /^mqtt\.topic/],
    [{ url: 'mqtt://b', topic: 'a/' }, /^mqtt\.topic/],
    [{ url: 'mqtt://b', ca: 'x' }, 'mqtt.ca: is for mqtts: and wss:, not for mqtt:'],
    [{ url: 'mqtts://b', cert: 'x' }, 'mqtt.key: missing: a certificate and its key must be given together'],
    [{ url: 'mqtt://b', commands: 'some' }, /^mqtt\.commands: expected none, read or all/],
    [{ url: 'mqtt://b', qos: 3 }, /^mqtt\.qos: expected 0, 1 or 2/],
    [{ url: 'mqtt://b', publish: { every: 1 } }, /^mqtt\.publish\.every/],
    [{ url: 'mqtt://b', sparkplug: { group: 'a/b' } }, /^mqtt\.sparkplug\.group: expected one topic level/],
    [{ url: 'mqtt://b', sparkplug: { nodes: 'a' } }, /^mqtt\.sparkplug\.nodes: unknown key/],
    [{ url: 'mqtt://b', sparkplug: 'yes' }, /^mqtt\.sparkplug: expected a mapping/],
    [{ url: 'mqtt://b', pasword: 'hunter2' }, /^mqtt\.pasword: unknown key/],
  ])('refuses %j', (mqtt, problem) => {
    const { problems } = loaded(mqtt);
    expect(problems).toEqual([typeof problem === 'string' ? problem : expect.stringMatching(problem)]);
  });

  it('never shows a password', () => {
    expect(loaded({ url: 'mqtt://b', password: 17 }).problems.join()).not.toContain('17');
  });

  it('warns of commands that anybody may hear', () => {
    expect(loaded({ url: 'mqtt://b', commands: 'all' }).warnings).toHaveLength(1);
    expect(loaded({ url: 'mqtt://127.0.0.1', commands: 'all' }).warnings).toEqual([]);
    expect(loaded({ url: 'mqtts://b', commands: 'all' }).warnings).toEqual([]);
  });

  it('is missed by a signal that takes its values from there', () => {
    const entry = (mqtt: object, more: object = {}) => ({
      devices: { meter: { registers: { holding: [{ address: 0, ...more, signal: { mqtt } }] } } },
    });
    expect(loaded(undefined, entry({ topic: 't' })).warnings).toEqual([
      'devices.meter: has a signal that takes values from a broker, but there is no mqtt section',
    ]);
    expect(loaded({ url: 'mqtt://b' }, entry({ topic: 't' })).warnings).toEqual([]);
    expect(loaded({ url: 'mqtt://b' }, entry({ topic: 'a/#' })).problems).toEqual([
      expect.stringMatching(/signal\.mqtt\.topic: expected the name of a topic/),
    ]);
    expect(loaded({ url: 'mqtt://b' }, entry({ topic: 't', json: 'value' })).problems).toEqual([
      expect.stringMatching(/signal\.mqtt\.json: expected a path into JSON/),
    ]);
    expect(
      loaded({ url: 'mqtt://b' }, entry({ topic: 't', stale: '5s' }, { type: 'bits' })).problems,
    ).toEqual([expect.stringMatching(/signal\.mqtt\.stale: bits has no value that means "not available"/)]);
  });
});
