import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { hangUp } from './sinks.mjs';

/** @typedef {import('./good-client.mjs').Target} Target */
/** @typedef {import('./attacks.mjs').Attack} Attack */

/** @type {readonly Target['kind'][]} */
const REST = ['rest'];

/** Number of connections on which requests are sent at the same time. */
const AT_ONCE = 4;
/** More clients than the program accepts. */
const CROWD = 300;
const BODY = 250_000;
/** Number of names and values, slightly below the limit for a body. */
const MOST_PARTS = 4000;

/** @param {string} method @param {string} path @param {Target} target @param {string} [body] @param {string} [type] */
function request(method, path, { token }, body, type = 'application/json') {
  const head = [`${method} ${path} HTTP/1.1`, 'Host: localhost', `Authorization: Bearer ${token}`];
  if (body !== undefined) {
    head.push(`Content-Type: ${type}`, `Content-Length: ${Buffer.byteLength(body)}`);
  }
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body ?? ''}`);
}

/** Makes many items, separated by commas. @typedef {(item: (i: number) => string) => string} Fill */

/** As many items as fit in a body: far more than are parsed. @type {Fill} */
function filled(item) {
  const items = [];
  for (let length = 0, i = 0; length < BODY; i++) {
    items.push(item(i));
    length += (items.at(-1)?.length ?? 0) + 1;
  }
  return items.join(',');
}

/** As many items as are parsed. @type {Fill} */
function filledToTheLimit(item) {
  const items = [];
  for (let parts = 0, i = 0; parts < MOST_PARTS; i++) {
    items.push(item(i));
    parts += 1 + (items.at(-1)?.match(/[,:[{]/g)?.length ?? 0);
  }
  return items.join(',');
}

/** @param {string} content */
function rule(content) {
  return `{"name":"hostile",${content}}`;
}

const FAULT = '"do":[{"delay":1}]';

/**
 * Bodies that must be rejected.
 * @param {Fill} filled
 * @returns {readonly (readonly [name: string, method: string, path: string, body: string])[]}
 */
const bodies = (filled) => [
  ['unknown keys', 'POST', '/api/v1/faults', rule(`${FAULT},${filled((i) => `"k${i}":0`)}`)],
  [
    'unknown keys in `when`',
    'POST',
    '/api/v1/faults',
    rule(`${FAULT},"when":{${filled((i) => `"k${i}":0`)}}`),
  ],
  [
    'bad address pairs',
    'POST',
    '/api/v1/faults',
    rule(`${FAULT},"when":{"address":[${filled(() => '[9,-1]')}]}`),
  ],
  ['bad units', 'POST', '/api/v1/faults', rule(`${FAULT},"when":{"unit":[${filled(() => '-1')}]}`)],
  ['faults of unknown kinds', 'POST', '/api/v1/faults', rule(`"do":[${filled(() => '{"dely":1}')}]`)],
  ['one fault with many kinds', 'POST', '/api/v1/faults', rule(`"do":[{${filled((i) => `"k${i}":1`)}}]`)],
  ['parameters of a fault', 'POST', '/api/v1/faults', rule(`"do":[{"gap":{${filled((i) => `"k${i}":1`)}}}]`)],
  ['units of a line', 'PUT', '/api/v1/lines/tcp', `{"units":{${filled((i) => `"${i}":"x"`)}}}`],
  ['settings of a line', 'PUT', '/api/v1/lines/tcp', `{${filled((i) => `"k${i}":0`)}}`],
  ['settings of a socket', 'PUT', '/api/v1/lines/tcp', `{"tcp":{${filled((i) => `"k${i}":0`)}}}`],
  [
    'unknown keys in Set',
    'POST',
    '/restapi/server',
    `{"submit":"Set","line":"tcp",${filled((i) => `"k${i}":0`)}}`,
  ],
  ['unknown keys in Status', 'POST', '/restapi/server', `{"submit":"Status",${filled((i) => `"k${i}":0`)}}`],
  ['keys in Simulate', 'POST', '/restapi/calls', `{"submit":"Simulate",${filled((i) => `"k${i}":0`)}}`],
  ['small lists', 'POST', '/restapi/registers', `[${filled(() => '[]')}]`],
  ['keys __proto__', 'POST', '/restapi/registers', `{"a":[${filled(() => '{}')}],"__proto__":0}`],
  ['numbers', 'POST', '/restapi/registers', `[${filled(() => '1e1')}]`],
  [
    'invalid steps',
    'POST',
    '/api/v1/runs?kind=scenario',
    `{"name":"a","steps":[${filled(() => '{"wait":"soon"}')}]}`,
  ],
  [
    'invalid expectations',
    'POST',
    '/api/v1/runs?kind=scenario',
    `{"name":"a","steps":[${filled(() => '{"expect":{}}')}]}`,
  ],
  [
    'steps with invalid rules',
    'POST',
    '/api/v1/runs?kind=scenario',
    `{"name":"a","steps":[${filled(() => '{"fault":1}')}]}`,
  ],
];

/** No unit on the lines has the number 99. @type {ReturnType<typeof bodies>} */
const OTHER_BODIES = [
  ['brackets', 'POST', '/restapi/registers', '['.repeat(BODY)],
  [
    'a long text',
    'POST',
    '/restapi/registers',
    `{"submit":"Set","register":0,"value":"${'9'.repeat(BODY)}"}`,
  ],
  [
    'a rule that is slow to try',
    'PUT',
    '/api/v1/faults/hostile',
    '{"when":{"unit":99},"do":[{"junk":4096},{"split":{"at":"each","gap":0}}]}',
  ],
  [
    'endless certificates',
    'POST',
    '/api/v1/lines',
    '{"name":"x","units":{"1":"meter"},"tls":{"port":0,"cert":"/proc/self/pagemap","key":"/proc/self/pagemap"}}',
  ],
  [
    'deep lists',
    'POST',
    '/api/v1/devices',
    `{"name":"x","registers":${'['.repeat(4000)}${']'.repeat(4000)}}`,
  ],
  [
    'entries that each take addresses of the others',
    'POST',
    '/api/v1/devices',
    '{"name":"x","registers":{"holding":[{"address":26,"quantity":10},{"address":27},{"address":0,"quantity":100}]}}',
  ],
  [
    "somebody's terminal",
    'POST',
    '/api/v1/lines',
    '{"name":"x","units":{"1":"meter"},"serial":{"path":"/dev/pts/0"}}',
  ],
];

/** Devices with 65,536 values in 150 bytes. @type {ReturnType<typeof bodies>} */
const DEAR_BODIES = [
  ['that follow one', '"follows":{"name":"x"}'],
  ['that make noise', '"signal":{"noise":{"around":1,"amplitude":1}}'],
  ['that react', '"write":true,"onWrite":[{"set":{"x":1}}]'],
  ['with an expression', '"signal":{"expression":"x+t"}'],
].map(([name, entry]) => [
  `65,535 values ${name}`,
  'POST',
  '/api/v1/devices',
  `{"name":"q","registers":{"holding":[{"address":0,"quantity":65535,${entry}},{"address":65535,"name":"x","write":true}]}}`,
]);

const BUSY = '/api/v1/devices/busy';
const busyValues = Array.from({ length: 900 }, (_, address) => ({
  address,
  ...(address % 2 === 0 ? { follows: { name: 'x', after: '1s' } } : { signal: { expression: 'x+t' } }),
}));

/**
 * Operations on many values or registers at once. The first request of each creates what the others work on.
 * @type {readonly (readonly [name: string, ...requests: (readonly [method: string, path: string, body?:
 * object])[]])[]}
 */
const MANY_AT_ONCE = [
  [
    'fifty SunSpec models',
    ['POST', '/api/v1/devices', { name: 'sun', sunspec: Array(50).fill(1) }],
    ['DELETE', '/api/v1/devices/sun'],
  ],
  [
    'reset of a device with 900 values',
    [
      'POST',
      '/api/v1/devices',
      { name: 'busy', registers: { holding: [...busyValues, { address: 1000, name: 'x', write: true }] } },
    ],
    ['POST', `${BUSY}/reset`],
  ],
  [
    'a value that 450 others follow',
    ['PUT', `${BUSY}/values/x`, { value: 1 }],
    ['PUT', `${BUSY}/values/x`, { value: 2 }],
  ],
  [
    'a unit range of copies of a device with scattered registers',
    ['POST', `${BUSY}/registers`, { table: 'holding', address: 65_535 }],
    ['POST', `${BUSY}/registers`, { table: 'coils', address: 60_000 }],
    ['POST', '/api/v1/lines', { name: 'range', tcp: { port: 0 }, units: { '1-40': { copyOf: 'busy' } } }],
    ['DELETE', '/api/v1/lines/range'],
  ],
  ['devices learned from the traffic', ['GET', '/api/v1/learned.yaml']],
];

/** Bytes of YAML, slightly below the limit for a body. */
const YAML = 16_000;

/** @param {string} item */
const yamlOf = (item) => item.repeat(YAML / item.length);

/** Scenarios in YAML that are rejected. @type {readonly (readonly [name: string, body: string])[]} */
const YAML_BODIES = [
  ['a list', `[${yamlOf('1,')}]`],
  ['keys', `{${Array.from({ length: YAML / 8 }, (_, i) => `k${1000 + i}: ,`).join('')}}`],
  ['the same key', yamlOf('a: 1\n')],
  ['steps', `name: a\nsteps:\n${yamlOf('  - wait: soon\n')}`],
  ['brackets', yamlOf('[')],
  ['aliases', `a: &a [${'1,'.repeat(90)}]\nb: &b [${'*a,'.repeat(90)}]\nc: [${'*b,'.repeat(90)}]`],
  ['long aliases', `a: &a ${'x'.repeat(YAML / 2)}\nb: [${'*a,'.repeat(2000)}]`],
];

/**
 * Requests with long answers. @type {readonly (readonly [name: string, method: string, path: string, body?:
 * string])[]}
 */
const QUESTIONS = [
  ['exchanges?limit=1000', 'GET', '/api/v1/exchanges?limit=1000'],
  ['traffic?limit=100000', 'GET', '/api/v1/traffic?limit=100000'],
  ['a search that finds nothing', 'GET', '/api/v1/traffic?address=65535&limit=100000'],
  ['8192 registers', 'POST', '/restapi/registers', '{"submit":"Register","range_stop":8191}'],
  ['call_rows', 'POST', '/restapi/calls', '{"submit":"Monitor","show_hex":1,"show_decode":1}'],
  ['lines', 'GET', '/api/v1/lines'],
  ['server_rows', 'POST', '/restapi/server', '{"submit":"Status"}'],
  ['faults', 'GET', '/api/v1/faults'],
  ['a schema', 'GET', '/api/v1/schemas/fault-rule'],
  ['the schema of client tests', 'GET', '/api/v1/schemas/client'],
  ['kinds of signals', 'GET', '/api/v1/signals'],
  ['openapi.json', 'GET', '/api/v1/openapi.json'],
  ['docs', 'GET', '/api/v1/docs'],
];

/** Attacks of clients on the REST interface; most of them have the token. @type {readonly Attack[]} */
export const REST_ATTACKS = [
  ...[...bodies(filled), ...OTHER_BODIES, ...DEAR_BODIES].map(([name, method, path, body]) => ({
    name: `body: ${name}`,
    on: REST,
    run: repeated((target) => request(method, path, target, body)),
  })),
  ...bodies(filledToTheLimit).map(([name, method, path, body]) => ({
    name: `parsed body: ${name}`,
    on: REST,
    run: repeated((target) => request(method, path, target, body)),
  })),
  ...YAML_BODIES.map(([name, body]) => ({
    name: `YAML: ${name}`,
    on: REST,
    run: repeated((target) =>
      request('POST', '/api/v1/runs?kind=scenario', target, body, 'application/yaml'),
    ),
  })),
  ...QUESTIONS.map(([name, method, path, body]) => ({
    name: `answer: ${name}`,
    on: REST,
    run: repeated((target) => request(method, path, target, body)),
  })),
  ...MANY_AT_ONCE.map(([name, ...requests]) => ({
    name: `many at once: ${name}`,
    on: REST,
    run: inTurn(requests),
  })),
  {
    name: 'wrong tokens',
    on: REST,
    run: repeated((target) => request('GET', '/api/v1/lines', { ...target, token: 'wrong' })),
  },
  { name: 'pipelined requests', on: REST, run: pipelined },
  { name: 'answers that are not read', on: REST, run: unread },
  { name: 'lists whose client disconnects', on: REST, run: left },
  { name: 'readers that disconnect at once', on: REST, run: leftPlaces },
  { name: 'another host in the request target', on: REST, run: foreignTarget },
  { name: 'half a header, then silence', on: REST, run: halfHeaders },
  { name: 'half a header, then single bytes slowly', on: REST, run: dripped },
  { name: 'endless bytes that are not HTTP', on: REST, run: noHttp },
  { name: 'devices that take much memory', on: REST, run: greedyDevices },
];

/**
 * Sends the same request repeatedly, on several connections, each time after the answer.
 * @param {(target: Target) => Buffer} make
 * @returns {Attack['run']}
 */
function repeated(make) {
  return async (target, { ms }) => {
    const bytes = make(target);
    const endsAt = performance.now() + ms;
    const counts = await Promise.all(Array.from({ length: AT_ONCE }, () => ask(target, bytes, endsAt)));
    return `${counts.reduce((sum, count) => sum + count, 0)} requests`;
  };
}

/**
 * Sends requests in turn, each after the previous one is answered.
 * @param {readonly (readonly [method: string, path: string, body?: object])[]} requests
 * @returns {Attack['run']}
 */
function inTurn(requests) {
  return async (target, { ms }) => {
    const endsAt = performance.now() + ms;
    let count = 0;
    for (; performance.now() < endsAt; count++) {
      const [method, path, body] = requests[count % requests.length] ?? ['GET', '/'];
      const socket = dial(target.port);
      socket.write(request(method, path, target, body && JSON.stringify(body)));
      await answered(socket);
      await hangUp(socket);
    }
    return `${count} requests`;
  };
}

/** @param {Target} target @param {Buffer} bytes @param {number} endsAt */
async function ask({ port }, bytes, endsAt) {
  let count = 0;
  for (let socket = dial(port); performance.now() < endsAt; count++) {
    if (socket.destroyed) socket = dial(port);
    socket.write(bytes);
    await answered(socket);
    if (performance.now() >= endsAt) await hangUp(socket);
  }
  return count;
}

/** Waits for a complete answer, or the end of the connection. @param {import('node:net').Socket} socket */
function answered(socket) {
  return new Promise((resolve) => {
    let head = '';
    let left = Number.NaN;
    let tail = '';
    /** @param {Buffer} bytes */
    const take = (bytes) => {
      if (Number.isNaN(left)) {
        head += bytes.toString('latin1');
        const end = head.indexOf('\r\n\r\n');
        if (end < 0) return;
        const length = /^content-length: (\d+)/im.exec(head)?.[1];
        left = length === undefined ? Number.POSITIVE_INFINITY : Number(length) - (head.length - end - 4);
        tail = head;
      } else {
        left -= bytes.length;
        tail = (tail + bytes.toString('latin1')).slice(-5);
      }
      if (left <= 0 || (left === Number.POSITIVE_INFINITY && tail.endsWith('0\r\n\r\n'))) done();
    };
    const done = () => {
      socket.off('data', take).off('close', done);
      resolve(undefined);
    };
    socket.on('data', take).on('close', done);
  });
}

/** @param {number} port */
function dial(port) {
  return connect(port, '127.0.0.1').on('error', () => {});
}

/** @type {Attack['run']} */
async function pipelined(target, { ms }) {
  const bytes = Buffer.concat(
    Array.from({ length: 1000 }, () => request('GET', '/api/v1/exchanges?limit=1000', target)),
  );
  const sockets = Array.from({ length: AT_ONCE }, () => dial(target.port).resume());
  for (const socket of sockets) socket.write(bytes);
  await delay(ms);
  await Promise.all(sockets.map(hangUp));
  return `1000 on each of ${AT_ONCE} connections`;
}

/** @type {Attack['run']} */
async function unread(target, { ms }) {
  const bytes = Buffer.concat(
    Array.from({ length: 100 }, () => request('GET', '/api/v1/exchanges?limit=1000', target)),
  );
  const sockets = Array.from({ length: CROWD }, () => dial(target.port).pause());
  for (const socket of sockets) socket.write(bytes);
  await delay(ms);
  await Promise.all(sockets.map(hangUp));
  return `${CROWD} connections`;
}

/** How long after its request a client leaves, in ms. */
const LEAVES_AFTER_MS = 10;

/** Requests lists of many registers, and leaves before they are complete. @type {Attack['run']} */
async function left(target, { ms }) {
  const bytes = request('GET', '/api/v1/devices/large/registers?table=holding&from=0&to=8191', target);
  const endsAt = performance.now() + ms;
  let count = 0;
  while (performance.now() < endsAt) {
    const socket = dial(target.port);
    socket.write(bytes);
    await delay(count++ % (2 * LEAVES_AFTER_MS));
    await hangUp(socket);
  }
  return `${count} lists`;
}

/** Resources that only a few clients may read at a time. `ID` stands for the number of a test on the line. */
const PLACES = [
  '/api/v1/runs/ID/report.html',
  '/api/v1/exchanges?wait=20s&function=99',
  '/api/v1/capture.pcapng',
  '/api/v1/events',
];
/** A round has every third of these times, the next round others. */
const TIMES_APART = 3;
/** How long the next reader may be refused, in ms: less than the longest wait. */
const GIVEN_BACK_MS = 15_000;
/** How many refusals are allowed within that time: a program that is not busy refuses five times as often. */
const FEW_REFUSALS = 200;

/** Occupies all places, leaves, and fails if the next reader is refused. @type {Attack['run']} */
async function leftPlaces(target, { ms }) {
  const url = `http://127.0.0.1:${target.port}`;
  const headers = {
    authorization: `Bearer ${target.token}`,
    'content-type': 'application/json',
    connection: 'close',
  };
  const body = JSON.stringify({ name: 'left', line: 'tcp', steps: [{ wait: 1 }] });
  const started = await fetch(`${url}/api/v1/runs?kind=scenario`, { method: 'POST', headers, body });
  const { id } = /** @type {{id: number}} */ (await started.json());
  const endsAt = performance.now() + ms;
  let count = 0;
  for (let round = 0; round === 0 || performance.now() < endsAt; round++) {
    for (const path of PLACES.map((each) => each.replace('ID', String(id)))) {
      for (let after = round % TIMES_APART; after < LEAVES_AFTER_MS; after += TIMES_APART, count++) {
        const sockets = Array.from({ length: 30 }, () => dial(target.port));
        await Promise.all(sockets.map((socket) => once(socket, 'connect').catch(() => undefined)));
        for (const socket of sockets) socket.write(request('GET', path, target));
        await delay(after);
        await Promise.all(sockets.map(hangUp));
      }
      const giveUpAt = performance.now() + GIVEN_BACK_MS;
      let refusals = 0;
      for (let status = 503; status === 503; await delay(LEAVES_AFTER_MS)) {
        const reader = new AbortController();
        // A connection closed at the connection limit is also a refusal.
        status = await fetch(url + path.replace('20s', '1ms'), { headers, signal: reader.signal }).then(
          (answer) => answer.status,
          () => 503,
        );
        reader.abort();
        if (status === 503) refusals++;
        // Few answers mean a busy machine, not a program that keeps places.
        if (refusals > FEW_REFUSALS && performance.now() > giveUpAt)
          throw new Error(`${path}: readers that disconnected still take up its places`);
      }
    }
  }
  return `30 readers, ${count} times`;
}

/**
 * Sends the requests of a web page whose own host name resolves to this machine; fails if they are served.
 * @type {Attack['run']}
 */
async function foreignTarget(target, { ms }) {
  const endsAt = performance.now() + ms;
  let count = 0;
  for (; performance.now() < endsAt; count++) {
    const socket = dial(target.port);
    socket.write(request('GET', 'http://example.invalid/api/v1/lines', target));
    let answer = '';
    socket.on('data', (bytes) => {
      answer += bytes;
    });
    await answered(socket);
    await hangUp(socket);
    // A connection closed at the connection limit is also a refusal.
    if (answer !== '' && !answer.startsWith('HTTP/1.1 421 ')) throw new Error(`served: ${answer}`);
  }
  return `${count} requests`;
}

/** @type {Attack['run']} */
async function halfHeaders({ port }, { ms }) {
  const sockets = Array.from({ length: CROWD }, () => dial(port));
  await Promise.all(sockets.map((socket) => once(socket, 'connect').catch(() => undefined)));
  for (const socket of sockets) socket.write('GET /healthz HTTP/1.1\r\nHost: loc');
  await delay(ms);
  await Promise.all(sockets.map(hangUp));
  return `${CROWD} connections`;
}

/** Interval between two bytes of a header, in ms. */
const DRIP_MS = 50;

/** @type {Attack['run']} */
async function dripped({ port }, { ms }) {
  const sockets = Array.from({ length: CROWD }, () => dial(port));
  for (const socket of sockets) socket.write('GET /healthz HTTP/1.1\r\nX: ');
  for (const endsAt = performance.now() + ms; performance.now() < endsAt; await delay(DRIP_MS)) {
    for (const socket of sockets) if (socket.writable) socket.write('x');
  }
  await Promise.all(sockets.map(hangUp));
  return `${CROWD} connections`;
}

/** @type {Attack['run']} */
async function noHttp({ port }, { ms }) {
  const sockets = Array.from({ length: CROWD }, () => dial(port).pause());
  for (const socket of sockets) socket.write('GARBAGE\r\n\r\n');
  await delay(ms);
  await Promise.all(sockets.map(hangUp));
  return `${CROWD} connections`;
}

/** The number of expressions that make a device larger than a MB. */
const EXPRESSIONS = 40;

/** Adds devices as long as there is room and time, and removes them. @type {Attack['run']} */
async function greedyDevices(target, { ms }) {
  const registers = {
    holding: Array.from({ length: EXPRESSIONS }, (_, address) => ({
      address,
      signal: { expression: `1${'+t'.repeat(110)}` },
    })),
  };
  const endsAt = performance.now() + ms;
  /** @type {string[]} */
  const names = [];
  const send = (
    /** @type {string} */ method,
    /** @type {string} */ path,
    /** @type {object | undefined} */ body = undefined,
  ) => {
    const socket = dial(target.port);
    socket.write(request(method, path, target, body && JSON.stringify(body)));
    return answered(socket).then(() => hangUp(socket));
  };
  while (performance.now() < endsAt) {
    /** @type {string} */
    const name = `greedy-${names.length}`;
    names.push(name);
    await send('POST', '/api/v1/devices', { name, registers });
  }
  for (const name of names) await send('DELETE', `/api/v1/devices/${name}`);
  return `${names.length} devices`;
}
