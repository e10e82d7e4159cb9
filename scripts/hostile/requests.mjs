/*
 * Requests generated from the OpenAPI document: every operation, with parameters and bodies that match its
 * schemas, and with wrong ones. For content that the document leaves open because it has the form of a file
 * (devices, lines, signals, scenarios), there is a grammar here. The same document, names and seed give the
 * same requests.
 */

/** @typedef {Record<string, any>} Schema A JSON schema. */
/** @typedef {{method: string, path: string, body?: string, type?: string, operation: string}} Request */
/** @typedef {() => any} Make */

/**
 * The names that requests use. Nothing else is queried or changed, so that the rest runs undisturbed.
 * @typedef {object} World
 * @property {readonly string[]} devices
 * @property {readonly string[]} lines
 * @property {readonly string[]} values
 * @property {readonly string[]} entries Catalogue entries.
 */

const RULES = ['slow', 'r1', 'r2', 'r.3'];

const RULES_OF = new Set(['post /api/v1/faults', 'put /api/v1/faults/{name}']);
const RUNS = new Set(['post /api/v1/runs', 'post /restapi/server']);

/** The fraction of bodies, parameters and their parts that are wrong. */
const WRONG = 0.12;

const NUMBERS = [
  ...[0, 1, 2, 3, 7, 100, 255, 256, 65_535, 65_536, 2 ** 31, 2 ** 32, 2 ** 53, 2 ** 53 + 2, 1e15, 1e300],
  ...[-1, -0, 0.5, -32_768, 1e-9, 1e9, 315_360_000_000, 100_000],
];
const TEXTS = [
  ...[
    '',
    ' ',
    '0',
    '1',
    '-1',
    '1s',
    '10ms',
    '1h',
    '1-4',
    '1-247',
    '*',
    'ff 00',
    '00',
    '50%',
    'each',
    'true',
    'null',
  ],
  ...['meter', 'voltage', 'é', '\ud800', '\u0000', '__proto__', 'constructor', '%', '../x', '1e400', '0x10'],
  ...['x'.repeat(65), 'x'.repeat(3000), '1970-01-01T00:00:00Z', '9007199254740993', 't', 'virtual'],
];
const PATHS = [
  '%00',
  '..',
  '%2e%2e',
  '%F0%9F%98%80',
  '%ED%A0%80',
  '%',
  '*',
  'a%2Fb',
  'x'.repeat(600),
  '%20',
  '1',
  'nobody',
];

/** Random numbers determined by a seed. @param {number} seed */
export function chance(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    /** @param {number} share */
    often: (share) => next() < share,
    /** @param {number} limit */
    below: (limit) => Math.floor(next() * limit),
    /** @template T @param {readonly T[]} list @returns {T} */
    of: (list) => /** @type {T} */ (list[Math.floor(next() * list.length)]),
  };
}

/**
 * Makes requests one after another, for all operations.
 * @param {any} document @param {World} world @param {number} seed @returns {() => Request}
 */
export function requestsOf(document, world, seed) {
  const { next, often, below, of } = chance(seed);
  /** @type {{path: string, method: string, operation: any}[]} */
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(/** @type {object} */ (methods)).map(([method, operation]) => ({
      path,
      method,
      operation,
    })),
  );

  /** @param {number} most @param {Make} make */
  const list = (most, make) => Array.from({ length: below(most + 1) }, make);
  /** Includes each key with its probability. @param {Record<string, [share: number, make: Make]>} keys */
  const some = (keys) =>
    Object.fromEntries(
      Object.entries(keys).flatMap(([key, [share, make]]) => (often(share) ? [[key, make()]] : [])),
    );
  const number = () => (often(0.4) ? of(NUMBERS) : often(0.5) ? below(300) : Math.round(next() * 1e6) / 1e3);
  const address = () => (often(0.7) ? below(40) : of([100, 9999, 65_534, 65_535]));
  const time = () => of(['1ms', '10ms', '1s', '1h', 1, 50, 1000, 86_400_000]);
  const hex = () => of(['00', 'ff 00', '03 02 00 07', '83 02', 'ff '.repeat(100)]);
  const unit = () => of([1, 1, 1, 2, 3, 0, 247, 255, '1-9', '*']);
  const name = () => of(world.values);
  const line = () => of(world.lines);
  const device = () => of(world.devices);

  const expression = () =>
    of([
      't',
      'sin(t) * 10',
      'voltage * level / 100',
      'level > 5 && t % 7 < 3',
      'meter.voltage + pump.voltage',
      'energy + 1',
      `1${'+t'.repeat(below(900))}`,
      '1/0',
      'voltage %',
      `${'('.repeat(200)}t${')'.repeat(200)}`,
    ]);
  const wave = () => ({
    period: time(),
    amplitude: number(),
    ...some({ offset: [0.5, number], phase: [0.3, number] }),
  });
  /** @type {Record<string, Make>} */
  const signals = {
    sine: wave,
    triangle: wave,
    sawtooth: wave,
    square: () => ({ ...wave(), ...some({ duty: [0.5, next] }) }),
    ramp: () => ({
      from: number(),
      to: number(),
      over: time(),
      ...of([
        {},
        JSON.parse('{"then": "hold"}'),
        JSON.parse('{"then": "repeat"}'),
        JSON.parse('{"then": "bounce"}'),
      ]),
    }),
    steps: () => list(often(0.05) ? 3000 : 4, () => ({ value: number(), for: time() })),
    noise: () => ({ around: number(), amplitude: number(), ...some({ every: [0.5, time] }) }),
    walk: () => ({ step: Math.abs(number()), min: 0, max: number(), ...some({ every: [0.5, time] }) }),
    counter: () => ({
      ...(often(0.3) ? { perSecond: number() } : { integral: name() }),
      ...some({
        every: [0.5, time],
        per: [0.3, time],
        from: [0.3, number],
        rollover: [0.3, () => of([1, 1000, 65_536])],
      }),
    }),
    expression,
    follows: () => ({
      name: name(),
      ...some({ after: [0.5, time], slew: [0.5, () => of([0.001, 1, 1e6])] }),
    }),
    playback: () => ({ file: of(['none.csv', '.', '/dev/zero']), column: 'v' }),
    mqtt: () => ({ topic: 'a/b', ...some({ json: [0.5, () => '$.a[0]'], stale: [0.5, time] }) }),
  };
  const signal = () => {
    const kind = of(Object.keys(signals));
    return { [kind]: signals[kind]?.() };
  };
  const changes = () =>
    list(often(0.1) ? 60 : 3, () => ({
      set: { [name()]: often(0.5) ? number() : expression() },
      ...some({ after: [0.6, time] }),
    }));
  const away = () => list(3, () => ({ from: time(), for: time(), ...some({ every: [0.5, time] }) }));

  /** @param {string} table */
  const entry = (table) => ({
    address: address(),
    ...some({
      value: [0.4, () => (often(0.2) ? list(20, number) : number())],
      quantity: [0.25, () => of([1, 2, 10, 125, 1000, 65_535])],
      write: [0.5, () => often(0.7)],
      name: [0.5, name],
      signal: [0.3, signal],
      follows: [0.1, () => signals.follows?.()],
      onWrite: [0.12, changes],
      limits: [0.1, () => ({ min: number(), max: number() })],
      allowed: [0.08, () => list(5, number)],
      retain: [0.1, () => true],
      available: [0.1, () => often(0.5)],
      unavailable: [0.1, away],
      busyFor: [0.06, time],
      action: [0.06, () => of(['random', 'increment', 'timestamp', 'uptime'])],
    }),
    ...(table === 'coils'
      ? some({ pulse: [0.15, time], latch: [0.15, () => of([true, { every: time() }])] })
      : some({
          type: [
            0.5,
            () => of(['uint16', 'int16', 'uint32', 'int64', 'uint64', 'float32', 'float64', 'string']),
          ],
          scale: [0.3, () => of([0.1, 10, 1e-300, 1e300])],
          length: [0.1, () => of([1, 4, 200])],
          notAvailable: [0.1, number],
        })),
  });
  const registers = () =>
    Object.fromEntries(
      ['coils', 'discrete', 'input', 'holding'].flatMap((table) =>
        often(0.6) ? [[table, list(often(0.05) ? 200 : 5, () => entry(table))]] : [],
      ),
    );
  const newDevice = () => ({
    name: device(),
    registers: registers(),
    ...some({
      clock: [0.2, () => some({ speed: [0.7, () => of([0, 1, 60, 100_000])], paused: [0.3, () => true] })],
      seed: [0.1, () => below(100)],
      like: [0.1, () => of(world.entries)],
      queues: [
        0.1,
        () => ({
          [address()]: often(0.5) ? list(31, () => below(65_536)) : { signal: signal(), every: time() },
        }),
      ],
      files: [0.1, () => ({ [1 + below(4)]: list(10, () => below(65_536)) })],
      sunspec: [0.05, () => list(5, () => of([1, 103, 120, 160, 701]))],
      manners: [0.1, () => ({ most: { registers: 1 + below(125) } })],
      exceptionStatus: [0.1, () => list(8, address)],
    }),
  });
  const place = () =>
    of([
      { tcp: { port: 0 } },
      { udp: { port: 0 } },
      { serial: { path: 'virtual', ...some({ baudRate: [0.5, () => of([50, 9600, 4_000_000])] }) } },
      { tls: { port: 0, cert: '/dev/null', key: '/dev/null' } },
      {
        tcp: {
          port: 0,
          ...some({
            maxClients: [0.5, number],
            idleTimeout: [0.5, time],
            hosts: [0.2, () => '127.3.0.1-127.3.0.9'],
          }),
        },
      },
    ]);
  const units = () =>
    often(0.1)
      ? { '1-247': { copyOf: device() } }
      : Object.fromEntries(list(3, () => [unit(), often(0.9) ? device() : { copyOf: device() }]));
  const newLine = () => ({
    name: line(),
    ...place(),
    units: units(),
    ...some({
      framing: [0.3, () => of(['socket', 'rtu', 'ascii'])],
      missingUnit: [0.2, () => of(['exception', 'silence'])],
      timing: [0.1, () => ({ turnaround: time() })],
      unsolicited: [0.1, () => ({ bytes: hex(), every: '10ms' })],
    }),
  });
  const when = () =>
    some({
      unit: [0.3, unit],
      function: [0.3, () => of([1, 3, 16, '1-4', [3, 4]])],
      address: [0.2, () => of([0, [0, 9], 65_535])],
      count: [0.3, () => 1 + below(5)],
      probability: [0.1, next],
    });
  const matcher = () => ({
    ...when(),
    ...some({
      write: [0.2, () => ({ [`meter.${name()}`]: number() })],
      same: [0.2, () => true],
      times: [0.3, () => of([1, 3, 2 ** 53, { min: 1 }, { min: 2, max: number() }])],
      within: [0.1, time],
      every: [0.1, time],
      response: [0.2, () => of([{ exception: 2 }, 'ok', 'none'])],
    }),
  });
  const step = () => ({
    ...some({
      set: [0.3, () => ({ [`meter.${name()}`]: of([number(), 2 ** 53, true, 'x']) })],
      wait: [0.3, time],
      expect: [0.3, () => (often(0.5) ? matcher() : list(3, matcher))],
      never: [0.2, matcher],
      within: [0.3, time],
      power: [0.2, () => ({ [device()]: of(['off', 'on', { off: time(), boot: time() }]) })],
      fault: [0.2, () => ({ when: { line: line() }, do: faults() })],
      repeat: [0.1, () => of([1, 3, 1000])],
      name: [0.2, () => of(TEXTS)],
    }),
  });
  /** A step that is usually accepted. */
  const goodStep = () =>
    of([
      () => ({ wait: time() }),
      () => ({ set: { [`meter.${name()}`]: of([number(), number(), true, 'x']) } }),
      () => ({ expect: { function: 3 }, within: time() }),
      () => ({ expect: [{}, { same: true, times: of([3, { min: 2, max: 2 ** 53 }]) }], within: time() }),
      () => ({ never: { write: { [`meter.${name()}`]: number() } }, within: time() }),
      () => ({ power: { meter: of(['off', 'on', { off: time(), boot: time() }]) } }),
      () => ({ fault: { when: when(), do: [{ delay: time() }, ...faults()] }, wait: time() }),
    ])();
  const order = () =>
    often(0.5)
      ? { kind: 'scenario', scenario: scenario() }
      : {
          kind: of(['client', 'client', 'fuzz', 'server', 'nonsense']),
          line: line(),
          ...some({ checks: [0.5, () => of(['poll-period', 'time-out', 'nonsense'])] }),
        };
  const scenario = () =>
    often(0.6)
      ? { name: 'x', line: line(), steps: [goodStep(), ...list(2, goodStep)] }
      : {
          name: of(TEXTS),
          line: line(),
          steps: list(often(0.05) ? 200 : 4, step),
          ...some({
            seed: [0.2, number],
            parameters: [0.1, () => ({ a: number() })],
            always: [0.1, () => [{ never: matcher() }]],
          }),
        };
  const faults = () =>
    list(3, () =>
      of([
        { delay: time() },
        { silence: true },
        { exception: 1 + below(8) },
        { junk: often(0.5) ? 1 + below(4096) : hex() },
        { split: { at: 'each', gap: time() } },
        { extend: hex() },
        { pdu: hex() },
        { crc: 'wrong' },
        { duplicate: { times: below(100) } },
        { flip: below(300) },
      ]),
    );

  const newRule = () => ({ name: of(RULES), when: when(), do: faults() });
  const entryOf = () => {
    const table = of(['coils', 'discrete', 'input', 'holding']);
    return { table, ...entry(table) };
  };
  const configuration = () => ({
    devices: Object.fromEntries(
      list(3, () => {
        const { name: named, ...source } = newDevice();
        return [named, source];
      }),
    ),
    lines: Object.fromEntries(
      list(2, () => {
        const { name: named, ...source } = newLine();
        return [named, source];
      }),
    ),
    ...some({ faults: [0.3, () => list(3, newRule)] }),
  });

  /** Content that the document leaves open, and the schemas of commands. @type {Record<string, Make>} */
  const grammar = {
    'post device.add': newDevice,
    'post line.add': newLine,
    'post line.change': () => ({ line: line(), settings: of([newLine(), { units: units() }]) }),
    'post value.define': () => ({ device: device(), ...entryOf() }),
    'post signal.set': () => ({ device: device(), value: name(), signal: signal() }),
    'post rule.add': () => ({ rule: newRule() }),
    'post rule.replace': () => ({ rule: newRule() }),
    'post rule.preview': () => ({ rule: newRule(), ...some({ like: [0.3, matcher] }) }),
    'post configuration.check': () => ({ configuration: configuration() }),
    'post configuration.apply': () => ({ configuration: configuration() }),
    'post run.start': () => ({ order: order() }),
    'post /api/v1/devices': newDevice,
    'post /api/v1/lines': newLine,
    'put /api/v1/lines/{name}': () => {
      const { name: _, ...settings } = newLine();
      return of([settings, { units: units() }, { missingUnit: 'silence' }]);
    },
    'put /api/v1/devices/{name}/signals/{value}': signal,
    'post /api/v1/runs': order,
    'post /api/v1/faults': newRule,
    'put /api/v1/faults/{name}': () => ({ when: when(), do: faults() }),
    'patch /api/v1/devices/{name}/registers': () => ({
      changes: list(often(0.1) ? 1000 : 5, () =>
        of([
          { name: name(), value: number() },
          { table: 'holding', address: address(), value: number() },
          { table: 'coils', address: address(), value: of([0, 1, true]) },
          { table: 'holding', address: address(), words: list(10, () => below(65_536)) },
          { name: name(), value: number(), expected: number() },
        ]),
      ),
    }),
  };

  /** Names that the program knows, for fields that expect a name. @type {Record<string, Make>} */
  const known = {
    line,
    device,
    name: () => of([...world.values, ...RULES]),
    unit,
    value: number,
    expected: number,
  };

  const anything = (depth = 0) =>
    of(
      /** @type {Make[]} */ ([
        number,
        number,
        () => of(TEXTS),
        () => often(0.5),
        () => null,
        () => (depth > 3 ? [] : list(3, () => anything(depth + 1))),
        () => (depth > 3 ? {} : Object.fromEntries(list(3, () => [of(TEXTS), anything(depth + 1)]))),
      ]),
    )();

  /**
   * A value that usually matches the schema. @param {Schema} schema @param {string} [key] @param {number}
   * [depth] @returns {any}
   */
  const made = (schema, key = '', depth = 0) => {
    if (typeof schema !== 'object' || depth > 12) return null;
    const reference = schema.$ref?.split('/').at(-1);
    if (reference) return made(document.components.schemas[reference], key, depth + 1);
    if (often(WRONG / 10)) return anything();
    if (schema.examples && often(0.25)) return of(schema.examples);
    if ('const' in schema) return schema.const;
    if (schema.enum) return of(schema.enum);
    if (key in known && often(0.7))
      return key === 'value' && schema.type === 'string' ? name() : known[key]?.();
    const options = schema.anyOf ?? schema.oneOf;
    if (options) return made(of(options), key, depth + 1);
    const type = Array.isArray(schema.type) ? of(schema.type) : schema.type;
    switch (type) {
      case 'boolean':
        return often(0.5);
      case 'null':
        return null;
      case 'integer':
      case 'number': {
        const { minimum = type === 'integer' ? 0 : -1e6, maximum = 1e6 } = schema;
        const inside = minimum + next() * (maximum - minimum);
        const value = of([minimum, maximum, inside, inside, of(NUMBERS), maximum + 1]);
        return type === 'integer' ? Math.round(value) : value;
      }
      case 'string':
        return of(TEXTS);
      case 'array': {
        const most = Math.min(schema.maxItems ?? 5, often(0.03) ? 2000 : 5);
        const items = schema.items ?? schema.prefixItems?.[0] ?? {};
        return Array.from({ length: Math.max(schema.minItems ?? 0, below(most + 1)) }, () =>
          made(items, key, depth + 1),
        );
      }
      case 'object': {
        const required = new Set(schema.required ?? []);
        const entries = Object.entries(schema.properties ?? {}).flatMap(([property, part]) =>
          required.has(property) || often(0.4) ? [[property, made(part, property, depth + 1)]] : [],
        );
        if (schema.additionalProperties && often(0.3))
          entries.push([
            of(TEXTS),
            made(schema.additionalProperties === true ? {} : schema.additionalProperties, '', depth + 1),
          ]);
        return Object.fromEntries(entries);
      }
      default:
        return anything(depth);
    }
  };

  /** The same value with one part replaced. @param {any} value @returns {any} */
  const spoilt = (value) => {
    if (often(0.2) || typeof value !== 'object' || value === null) return anything();
    if (Array.isArray(value)) {
      if (value.length === 0 || often(0.2))
        return Array.from({ length: of([1, 10, 1000, 5000]) }, () => value[0] ?? 0);
      const i = below(value.length);
      return value.map((each, at) => (at === i ? spoilt(each) : each));
    }
    const keys = Object.keys(value);
    if (keys.length === 0 || often(0.2)) return { ...value, [of(TEXTS)]: anything() };
    const changed = of(keys);
    if (often(0.2)) {
      const { [changed]: _, ...rest } = value;
      return rest;
    }
    return { ...value, [changed]: spoilt(value[changed]) };
  };

  /** JSON as text, sometimes malformed. @param {string} text */
  const garbled = (text) =>
    of([
      () => text.slice(0, below(text.length + 1)),
      () => text.replace(/\d+/, '9007199254740993'),
      () => text.replace(/\d+/, '1e999'),
      () => text.replace(/\d+/, '-0'),
      () => `${'['.repeat(5000)}`,
      () => `{"__proto__":${text}}`,
      () => `${text}${text}`,
      () => `"${'x'.repeat(of([10, 20_000, 300_000]))}"`,
    ])();

  /** Rules and runs must not concern anything outside the world. @param {string} key @param {any} body */
  const confined = (key, body) => {
    if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
    if (RULES_OF.has(key)) {
      const wanted =
        typeof body.when === 'object' && body.when !== null && !Array.isArray(body.when) ? body.when : {};
      return { ...body, when: { ...wanted, line: line() } };
    }
    // This simulation applies to all lines, so it may only be a short delay. Naming `response_split` or
    // `response_cr` turns them on, and a `split_delay` of 0 is a second.
    if (key === 'post /restapi/calls' && body.submit === 'Simulate') {
      const { response_split: _, response_cr: __, ...rest } = body;
      return { ...rest, response_type: 0, split_delay: 0, response_delay: of([0, 0.01]) };
    }
    if (key === 'post /api/v1/runs' && typeof body.scenario === 'object' && body.scenario !== null)
      return { ...body, scenario: { ...body.scenario, line: line() } };
    if (RUNS.has(key)) return { ...body, line: line() };
    return body;
  };

  /** @param {any} operation @param {string} path */
  const urlOf = (operation, path) => {
    const isDevice = path.includes('/devices/');
    const isLine = path.includes('/lines/');
    /** @type {Record<string, Make>} */
    const names = {
      name: () =>
        isDevice
          ? device()
          : isLine
            ? line()
            : path.includes('/faults/')
              ? of(RULES)
              : of(['fault-rule', 'line', 'client']),
      value: name,
      id: () => (path.includes('/catalogue/') ? of(world.entries) : String(1 + below(5))),
      endpoint: () => of(['registers', 'calls', 'nonsense']),
    };
    const filled = path.replace(/\{(\w+)\}/g, (_, parameter) =>
      often(WRONG / 2) ? of(PATHS) : encodeURIComponent(names[parameter]?.() ?? 'x'),
    );
    const query = operation.parameters
      .filter((/** @type {any} */ each) => each.in === 'query' && often(0.25))
      .map((/** @type {any} */ each) => {
        // Thousands of requests are sent one after another, so none may wait for long.
        const wait = of(['0', '5ms', '10ms', '1h', 'x']);
        const value = each.name === 'wait' ? wait : often(WRONG) ? of(TEXTS) : made(each.schema, each.name);
        return `${each.name}=${often(WRONG / 4) ? of(PATHS) : encodeURIComponent(Buffer.from(String(value)).toString())}`;
      });
    return query.length > 0 ? `${filled}?${query.join('&')}` : filled;
  };

  return () => {
    const { path, method, operation } = of(operations);
    const key = `${method} ${path}`;
    /** @type {Request} */
    const request = { method: method.toUpperCase(), path: urlOf(operation, path), operation: key };
    const content = operation.requestBody?.content;
    if (!content) return request;
    const isYaml = 'application/yaml' in content && often(0.2);
    const type = isYaml ? 'application/yaml' : 'application/json';
    const open = grammar[key];
    // A line generated from the schema would open ports and files on this machine.
    let body =
      open && (key === 'post /api/v1/lines' || often(0.8))
        ? open()
        : made(content['application/json']?.schema ?? {});
    if (often(WRONG)) body = spoilt(body);
    body = confined(key, body);
    const text = JSON.stringify(body) ?? 'null';
    return {
      ...request,
      type,
      body: often(WRONG / 3) && !RULES_OF.has(key) && key !== 'post /restapi/server' ? garbled(text) : text,
    };
  };
}
