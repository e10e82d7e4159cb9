import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';

/**
 * What each room of src may know. A room is a folder of a wing, or what lies beside these. `external` tells which
 * packages and node modules it may import; without it, any. `why` is what the message says.
 */
interface RoomRules {
  readonly knows: readonly string[];
  /** Rooms of which it may import types, and nothing that runs. */
  readonly knowsTypesOf?: readonly string[];
  /** Files of other rooms that it may import all the same, because they import nothing but each other. */
  readonly knowsFiles?: readonly string[];
  readonly external?: RegExp;
  readonly why: string;
}

/** The shape of what can fail, which every room may use but the ground. */
const RESULT = 'src/common/result.ts';

const NOTHING = /^$/;
const PURE = 'it is pure, so that it is tested without I/O: clock and random source come in as arguments';

/**
 * The wings of src from the ground up, and their rooms. A wing imports only from those before it. What lies in the folder of a wing
 * beside its rooms is the room of its name. What lies in src beside the wings belongs to the room `extensions`.
 */
const WINGS: Readonly<Record<string, readonly string[]>> = {
  common: ['common', 'schema', 'rest-client', 'timeline'],
  modbus: ['protocol', 'transport', 'client'],
  device: ['registers', 'signals', 'reactions', 'device', 'faults'],
  document: ['document'],
  simulator: ['filter', 'traffic', 'bus', 'proxy', 'simulator', 'commands', 'state'],
  testing: ['testing', 'measure'],
  remote: ['rpc', 'api', 'mqtt', 'web'],
  cli: ['verbs', 'tail', 'service', 'library', 'command-line'],
  extensions: [
    'extensions',
    'clone',
    'extcap',
    'fleet',
    'import',
    'learn',
    'restapi',
    'sparkplug',
    'traffic-files',
    'view',
  ],
};
const WING_NAMES = Object.keys(WINGS);

/** The number of the wing that a room is in; -1 when it is in none. */
function floorOf(room: string): number {
  return WING_NAMES.findIndex((wing) => WINGS[wing]?.includes(room));
}

const ROOMS: Readonly<Record<string, RoomRules>> = {
  common: {
    knows: [],
    external: /^node:(fs|v8)$/,
    why: 'it is what every wing uses and that knows no Modbus: random numbers, the files of the package and of the process, objects without gaps',
  },
  protocol: { knows: [], external: NOTHING, why: 'it is the ground that everything stands on' },
  schema: {
    knows: ['common'],
    external: /^zod$/,
    why: 'it is how input is checked, whatever the input is about',
  },
  registers: { knows: ['protocol'], external: NOTHING, why: PURE },
  device: {
    knows: ['common', 'protocol', 'registers', 'signals', 'reactions'],
    external: NOTHING,
    why: PURE,
  },
  faults: {
    knows: ['protocol', 'common', 'schema'],
    external: /^zod$/,
    why: 'a fault turns a plan into a plan and never knows a device, a socket or a port',
  },
  signals: {
    knows: ['common', 'schema'],
    external: /^(zod|jsep)$/,
    why: 'a signal is a function of the time and a seed, and never knows a register or a file',
  },
  reactions: {
    knows: ['protocol', 'schema', 'registers', 'signals'],
    external: /^zod$/,
    why: 'a reaction acts through its context and never knows a device, a register or a file',
  },
  bus: {
    knows: ['protocol', 'device', 'faults'],
    knowsTypesOf: ['transport'],
    external: NOTHING,
    why: 'it decides and does no I/O',
  },
  transport: {
    knows: ['protocol'],
    knowsFiles: ['src/common/descriptors.ts', 'src/common/platform.ts'],
    external: /^(node:.+|serialport|@serialport\/.+|koffi)$/,
    why: 'it carries bytes and time only and never knows a device or a fault',
  },
  filter: {
    knows: ['protocol'],
    knowsFiles: [
      RESULT,
      'src/common/schema/milliseconds.ts',
      'src/common/schema/problem.ts',
      'src/simulator/traffic/event.ts',
    ],
    external: NOTHING,
    why: 'it is the same in the program and in the browser: a text, and facts that are handed to it',
  },
  traffic: {
    knows: ['protocol', 'faults', 'filter'],
    knowsFiles: ['src/common/capture-numbers.ts', 'src/common/words.ts'],
    external: /^(pino|zod)$/,
    why: 'it is told of frames and asks nobody',
  },
  document: {
    knows: ['common', 'protocol', 'schema', 'registers', 'device', 'faults', 'signals', 'reactions'],
    knowsTypesOf: ['transport'],
    knowsFiles: ['src/common/rest-client/printable.ts'],
    why: 'it yields plain data, settings of transports among it; others build from it',
  },
  client: {
    knows: ['protocol', 'transport'],
    why: 'it asks any server and knows nothing of those that are simulated',
  },
  proxy: {
    knows: ['protocol', 'registers', 'device', 'document', 'client', 'transport'],
    external: NOTHING,
    why: 'it stands between a simulated device and a real one, and never knows the line of the client',
  },
  simulator: {
    knows: [
      'common',
      'client',
      'proxy',
      'protocol',
      'schema',
      'registers',
      'signals',
      'device',
      'faults',
      'bus',
      'transport',
      'traffic',
      'document',
    ],
    why: 'it is driven by the API and the command line, not the other way round',
  },
  commands: {
    knows: [
      'common',
      'protocol',
      'schema',
      'registers',
      'signals',
      'device',
      'faults',
      'traffic',
      'document',
      'simulator',
    ],
    external: /^(node:.+|zod|pino)$/,
    why: 'it takes plain data and returns plain data or a refusal, whoever asks',
  },
  testing: {
    knows: [
      'common',
      'rest-client',
      'protocol',
      'schema',
      'registers',
      'device',
      'faults',
      'filter',
      'traffic',
      'document',
      'simulator',
      'commands',
      'transport',
      'client',
      'timeline',
    ],
    external: /^(node:.+|fast-check|zod|pino)$/,
    why: 'it reads traffic, sets faults and values, and sends requests to servers; whoever starts a run prints and sends what was found',
  },
  measure: {
    knows: ['protocol', 'transport', 'document', 'traffic', 'simulator'],
    knowsFiles: ['src/common/platform.ts'],
    external: /^node:.+$/,
    why: 'it asks the lines of a simulator as a client does, and measures what comes',
  },
  rpc: {
    knows: ['common', 'traffic', 'commands', 'testing'],
    external: /^node:(worker_threads|timers\/promises)$/,
    why: 'it carries commands and answers between the two sides, and knows what neither means',
  },
  api: {
    knows: [
      'common',
      'protocol',
      'schema',
      'registers',
      'signals',
      'device',
      'faults',
      'filter',
      'traffic',
      'document',
      'commands',
      'testing',
      'rpc',
    ],
    knowsFiles: ['src/simulator/ports.ts'],
    knowsTypesOf: ['mqtt'],
    why: 'it is on the side of the desk, and reaches the running simulator by commands only',
  },
  mqtt: {
    knows: ['schema', 'protocol', 'device', 'transport', 'document', 'commands', 'rpc', 'api'],
    knowsTypesOf: ['traffic'],
    external: /^(node:.+|mqtt|pbf|fastify|zod)$/,
    why: 'it is on the side of the desk, and reaches the running simulator by commands only',
  },
  library: {
    knows: [
      'schema',
      'client',
      'faults',
      'document',
      'simulator',
      'commands',
      'testing',
      'rpc',
      'api',
      'rest-client',
    ],
    knowsTypesOf: ['traffic'],
    external: /^(node:.+|pino|fastify|zod)$/,
    why: 'it speaks to a simulator as REST clients do, and builds one as the command does',
  },
  'rest-client': {
    knows: [],
    external: NOTHING,
    why: 'it asks a simulator from a browser, a test or the command line, and needs nothing but fetch',
  },
  timeline: {
    knows: [],
    knowsFiles: ['src/common/words.ts'],
    external: NOTHING,
    why: 'it is drawn in a browser and in reports, from plain data',
  },
  tail: {
    knows: ['rest-client'],
    knowsTypesOf: ['traffic', 'api'],
    external: NOTHING,
    why: 'it follows a simulator of another process, of which it knows what REST tells',
  },
  web: {
    knows: ['rest-client', 'timeline', 'filter'],
    knowsTypesOf: ['api', 'commands', 'traffic', 'testing'],
    knowsFiles: [
      'src/remote/api/console/paths.ts',
      'src/modbus/protocol/bytes.ts',
      'src/modbus/protocol/crc16.ts',
      'src/modbus/protocol/function-code.ts',
      'src/modbus/protocol/function-table.ts',
      'src/modbus/protocol/limits.ts',
      'src/common/words.ts',
      'src/device/faults/then.ts',
      'src/device/registers/undefined.ts',
      'src/simulator/traffic/counters.ts',
      'src/simulator/traffic/sums.ts',
      'src/testing/doing.ts',
      'src/testing/report/recorded-registers.ts',
      'src/testing/report/words.ts',
      'src/testing/run-kinds.ts',
    ],
    external: /^(preact|preact\/hooks|htm\/preact|@preact\/signals)$|\.css$/,
    why: 'it runs in a browser, and knows of the simulator what REST tells',
  },
  state: {
    knows: [
      'common',
      'schema',
      'registers',
      'signals',
      'device',
      'faults',
      'document',
      'simulator',
      'commands',
    ],
    external: /^(zod|node:(crypto|util))$/,
    why: 'it turns a simulator into text and back, and never knows a file',
  },
  'command-line': {
    knows: ['common', 'schema'],
    knowsTypesOf: ['document', 'testing'],
    external: /^node:util$/,
    why: 'it is loaded for --help, --version and mistakes, which need nothing of the program',
  },
  service: {
    knows: [
      'common',
      'protocol',
      'schema',
      'device',
      'traffic',
      'document',
      'simulator',
      'commands',
      'state',
    ],
    knowsTypesOf: ['command-line'],
    knowsFiles: [
      'src/modbus/transport/port/libc.ts',
      'src/modbus/transport/port/port-path.ts',
      'src/modbus/transport/read-short.ts',
    ],
    external: /^(node:.+|pino|zod)$/,
    why: 'it is about the program as a service, which no line, device or request depends on',
  },
  import: {
    knows: ['protocol', 'device', 'registers', 'schema', 'document', 'common'],
    knowsFiles: ['src/common/rest-client/printable.ts'],
    external: /^(yaml|smol-toml|zod)$/,
    why: 'it turns the text of a foreign file into the text of a native one, and reads and writes no file',
  },
  learn: {
    knows: ['protocol', 'device', 'document'],
    knowsFiles: [
      'src/common/capture-numbers.ts',
      'src/common/rest-client/printable.ts',
      'src/common/schema/milliseconds.ts',
      'src/common/words.ts',
    ],
    external: /^yaml$/,
    why: 'it turns the text of logs into the text of a native file, and reads and writes no file',
  },
  clone: {
    knows: ['protocol', 'document', 'client', 'testing', 'import'],
    external: NOTHING,
    why: 'it asks by way of a client that is handed to it, and reads and writes no file',
  },
  extcap: { knows: [], why: 'it has faces alone' },
  fleet: {
    knows: ['common', 'schema', 'commands', 'testing', 'mqtt', 'verbs', 'command-line', 'extensions'],
    external: /^(node:crypto|zod)$/,
    why: 'it commands simulators by way of a broker',
  },
  sparkplug: {
    knows: ['common', 'schema', 'protocol', 'device', 'document', 'commands', 'rpc', 'api', 'mqtt'],
    external: /^(node:.+|pbf|zod)$/,
    why: 'it is loaded where the bench is an edge node of Sparkplug B',
  },
  restapi: {
    knows: [
      'common',
      'protocol',
      'schema',
      'registers',
      'signals',
      'device',
      'faults',
      'filter',
      'traffic',
      'document',
      'commands',
      'testing',
      'rpc',
      'api',
    ],
    external: /^(node:.+|fastify|zod)$/,
    why: 'it is on the side of the desk, and reaches the running simulator by commands only',
  },
  'traffic-files': {
    knows: ['common', 'protocol', 'traffic', 'document', 'commands', 'api'],
    external: /^(node:.+|fastify|pino|zod)$/,
    why: 'it is on the side of the desk, and reads the traffic that is kept',
  },
  view: {
    knows: ['common', 'schema', 'protocol', 'traffic', 'commands', 'testing', 'learn'],
    external: /^(zod|node:zlib)$/,
    why: 'it turns the bytes of a file into those of a page, and reads and writes no file',
  },
};
/** Rooms that put the others together. */
const MAY_KNOW_ALL = ['verbs', 'extensions'];

/** Packages that only one place may import. */
const CONFINED = [
  {
    packages: /^mqtt$/,
    places: ['src/remote/mqtt/'],
    why: 'it is loaded where a broker is configured, and nowhere else',
  },
  {
    packages: /^pbf$/,
    places: ['src/extensions/sparkplug/'],
    why: 'it is loaded where the bench is an edge node of Sparkplug B, and nowhere else',
  },
  {
    packages: /^(serialport|@serialport\/(?!parser-).+)$/,
    places: ['src/modbus/transport/port/'],
    why: 'hardware stays behind BytePort',
  },
  {
    packages: /^koffi$/,
    places: ['src/modbus/transport/port/libc.ts'],
    why: 'there are processors that it does not run on, which are found out there',
  },
] as const;

interface Import {
  readonly specifier: string;
  readonly isTypeOnly: boolean;
  /** True for `import()`, which loads the module when it is reached. */
  readonly isLate: boolean;
  readonly line: number;
}

/** The imports and re-exports of a source text: static, dynamic and type-only ones; none in comments or strings. */
function importsOf(source: string): Import[] {
  const strings: string[] = [];
  const bare = source.replace(
    /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'((?:\\.|[^'\\\n])*)'|"((?:\\.|[^"\\\n])*)"|`((?:\\.|[^`\\])*)`/g,
    (text, single?: string, double?: string, template?: string) => {
      const lines = text.replace(/[^\n]/g, '');
      const content = single ?? double ?? template;
      return content === undefined ? lines : `«${strings.push(content) - 1}»${lines}`;
    },
  );
  return [...bare.matchAll(/\b(?:from|import)\s*«(\d+)»|\bimport\s*\(\s*«(\d+)»/g)].map((match) => ({
    specifier: strings[Number(match[1] ?? match[2])] ?? '',
    isTypeOnly: /\bimport type\b[^;]*$/.test(bare.slice(0, match.index)),
    isLate: match[2] !== undefined,
    line: bare.slice(0, match.index + match[0].length).split('\n').length,
  }));
}

/** The files of an extension that put it in its place: they count among those beside its room. */
const FACES = ['command.ts', 'verb.ts', 'desk.ts'];

/** What Node starts, and what programs import. Each puts the core and the extensions together. */
const BEGINNINGS = ['desk-thread.ts', 'library.ts', 'main.ts', 'make-at-build.ts', 'work-thread.ts'];

/** `src/simulator/bus/bus.ts` -> `bus`; `src/simulator/line.ts` -> `simulator`; `src/main.ts` -> `extensions`. */
function roomOf(path: string): string {
  const [, wing = '', room = '', file] = path.split('/');
  if (BEGINNINGS.includes(wing)) return 'extensions';
  const isRoom = file !== undefined && room !== wing && WINGS[wing]?.includes(room);
  if (isRoom) return wing === 'extensions' && FACES.includes(file) ? wing : room;
  return wing.replace(/\.ts$/, '');
}

/** The source file a relative import means, as a path from the root; `undefined` for a package or node module. */
function targetOf(path: string, specifier: string): string | undefined {
  if (!specifier.startsWith('.')) return undefined;
  return normalize(join(dirname(path), specifier)).replace(/\.js$/, '.ts');
}

/** What is wrong with one import, or `undefined`. */
function mistakeOf(path: string, { specifier, isTypeOnly }: Import): string | undefined {
  const from = roomOf(path);
  const room = ROOMS[from];
  if (!MAY_KNOW_ALL.includes(from) && room === undefined) {
    return `room '${from}' is not in the table of test/house/imports.test.ts: say there what it may know, and why`;
  }
  const target = targetOf(path, specifier);
  if (target === undefined) {
    const confined = CONFINED.find(
      ({ packages, places }) => packages.test(specifier) && !places.some((place) => path.startsWith(place)),
    );
    if (confined) return `only ${confined.places.join(' and ')} may import '${specifier}': ${confined.why}`;
    if (room?.external && !room.external.test(specifier))
      return `${from} may not import '${specifier}': ${room.why}`;
    return undefined;
  }
  if (!target.startsWith('src/')) return `'${specifier}' leaves src: the program is built from src alone`;
  const to = roomOf(target);
  if (to === 'web' && from !== to)
    return `${from} may not import web: it runs in a browser, and is bundled apart`;
  if (floorOf(to) > floorOf(from))
    return `${from} may not import ${to} ('${specifier}'): the wing ${WING_NAMES[floorOf(to)]} is above ${WING_NAMES[floorOf(from)]}`;
  if (to === from || room === undefined || room.knows.includes(to)) return undefined;
  if (isTypeOnly && room.knowsTypesOf?.includes(to)) return undefined;
  if (room.knowsFiles?.includes(target) || (target === RESULT && from !== 'protocol')) return undefined;
  const known = room.knows.length > 0 ? `knows only ${room.knows.join(', ')}` : 'knows no other room';
  return `${from} may not import ${to} ('${specifier}'): ${from} ${known}, because ${room.why}`;
}

type Sources = Readonly<Record<string, string>>;

/**
 * Packages and Node modules that are loaded together with a file, before any of its code runs.
 * @param seen gets the files that are loaded, too
 */
function loadedWith(path: string, sources: Sources, seen = new Set<string>()): string[] {
  if (seen.has(path)) return [];
  seen.add(path);
  return importsOf(sources[path] ?? '')
    .filter(({ isTypeOnly, isLate }) => !isTypeOnly && !isLate)
    .flatMap(({ specifier }) => {
      const target = targetOf(path, specifier);
      return target === undefined ? specifier : loadedWith(target, sources, seen);
    });
}

/** One line for each import that goes the wrong way: file, line, rule and reason. */
function wrongImports(sources: Sources): string[] {
  return Object.entries(sources).flatMap(([path, source]) =>
    importsOf(source).flatMap((imported) => {
      const mistake = mistakeOf(path, imported);
      return mistake === undefined ? [] : [`${path}:${imported.line}: ${mistake}`];
    }),
  );
}

/** Every ring of files that import each other, as `a -> b -> a`. */
function cycles(sources: Sources): string[] {
  const found: string[] = [];
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start >= 0) found.push([...trail.slice(start), path].join(' -> '));
    if (start >= 0 || done.has(path)) return;
    for (const { specifier } of importsOf(sources[path] ?? '')) {
      const target = targetOf(path, specifier);
      if (target !== undefined && target in sources) visit(target, [...trail, path]);
    }
    done.add(path);
  };
  for (const path of Object.keys(sources)) visit(path, []);
  return found;
}

/** The longest way of imports between files of a folder, the file that imports first; type imports count. Files in a ring have none. */
function longestWay(folder: string, sources: Sources): string[] {
  const ways = new Map<string, string[]>();
  const wayFrom = (path: string): string[] => {
    const known = ways.get(path);
    if (known) return known;
    ways.set(path, []);
    const below = importsOf(sources[path] ?? '').flatMap(({ specifier }) => {
      const target = targetOf(path, specifier);
      return target?.startsWith(folder) && target in sources ? [wayFrom(target)] : [];
    });
    const way = [
      path,
      ...below.reduce((longest, each) => (each.length > longest.length ? each : longest), []),
    ];
    ways.set(path, way);
    return way;
  };
  const all = Object.keys(sources).filter((path) => path.startsWith(folder));
  return all.map(wayFrom).reduce((longest, each) => (each.length > longest.length ? each : longest), []);
}

function readSources(): Sources {
  const paths = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.ts'),
  );
  return Object.fromEntries(paths.map((path) => [`src/${path}`, readFileSync(`src/${path}`, 'utf8')]));
}

/** The most places where a verdict may come about: nobody sees all of more. */
const MOST_FLOORS = 6;

describe('the wings of src', () => {
  it('are all that is there, beside what the command and the library begin with', () => {
    expect(readdirSync('src').sort()).toEqual([...WING_NAMES, ...BEGINNINGS].sort());
  });

  it('have each room once', () => {
    expect(Object.values(WINGS).flat().sort()).toEqual([...Object.keys(ROOMS), ...MAY_KNOW_ALL].sort());
  });

  it.each(Object.entries(ROOMS))(
    'have nothing that %s knows above it',
    (room, { knows, knowsTypesOf = [] }) => {
      const above = [...knows, ...knowsTypesOf].filter((known) => floorOf(known) > floorOf(room));
      expect(above).toEqual([]);
    },
  );

  it.each(WING_NAMES)('have a README of at most 25 lines in %s, which names its rooms', (wing) => {
    const lines = readFileSync(`src/${wing}/README.md`, 'utf8').trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(25);
    const named = WINGS[wing]?.filter(
      (room) => room === wing || lines.some((line) => line.includes(`\`${room}/\``)),
    );
    expect(named).toEqual(WINGS[wing]);
  });
});

describe('the imports of src', () => {
  const sources = readSources();

  it('are read from every file', () => {
    expect(sources).toHaveProperty(['src/main.ts']);
    expect(Object.values(sources).flatMap(importsOf)).not.toHaveLength(0);
  });

  it('point one way', () => {
    expect(wrongImports(sources)).toEqual([]);
  });

  it('leave it to one module where the files of the package are, because a bundle puts modules elsewhere', () => {
    const asking = Object.entries(sources).filter(([, source]) => source.includes('import.meta.url'));
    expect(asking.map(([path]) => path)).toEqual(['src/common/package.ts']);
  });

  it('leave files that web may know without imports but of each other', () => {
    const files = ROOMS.web?.knowsFiles ?? [];
    const imported = files.flatMap((file) =>
      importsOf(sources[file] ?? "import 'missing'")
        .filter(({ isTypeOnly }) => !isTypeOnly)
        .map(({ specifier }) => targetOf(file, specifier) ?? specifier),
    );
    expect(imported.filter((target) => !files.includes(target))).toEqual([]);
  });

  it('load no package for --help, --version and what is wrong with a command line', () => {
    const loaded = loadedWith('src/cli/verbs/run.ts', sources);
    expect(loaded).toContain('node:util');
    expect(loaded.filter((specifier) => !specifier.startsWith('node:'))).toEqual([]);
  });

  it.each([
    [
      'the side of the lines',
      'src/cli/verbs/serve.ts',
      ['src/remote/rpc/line-end.ts', 'src/testing/runs.ts'],
    ],
    ['the desk', 'src/desk-thread.ts', ['src/remote/api/v1/capture.ts', 'src/remote/api/v1/reports.ts']],
    ['the desk on a broker', 'src/remote/mqtt/link.ts', ['src/remote/mqtt/commands.ts']],
  ])('load at the start of %s nothing that most starts never use', (_, path, needed) => {
    const files = new Set<string>();
    const packages = loadedWith(path, sources, files);
    expect(packages).toContain('zod');
    expect(packages).not.toContain('fast-check');
    if (!path.includes('mqtt')) expect(packages).not.toContain('mqtt');
    expect([...files]).toEqual(expect.arrayContaining(needed));
    const rarely =
      /^src\/(testing\/(client|server|scenario|fuzz|report\/(html|junit))|extensions\/(?!restapi)[\w-]+\/(?!desk\b|routes|benches-seen|known-benches|traffic-files)|traffic\/capture\/(capture|decoded|serial|socket))\b/;
    expect([...files].filter((file) => rarely.test(file))).toEqual([]);
    const otherSide = path.includes('serve')
      ? /^src\/(remote\/(api|rpc\/declared)|simulator\/commands\/schemas\/(?!fault-preview|reply)|testing\/declared)\b/
      : /^src\/remote\/rpc\/line-end\b/;
    expect([...files].filter((file) => otherSide.test(file))).toEqual([]);
  });

  it('form no cycle', () => {
    expect(cycles(sources)).toEqual([]);
  });

  it('lead through six files of a client test at most: heard, logged, watched, observed, tried, checked', () => {
    const way = longestWay('src/testing/client/', sources);
    expect(way.length, way.join(' -> ')).toBeLessThanOrEqual(MOST_FLOORS);
    expect(way.length).toBeGreaterThan(1);
  });
});

describe('a running simulator', () => {
  /** Calls that change a running simulator. */
  const CHANGES =
    /\.changes\.\w+\(|\b(?:writeValue|writeWords|setSignal|setWritable)\(|\bfaults\.(?:reset|configure)\(|\brules\.(?:set|switch|remove)\(|\.(?:restart|interrupt|restore|setClock)\(/;
  /**
   * Where these functions are; the tests, which set rules and values from the side of the lines; and the kept state of
   * devices, which is restored before a line is opened.
   */
  const INSIDE =
    /^src\/(?:(?:device|testing|modbus\/transport|remote\/web)\/|simulator\/(?:state\/device-state|(?!proxy\/|state\/|traffic\/))|cli\/library\/\w+-client)/;

  it('is the only way to change a running simulator', () => {
    const others = Object.entries(readSources()).flatMap(([path, source]) =>
      INSIDE.test(path)
        ? []
        : source.split('\n').flatMap((line) => (CHANGES.test(line) ? `${path}: ${line.trim()}` : [])),
    );
    expect(others).toEqual([]);
  });
});

describe('the table of rooms in docs/architecture.md', () => {
  const rows = [
    ...readFileSync('docs/architecture.md', 'utf8').matchAll(/^\| `([\w-]+)` \|.*\| ?([^|]*)\|$/gm),
  ].map(([, room = '', knows = '']) => [room, knows.trim()] as const);

  it('has each room once', () => {
    expect(rows.map(([room]) => room).sort()).toEqual([...Object.keys(ROOMS), ...MAY_KNOW_ALL].sort());
  });

  // Some cells say in words what the room knows.
  it.each(rows.filter(([, knows]) => /^(\w+(, \w+)*)?$/.test(knows) && knows !== 'all'))(
    'is true about %s',
    (room, knows) => {
      expect(knows === '' ? [] : knows.split(', ').sort()).toEqual([...(ROOMS[room]?.knows ?? [])].sort());
    },
  );
});

describe('the check of the imports', () => {
  it.each([
    ['src/modbus/protocol/pdu.ts', '../../device/device.js', 'protocol may not import device'],
    ['src/modbus/protocol/pdu.ts', 'node:buffer', "protocol may not import 'node:buffer'"],
    ['src/device/registers/image.ts', 'node:fs', 'clock and random source'],
    ['src/device/device.ts', '../simulator/bus/bus.js', 'device may not import bus'],
    [
      'src/device/faults/delay.ts',
      '../../modbus/transport/socket/line.js',
      'never knows a device, a socket or a port',
    ],
    ['src/device/faults/delay.ts', 'fastify', "faults may not import 'fastify'"],
    ['src/simulator/bus/bus.ts', 'zod', "bus may not import 'zod'"],
    ['src/modbus/transport/socket/line.ts', '../../../simulator/bus/bus.js', 'transport may not import bus'],
    ['src/modbus/transport/socket/line.ts', 'pino', "transport may not import 'pino'"],
    ['src/modbus/transport/socket/line.ts', 'serialport', 'only src/modbus/transport/port/'],
    ['src/main.ts', '@serialport/bindings-cpp', 'only src/modbus/transport/port/'],
    ['src/remote/api/server.ts', 'koffi', 'only src/modbus/transport/port/libc.ts may'],
    ['src/remote/api/server.ts', '../../modbus/transport/socket/line.js', 'api may not import transport'],
    ['src/document/lines.ts', '../modbus/transport/settings.js', 'document may not import transport'],
    ['src/simulator.ts', './remote/api/server.js', 'simulator may not import api'],
    ['src/simulator.ts', './main.js', 'simulator may not import extensions'],
    ['src/cli/verbs/run.ts', '../../extensions/all.js', 'the wing extensions is above cli'],
    ['src/main.ts', '../test/helper.js', 'leaves src'],
    ['src/remote/web/live.ts', '../api/app.js', 'web may not import api'],
    ['src/remote/web/live.ts', 'node:fs', "web may not import 'node:fs'"],
    ['src/main.ts', './remote/web/main.js', 'extensions may not import web'],
    ['src/attic/old.ts', './older.js', "room 'attic' is not in the table"],
  ])('finds %s importing %s', (path, specifier, message) => {
    const [mistake, ...others] = wrongImports({ [path]: `\nimport { x } from '${specifier}';\n` });
    expect(mistake).toContain(`${path}:2: `);
    expect(mistake).toContain(message);
    expect(others).toEqual([]);
  });

  it.each([
    ['src/device/device.ts', './registers/image.js'],
    ['src/device/faults/rule.ts', 'zod'],
    ['src/modbus/transport/port/port.ts', 'serialport'],
    ['src/modbus/transport/port/libc.ts', 'koffi'],
    ['src/cli/service/service.ts', '../../modbus/transport/port/libc.js'],
    ['src/main.ts', './remote/api/server.js'],
    ['src/remote/web/live.ts', '../../common/rest-client/events.js'],
  ])('lets %s import %s', (path, specifier) => {
    expect(wrongImports({ [path]: `import { x } from '${specifier}';` })).toEqual([]);
  });

  it('lets the configuration take types of a transport, and nothing that runs', () => {
    const types = "import type { X } from '../modbus/transport/settings.js';";
    expect(wrongImports({ 'src/document/lines.ts': types })).toEqual([]);
    const both = `${types}\nimport { y } from '../modbus/transport/settings.js';`;
    expect(wrongImports({ 'src/document/lines.ts': both })).toHaveLength(1);
  });

  it.each([
    "import type { X } from '../../simulator/bus/bus.js';",
    "import {\n  a,\n  type B,\n} from '../../simulator/bus/bus.js';",
    "import '../../simulator/bus/bus.js';",
    "export { x } from '../../simulator/bus/bus.js';",
    "export * from '../../simulator/bus/bus.js';",
    "const bus = await import('../../simulator/bus/bus.js');",
    "type X = import('../../simulator/bus/bus.js').X;",
    'import { x } from "../../simulator/bus/bus.js";',
  ])('sees the import in %j', (source) => {
    expect(wrongImports({ 'src/modbus/protocol/pdu.ts': source })).toHaveLength(1);
  });

  it.each([
    "// import { x } from '../../simulator/bus/bus.js';",
    "/*\n * import { x } from '../../simulator/bus/bus.js';\n */",
    'const text = "import { x } from \'../../simulator/bus/bus.js\'";',
    "const list = Array.from('../../simulator/bus/bus.js');",
  ])('sees no import in %j', (source) => {
    expect(wrongImports({ 'src/modbus/protocol/pdu.ts': source })).toEqual([]);
  });

  it('lets no wing import one above it, whatever the rooms say', () => {
    const source = "import type { X } from '../../device/device.js';";
    expect(wrongImports({ 'src/modbus/client/client.ts': source })).toEqual([
      "src/modbus/client/client.ts:1: client may not import device ('../../device/device.js'): the wing device is above modbus",
    ]);
  });

  it('finds files that import each other, through type imports too', () => {
    const ring = {
      'src/simulator/bus/a.ts': "import { b } from './b.js';",
      'src/simulator/bus/b.ts': "import type { C } from './c.js';",
      'src/simulator/bus/c.ts': "import { a } from './a.js';",
    };
    expect(cycles(ring)).toEqual([
      'src/simulator/bus/a.ts -> src/simulator/bus/b.ts -> src/simulator/bus/c.ts -> src/simulator/bus/a.ts',
    ]);
    expect(
      cycles({ 'src/simulator/bus/a.ts': "import { b } from './b.js';", 'src/simulator/bus/b.ts': '' }),
    ).toEqual([]);
  });

  it('finds the longest way between the files of a folder, through type imports too', () => {
    const house = {
      'src/testing/a.ts': "import { x } from './b.js';\nimport { y } from './c.js';",
      'src/testing/b.ts': "import type { Z } from './c.js';\nimport { w } from '../simulator/bus/bus.js';",
      'src/testing/c.ts': "import { x } from 'zod';",
      'src/simulator/bus/bus.ts': "import { v } from './v.js';",
      'src/simulator/bus/v.ts': "import { u } from './u.js';",
      'src/simulator/bus/u.ts': '',
    };
    expect(longestWay('src/testing/', house)).toEqual([
      'src/testing/a.ts',
      'src/testing/b.ts',
      'src/testing/c.ts',
    ]);
  });
});
