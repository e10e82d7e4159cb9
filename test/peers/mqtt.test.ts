import { execFile, execFileSync, spawn } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import modbusSerial from 'modbus-serial';
import { expect, it, onTestFinished } from 'vitest';
import { command, type Decoded, decoded } from '../extensions/sparkplug/sparkplug-decoder.js';
import { makeTempDir, startProgram } from '../support/program.mjs';
import { type Mosquitto, mosquitto, noMosquitto } from './mosquitto.js';
import { describeWithPeer } from './peer.js';

/* A bench on a real broker: mosquitto, with the clients that come with it, and modbus-serial on the line. */

const run = promisify(execFile);
/** Everything that is published, as it comes: topic and payload. */
function listen({ options }: Mosquitto, topic = '#') {
  const heard: { topic: string; payload: string }[] = [];
  const subscriber = spawn('mosquitto_sub', [...options, '-t', topic, '-F', '%t\t%p'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  createInterface({ input: subscriber.stdout }).on('line', (line) => {
    const [at = '', payload = ''] = line.split('\t');
    heard.push({ topic: at, payload });
  });
  onTestFinished(() => void subscriber.kill());
  const last = (wanted: string) => heard.findLast((each) => each.topic === wanted)?.payload;
  return { heard, last };
}

const publish = ({ options }: Mosquitto, topic: string, payload: string, ...more: string[]) =>
  run('mosquitto_pub', [...options, '-t', topic, '-m', payload, ...more]);

/** The topics of what the broker keeps. */
async function retainedBy({ options }: Mosquitto): Promise<string[]> {
  const listening = run('mosquitto_sub', [...options, '-t', '#', '-F', '%t', '--retained-only', '-W', '1']);
  // It ends with an error when its time is over.
  const { stdout } = await listening.catch((error: { stdout: string }) => error);
  return stdout.trim().split('\n');
}

/** The end of the topic of a message that shows that a listener has its subscription. */
const LISTENS = 'STATE/listens';

/**
 * What is published below Sparkplug's namespace from now on: topic without the group, and what the payload says to another decoder.
 * Births are not retained, so whoever comes too late misses them.
 */
async function listenToSparkplug(broker: Mosquitto) {
  const { options } = broker;
  let isListening = false;
  const heard: (Decoded & { readonly at: string })[] = [];
  const subscriber = spawn('mosquitto_sub', [...options, '-t', 'spBv1.0/#', '-F', '%t\t%x'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  createInterface({ input: subscriber.stdout }).on('line', (line) => {
    const [topic = '', payload = ''] = line.split('\t');
    const at = topic.replace(/^spBv1.0\/[^/]+\//, '');
    if (at === LISTENS) isListening = true;
    else if (!at.includes('CMD/')) heard.push({ at, ...decoded(Buffer.from(payload, 'hex')) });
  });
  onTestFinished(() => void subscriber.kill());
  await expect
    .poll(async () => {
      await publishBytes(broker, `spBv1.0/somebody/${LISTENS}`, Buffer.of(8, 1));
      return isListening;
    })
    .toBe(true);
  return heard;
}

/** Publishes bytes. */
async function publishBytes({ options }: Mosquitto, topic: string, payload: Buffer): Promise<void> {
  const sent = run('mosquitto_pub', [...options, '-t', topic, '-s']);
  sent.child.stdin?.end(payload);
  await sent;
}

async function ask({ options }: Mosquitto, command: string, input: object): Promise<Record<string, unknown>> {
  const { stdout } = await run('mosquitto_rr', [
    ...options,
    ...['-V', '5', '-W', '60', '-t', `modbus-sim/b1/command/${command}`],
    ...['-e', 'modbus-sim/fleet/answers', '-D', 'publish', 'correlation-data', `${Math.random()}`],
    ...['-m', JSON.stringify(input)],
  ]);
  return JSON.parse(stdout) as Record<string, unknown>;
}

/** The program with a meter on a line. @returns it, and a client of the line */
async function bench(mqtt: object, environment: Readonly<Record<string, string>> = {}) {
  const signal = { mqtt: { topic: 'house/pv', json: '$.value', scale: 1000, stale: '3s' } };
  const holding = [
    { address: 0, type: 'float32', name: 'voltage', value: 230, unit: 'V', write: true },
    { address: 2, name: 'pv', unit: 'W', signal },
  ];
  const config = {
    devices: { 'me/ter': { registers: { holding, coils: [{ address: 0, name: 'relay', write: true }] } } },
    lines: { lan: { tcp: { host: '127.0.0.1', port: 0 }, units: { 1: 'me/ter' } } },
    mqtt: { topic: 'modbus-sim/b1', labels: { rack: 3 }, publish: { every: 200 }, ...mqtt },
  };
  const program = await startProgram({ config, env: environment });
  onTestFinished(() => void program.stop());
  const client = new modbusSerial.default();
  await client.connectTCP('127.0.0.1', { port: program.tcpPort('lan') });
  client.setID(1);
  onTestFinished(() => client.close(() => {}));
  return { program, client };
}

/** A net for what hangs. */
const LIMIT_MS = 600_000;

describeWithPeer('a bench on mosquitto', noMosquitto, () => {
  it(
    'tells its birth, its values and what clients write, and takes values',
    async () => {
      const broker = await mosquitto(makeTempDir());
      const { heard, last } = listen(broker);
      const { program, client } = await bench({
        url: `mqtt://127.0.0.1:${broker.port}`,
        commands: 'all',
      });
      await expect.poll(() => last('modbus-sim/b1/devices/me%2Fter/values/voltage')).toBe('230');
      // A broker hands over what it keeps in any order.
      await expect
        .poll(() => JSON.parse(last('modbus-sim/b1/state') ?? '{}'))
        .toMatchObject({
          state: 'online',
          labels: { rack: '3' },
          lines: [{ name: 'lan', state: 'open' }],
          devices: ['me/ter'],
          rest: [expect.stringMatching(/^http:/)],
        });
      await expect.poll(() => last('modbus-sim/b1/devices/me%2Fter/values/pv')).toBe('null');

      await client.writeRegisters(0, [0x4366, 0]);
      await expect.poll(() => last('modbus-sim/b1/devices/me%2Fter/values/voltage')).toBe('230');
      await client.writeRegisters(0, [0x4367, 0]);
      await expect.poll(() => last('modbus-sim/b1/devices/me%2Fter/values/voltage')).toBe('231');
      const written = () => JSON.parse(last('modbus-sim/b1/devices/me%2Fter/written/voltage') ?? '{}');
      await expect.poll(written).toMatchObject({
        value: 231,
        line: 'lan',
        client: expect.stringMatching(/^127\.0\.0\.1:/),
      });

      // It is stale again after 3 s, so on a busy machine it is published until it is read in time.
      await expect
        .poll(async () => {
          await publish(broker, 'house/pv', '{"value": 1.25}');
          return (await client.readHoldingRegisters(2, 1)).data;
        })
        .toEqual([1250]);
      const pv = 'modbus-sim/b1/devices/me%2Fter/values/pv';
      await expect.poll(() => heard).toContainEqual({ topic: pv, payload: '1250' });
      await expect.poll(async () => (await client.readHoldingRegisters(2, 1)).data).toEqual([0xffff]);

      await publish(broker, 'modbus-sim/b1/devices/me%2Fter/set/voltage', '12.5', '-r');
      await publish(broker, 'modbus-sim/b1/devices/me%2Fter/set/voltage', '99.5');
      await expect.poll(async () => (await client.readHoldingRegisters(0, 1)).data).toEqual([0x42c7]);
      await publish(broker, 'modbus-sim/b1/devices/me%2Fter/set/voltage', '"x", "device": "y"');
      await expect
        .poll(() => heard.filter(({ topic }) => topic === 'modbus-sim/b1/events/refused').length)
        .toBe(1);

      const metrics = await (await fetch(`${program.restUrl()}/metrics`)).text();
      expect(metrics).toMatch(/^modbus_sim_mqtt_connected 1$/m);
      expect(metrics).toMatch(/^modbus_sim_mqtt_messages_out_total [1-9]/m);

      process.kill(program.pid, 'SIGKILL');
      await expect.poll(() => last('modbus-sim/b1/state')).toBe('{"state":"offline","labels":{"rack":"3"}}');
    },
    LIMIT_MS,
  );

  it(
    'tells each of two values that a client wrote one right after the other',
    async () => {
      const broker = await mosquitto(makeTempDir());
      const { heard, last } = listen(broker);
      const { client } = await bench({ url: `mqtt://127.0.0.1:${broker.port}` });
      await expect.poll(() => last('modbus-sim/b1/state')).toContain('online');
      for (const high of [0x4366, 0x4367]) await client.writeRegisters(0, [high, 0]);
      const written = () =>
        heard
          .filter(({ topic }) => topic === 'modbus-sim/b1/devices/me%2Fter/written/voltage')
          .map(({ payload }) => (JSON.parse(payload) as { value: unknown }).value);
      await expect.poll(() => written().length).toBe(2);
      expect(written()).toEqual([230, 231]);
    },
    LIMIT_MS,
  );

  it(
    'takes back the values of a device that was removed while the broker was away',
    async () => {
      const directory = makeTempDir();
      const kept = ['persistence true', `persistence_location ${directory}/`];
      const broker = await mosquitto(directory, ['allow_anonymous true', ...kept]);
      const url = `mqtt://127.0.0.1:${broker.port}`;
      const { program } = await bench({ url, homeAssistant: true, publish: { every: 100 } });
      const rest = `${program.restUrl()}/api/v1/devices`;
      const body = JSON.stringify({ name: 'old', registers: { holding: [{ address: 0, name: 'power' }] } });
      const headers = { 'content-type': 'application/json' };
      expect(await fetch(rest, { method: 'POST', headers, body })).toMatchObject({ status: 201 });
      const announced = 'homeassistant/sensor/modbus-sim_2f_b1_2f_old/power/config';
      const topics = ['modbus-sim/b1/devices/old/values/power'];
      await expect.poll(() => retainedBy(broker)).toEqual(expect.arrayContaining(topics));
      await broker.stop();
      await broker.start();
      await expect.poll(() => retainedBy(broker)).toEqual(expect.arrayContaining([...topics, announced]));
      await broker.stop();
      expect(await fetch(`${rest}/old`, { method: 'DELETE' })).toMatchObject({ status: 204 });
      await broker.start();
      // A list that is cut short has neither.
      await expect
        .poll(async () => (await retainedBy(broker)).filter((topic) => /old|values.voltage/.test(topic)))
        .toEqual(['modbus-sim/b1/devices/me%2Fter/values/voltage']);
    },
    LIMIT_MS,
  );

  it(
    'carries out commands, tells what rules did, and says goodbye',
    async () => {
      const broker = await mosquitto(makeTempDir());
      const { last } = listen(broker);
      const { program, client } = await bench({
        url: `mqtt://127.0.0.1:${broker.port}`,
        commands: 'all',
      });
      await expect.poll(() => last('modbus-sim/b1/state')).toContain('online');
      const rule = { name: 'busy', do: [{ exception: 6 }] };
      expect(await ask(broker, 'rule.add', { rule })).toMatchObject({
        bench: 'modbus-sim/b1',
        ok: true,
        value: { name: 'busy' },
      });
      expect(await ask(broker, 'rule.add', { rule })).toMatchObject({ ok: false, code: 'rule.name_taken' });
      await expect(client.readHoldingRegisters(0, 1)).rejects.toThrow(/exception 6/);
      await expect.poll(() => last('modbus-sim/b1/events/rule')).toContain('"rule":"busy","hits":1');
      await ask(broker, 'line.stop', { line: 'lan' });
      await expect.poll(() => last('modbus-sim/b1/events/line')).toContain('stopped');
      await expect.poll(() => last('modbus-sim/b1/state')).toContain('"state":"stopped"');
      await program.stop();
      await expect
        .poll(() => JSON.parse(last('modbus-sim/b1/state') ?? '{}'))
        .toMatchObject({ state: 'offline', time: expect.any(String) });
    },
    LIMIT_MS,
  );

  it(
    'goes on without its broker, and tells its state right after it',
    async () => {
      const broker = await mosquitto(makeTempDir());
      const { client } = await bench({ url: `mqtt://127.0.0.1:${broker.port}` });
      await broker.stop('SIGKILL');
      for (let i = 0; i < 500; i++) await client.writeRegisters(0, [0x4300 + i, 0]);
      await broker.start();
      const { last } = listen(broker);
      await expect.poll(() => last('modbus-sim/b1/state')).toContain('online');
      await expect
        .poll(() => last('modbus-sim/b1/devices/me%2Fter/values/voltage'))
        .toBe(String(floatOf(0x4300 + 499)));
    },
    LIMIT_MS,
  );

  it(
    'is an edge node of Sparkplug B: births, data, commands, deaths',
    async () => {
      const broker = await mosquitto(makeTempDir());
      const heard = await listenToSparkplug(broker);
      const { client, program } = await bench({
        url: `mqtt://127.0.0.1:${broker.port}`,
        commands: 'all',
        sparkplug: { group: 'lab' },
      });
      const kinds = () => heard.map(({ at }) => at);
      const last = (at: string) => heard.findLast((each) => each.at === at);
      await expect.poll(kinds).toEqual(['NBIRTH/b1', 'DBIRTH/b1/me%2Fter']);
      expect(heard.map(({ seq }) => seq)).toEqual([0, 1]);
      expect(heard[0]?.values).toMatchObject({ 'Node Control/Rebirth': false, 'Lines/lan/State': 'open' });
      expect(heard[1]?.values).toEqual({ voltage: 230, pv: null, relay: false });

      await client.writeRegisters(0, [0x4367, 0]);
      await expect.poll(() => last('DDATA/b1/me%2Fter')?.values).toEqual({ voltage: 231 });
      await publishBytes(broker, 'spBv1.0/lab/DCMD/b1/me%2Fter', command('relay', 'Boolean', true));
      await expect.poll(async () => (await client.readCoils(0, 1)).data[0]).toBe(true);
      await expect.poll(() => last('DDATA/b1/me%2Fter')?.values).toEqual({ relay: true });
      expect(last('DDATA/b1/me%2Fter')?.seq).toBe(3);

      await publishBytes(broker, 'spBv1.0/lab/NCMD/b1', Buffer.from('garbage'));
      await publishBytes(broker, 'spBv1.0/lab/NCMD/b1', command('Node Control/Rebirth', 'Boolean', true));
      await expect.poll(() => kinds().slice(-2)).toEqual(['NBIRTH/b1', 'DBIRTH/b1/me%2Fter']);
      const born = last('NBIRTH/b1')?.values.bdSeq;
      const status = await (await fetch(`${program.restUrl()}/api/v1/mqtt`)).json();
      expect(status).toMatchObject({
        mqtt: { sparkplug: { group: 'lab', node: 'b1', connected: true, refused: 1 } },
      });

      await ask(broker, 'line.stop', { line: 'lan' });
      await expect.poll(() => last('NDATA/b1')?.values).toEqual({ 'Lines/lan/State': 'stopped' });
      process.kill(program.pid, 'SIGKILL');
      await expect.poll(() => last('NDEATH/b1')?.values).toEqual({ bdSeq: born });
    },
    LIMIT_MS,
  );

  it(
    'is another birth of its edge node when the broker is back, and a death at the end',
    async () => {
      const broker = await mosquitto(makeTempDir());
      const before = await listenToSparkplug(broker);
      const { program } = await bench({ url: `mqtt://127.0.0.1:${broker.port}`, sparkplug: true });
      await expect.poll(() => before.length).toBe(2);
      await broker.stop('SIGKILL');
      // It comes back when somebody listens: births are not retained.
      process.kill(program.pid, 'SIGSTOP');
      await broker.start();
      const all = await listenToSparkplug(broker);
      process.kill(program.pid, 'SIGCONT');
      const kinds = () => all.map(({ at }) => at);
      await expect.poll(kinds).toEqual(['NBIRTH/b1', 'DBIRTH/b1/me%2Fter']);
      // The first connection had the number 0, and each attempt since then one more.
      const { bdSeq } = all[0]?.values ?? {};
      expect(bdSeq).toBeGreaterThan(0);
      await program.stop();
      await expect.poll(() => kinds().at(-1)).toBe('NDEATH/b1');
      expect(all.at(-1)?.values).toEqual({ bdSeq });
    },
    LIMIT_MS,
  );

  it(
    'obeys TLS, the passwords and the lists of the broker',
    async () => {
      const directory = makeTempDir();
      const file = (name: string) => join(directory, name);
      const openssl = (...args: string[]) =>
        execFileSync('openssl', args, { cwd: directory, stdio: 'ignore' });
      openssl(
        'req',
        '-x509',
        '-newkey',
        'rsa:2048',
        '-nodes',
        '-days',
        '2',
        '-subj',
        '/CN=ca',
        '-keyout',
        'ca.key',
        '-out',
        'ca.pem',
      );
      openssl(
        'req',
        '-newkey',
        'rsa:2048',
        '-nodes',
        '-subj',
        '/CN=localhost',
        '-keyout',
        'broker.key',
        '-out',
        'broker.csr',
      );
      writeFileSync(file('names'), 'subjectAltName=IP:127.0.0.1,DNS:localhost');
      openssl(
        'x509',
        '-req',
        '-in',
        'broker.csr',
        '-CA',
        'ca.pem',
        '-CAkey',
        'ca.key',
        '-CAcreateserial',
        '-days',
        '2',
        '-extfile',
        'names',
        '-out',
        'broker.pem',
      );
      writeFileSync(file('passwords'), '');
      for (const user of ['bench', 'boss', 'guest'])
        execFileSync('mosquitto_passwd', ['-b', file('passwords'), user, `${user}-secret`]);
      writeFileSync(
        file('acl'),
        [
          'user bench',
          'topic readwrite modbus-sim/#',
          'user boss',
          'topic readwrite modbus-sim/#',
          'user guest',
          'topic read modbus-sim/#',
          '',
        ].join('\n'),
      );
      for (const name of ['broker.key', 'passwords', 'acl']) chmodSync(file(name), 0o600);
      const settings = [
        'allow_anonymous false',
        `cafile ${file('ca.pem')}`,
        `certfile ${file('broker.pem')}`,
        `keyfile ${file('broker.key')}`,
        `password_file ${file('passwords')}`,
        `acl_file ${file('acl')}`,
      ];
      const as = (user: string) => ['--cafile', file('ca.pem'), '-u', user, '-P', `${user}-secret`];
      const broker = await mosquitto(directory, settings, as('boss'));
      const { last } = listen(broker);
      const url = `mqtts://127.0.0.1:${broker.port}`;
      await bench(
        { url, ca: file('ca.pem'), username: 'bench', commands: 'all' },
        { MODBUS_SIM_MQTT_PASSWORD: 'bench-secret' },
      );
      await expect.poll(() => last('modbus-sim/b1/state')).toContain('online');
      const guest = { ...broker, options: ['-h', '127.0.0.1', '-p', String(broker.port), ...as('guest')] };
      await publish(guest, 'modbus-sim/b1/command/rule.add', '{"rule":{"name":"evil","do":[{"delay":1}]}}');
      expect(await ask(broker, 'rule.list', {})).toMatchObject({ ok: true, value: [] });
      const text = await ask(broker, 'program.configuration', {});
      expect(text.value).toContain('The password is left out');
      expect(text.value).not.toContain('bench-secret');
    },
    LIMIT_MS,
  );
});

/** The float32 of which the first register is `high` and the second one 0. */
function floatOf(high: number): number {
  const bytes = new DataView(new ArrayBuffer(4));
  bytes.setUint16(0, high);
  return bytes.getFloat32(0);
}
