import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

/** The sentences of docs/what-it-touches.md by their beginnings, and the tests that hold them: file and title. */
const HELD: Readonly<Record<string, readonly (readonly [file: string, title: string])[]>> = {
  '`--state DIR`': [
    ['simulator/state/files.test.ts', '%s is refused, and nothing in it is touched'],
    [
      'simulator/state/files.test.ts',
      'may have traffic files, folders and hidden files beside the state, which are left alone',
    ],
    [
      'cli/verbs/state.test.ts',
      'in a folder with a bench of somebody is refused, and nothing there is touched',
    ],
  ],
  'A state is `bench.json`': [
    [
      'simulator/state/files.test.ts',
      'that an earlier version has left is read, also with files of others in it; only what it left unfinished goes',
    ],
  ],
  'A file with one of these names': [
    ['simulator/state/files.test.ts', '%s is refused, and nothing in it is touched'],
    [
      'simulator/state/files.test.ts',
      'does not lose what somebody puts there meanwhile: it is not written over and not removed',
    ],
  ],
  'A directory that the service manager': [
    ['simulator/state/files.test.ts', 'that the service manager has made may have files of others'],
  ],
  'A state of an earlier version': [
    [
      'simulator/state/files.test.ts',
      'that an earlier version has left is read, also with files of others in it; only what it left unfinished goes',
    ],
  ],
  'A state is never thrown away': [
    ['simulator/state/restore.test.ts', '%s is set aside, and the device is as the file says'],
    ['simulator/state/files.test.ts', 'by %s set the state aside at once, in a folder that is a state again'],
    [
      'cli/verbs/state.test.ts',
      'keeps a state in whose start it was killed twice; after the third time it begins without it, and offers it',
    ],
  ],
  '`traffic.file`': [
    [
      'extensions/traffic-files/traffic-files.test.ts',
      'goes on in new files, of which the oldest go, and none is longer than it may be',
    ],
  ],
  'REST writes traffic': [
    ['extensions/traffic-files/routes.test.ts', 'than below the directory of the configuration'],
    [
      'extensions/traffic-files/routes.test.ts',
      'than where the configuration has traffic written, or where the command line says',
    ],
  ],
  'The link of a virtual line': [
    [
      'modbus/transport/port/client-link.test.ts',
      'what somebody else has under the name of the link stays as it is',
    ],
    ['modbus/transport/port/client-link.test.ts', 'takes the place of one that a killed program left behind'],
  ],
  '`-o`': [
    ['extensions/import/verb.test.ts', 'overwrites a file with --force only'],
    [
      'extensions/clone/verb.test.ts',
      'finds nobody, overwrites nothing, and says what is wrong with an option',
    ],
  ],
  '`--junit`': [
    ['cli/verbs/replace.test.ts', 'a %s is written over an earlier one, an empty file and no other'],
  ],
  '`--log_file`': [
    [
      'cli/verbs/log.test.ts',
      'goes into a file with --log_file, after what is there, and nothing to standard error',
    ],
  ],
  '`extcap --install`': [
    [
      'extensions/extcap/verb.test.ts',
      'is installed over an earlier one, and over nothing else: not over a file of that name, nor through a link',
    ],
    ['extensions/extcap/verb.test.ts', 'captures into a pipe, and does not write over a file'],
  ],
  'The socket of a reload': [
    ['cli/service/reload-socket.test.ts', 'a file in place of the socket is left alone, and named'],
  ],
  'Removing the Debian package': [
    [
      'house/package.test.ts',
      'that is purged takes with it what the service has written, and the account that it was given',
    ],
    [
      'house/package.test.ts',
      'that is purged leaves what people have put into its folders, and an account of theirs',
    ],
  ],
  'Node 22.1 and later': [
    [
      'cli/verbs/nodes.test.ts',
      'keeps what it has compiled in the cache of its user, unless it is told not to',
    ],
  ],
  'Nothing else writes': [['house/touches.test.ts', 'only these files of src may write, rename or remove']],
  'The program connects': [['house/touches.test.ts', 'only these files of src may connect']],
  'Lines and REST listen': [
    [
      'document/native/registers.test.ts',
      'listens on loopback, port 5020, and allows unit identifiers 0 and 255 over TCP',
    ],
    ['cli/verbs/access.test.ts', 'without a token is refused, unless the file says insecure'],
  ],
  'A client of REST': [
    [
      'remote/api/v1/real-devices.test.ts',
      'may be added for a host that the file lists, and for a port of the machine',
    ],
  ],
  '`clone` never writes': [
    [
      'extensions/clone/verb.test.ts',
      'reads a late device that needs pauses, never writes, and its clone is as late',
    ],
  ],
  'A real device behind a line': [
    ['document/native/real.test.ts', 'has a second of time, passes only reads on, and keeps values'],
  ],
  '`test-server` writes only': [
    ['testing/server/every-mutant.test.ts', '%s on %s'],
    [
      'testing/server/own.test.ts',
      'are put back by function 6 where function 16 is confirmed and stores zeros',
    ],
    [
      'testing/server/own.test.ts',
      'alone switches no coil: without scratch coils only function 99 is sent to unit 0',
    ],
    [
      'cli/verbs/test-server.test.ts',
      'puts the values of scratch addresses back when Ctrl-C ends it in the middle of the writes',
    ],
  ],
  'A port that is not a serial port': [
    [
      'modbus/transport/port/real-port.test.ts',
      'when it is another kind of device, which is not even opened',
    ],
  ],
  'REST opens only serial ports': [
    [
      'simulator/ports.test.ts',
      'a client of REST may name ports that are listed and usual names, and nothing else',
    ],
  ],
};

const page = readFileSync('docs/what-it-touches.md', 'utf8');
const sentences = [...page.matchAll(/^- (.*)$/gm)].map(([, sentence = '']) => sentence);

describe('docs/what-it-touches.md', () => {
  it.each(sentences)('has a test for: %s', (sentence) => {
    const [, tests = []] = Object.entries(HELD).find(([begin]) => sentence.startsWith(begin)) ?? [];
    expect(tests.length, 'add the sentence to HELD').toBeGreaterThan(0);
    for (const [file, title] of tests)
      expect(readFileSync(join('test', file), 'utf8'), `${file} has no test "${title}"`).toSatisfy(
        (text: string) => text.includes(title),
      );
  });

  it('has each sentence of the list', () => {
    for (const begin of Object.keys(HELD))
      expect(
        sentences.filter((sentence) => sentence.startsWith(begin)),
        begin,
      ).toHaveLength(1);
  });
});

/** The files of src in which something is found. The console runs in the browser. */
function filesWith(pattern: RegExp): string[] {
  return readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.startsWith('remote/web/'))
    .filter((path) => pattern.test(readFileSync(join('src', path), 'utf8')))
    .sort();
}

/** What each of them writes, renames or removes. */
const WRITERS = {
  'cli/service/reload-socket.ts': 'its socket, in the runtime directory or beside the links of virtual lines',
  'cli/service/state/state-files.ts': 'the state',
  'cli/verbs/log.ts': '--log_file, which is appended to',
  'cli/verbs/write-files.ts': '-o, reports and scenarios',
  'extensions/extcap/verb.ts': 'the script for Wireshark, and the pipe of a capture',
  'extensions/traffic-files/traffic-files.ts': 'traffic.file',
  'library.ts': 'a folder of its own in the temporary directory, for the links of virtual lines',
  'make-at-build.ts': 'dist, while it is built',
  'modbus/transport/port/client-link.ts': 'links of virtual lines',
  'testing/scenario/test-run.ts': 'captures',
};

/** What each of them connects to. */
const CONNECTORS = {
  'cli/service/reload-socket.ts': 'the service on this machine that is to read its file again',
  'common/rest-client/client.ts': 'the simulator of --url',
  'extensions/sparkplug/node.ts': 'that broker',
  'library.ts': 'the simulator that a test names',
  'modbus/client/wire.ts': 'real devices, and servers that a command names',
  'modbus/transport/port/libc.ts': 'the service manager on this machine',
  'modbus/transport/socket/udp-binding.ts': 'nothing: the socket of a UDP line',
  'remote/mqtt/broker.ts': 'the broker of the configuration',
  'testing/client/observer.ts': 'the page of an observer on the command line',
  'testing/measure/client.ts': 'the own lines of a measurement',
};

describe('a file that is not on this list needs a sentence in docs/what-it-touches.md', () => {
  it('only these files of src may write, rename or remove', () => {
    const writes =
      /\b((rm|unlink|rename|symlink|copyFile|truncate|ftruncate|appendFile|rmdir|cp)(Sync)?|writeFile(Sync)?|createWriteStream)\(|O_CREAT|open(Sync)?\([^)]*'[wa]x?\+?'/;
    expect(filesWith(writes)).toEqual(Object.keys(WRITERS));
  });

  it('only these files of src may connect', () => {
    expect(filesWith(/\b(fetch|(?<!#)connect|createConnection|createSocket)\(/)).toEqual(
      Object.keys(CONNECTORS),
    );
  });
});
