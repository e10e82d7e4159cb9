import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { crc32, inflateRawSync } from 'node:zlib';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { manPage } from '../../scripts/package/man-page.mjs';
import { zipOf } from '../../scripts/package/zip.mjs';
import { optionsOf } from '../../src/cli/command-line/command-line.js';
import type { OptionTable } from '../../src/cli/command-line/commands/scan.js';
import { completion } from '../../src/cli/command-line/completion.js';
import { describedWith, helpOn } from '../../src/cli/command-line/help.js';
import { EXTENSIONS } from '../../src/extensions/all.js';

const DESCRIBED = describedWith(EXTENSIONS);
const TABLE: OptionTable = Object.assign(
  {},
  optionsOf(EXTENSIONS),
  ...DESCRIBED.map(({ options }) => options),
);
const OPTIONS = Object.entries(TABLE)
  .flatMap(([name, { help }]) => (help === undefined ? [] : `--${name}`))
  .sort();
const COMMANDS = ['help', ...DESCRIBED.map(({ name }) => name)].sort();

describe('the manual page', () => {
  const whole = helpOn('all', EXTENSIONS);
  const page = manPage('text' in whole ? whole.text : '', { version: '1.2.3', date: '2026-01-31' });

  it('has every command and option of --help', () => {
    const plain = page.replaceAll('\\-', '-');
    for (const word of [...OPTIONS, ...COMMANDS]) expect(plain).toContain(word);
  });

  it('has its name and version where whatis(1) looks for them', () => {
    expect(page).toMatch(/^\.TH MODBUS-SIM 1 2026-01-31 "modbus-sim 1\.2\.3" "User Commands"\n/);
    expect(page).toMatch(/\.SH NAME\nmodbus\\-sim \\- a Modbus server/);
  });

  it('has the headings and entries of --help as headings and entries', () => {
    expect(page).toContain(
      '\n.SH OPTIONS WITHOUT A COMMAND\n.TP\n.B \\-\\-config FILE\nthe configuration, YAML or JSON (default: the demo)\n',
    );
  });
});

describe('the completion of bash', () => {
  const directory = mkdtempSync(join(tmpdir(), 'completion-'));
  afterAll(() => rmSync(directory, { recursive: true }));
  const script = join(directory, 'completion.bash');
  writeFileSync(script, completion({ kind: 'completion', shell: 'bash' }, EXTENSIONS));

  /** What is offered for the last of the words. */
  function completed(...words: string[]): string[] {
    const asked = `source ${script}
      modbus-sim() { echo 'ENTRY of the catalogue'; }
      COMP_WORDS=(modbus-sim "$@"); COMP_CWORD=$#
      _modbus_sim
      printf '%s\\n' "\${COMPREPLY[@]}"`;
    const offered = execFileSync('bash', ['-c', asked, 'bash', ...words], { encoding: 'utf8' });
    return offered.split('\n').filter((word) => word !== '');
  }

  it('offers every command of --help', () => {
    expect(completed('').sort()).toEqual(COMMANDS);
    expect(completed('help', '').sort()).toEqual(COMMANDS.filter((name) => name !== 'help'));
  });

  it.each(DESCRIBED)('offers the options of $name', ({ name, options }) => {
    const shown = Object.keys(options).filter((option) => options[option]?.help !== undefined);
    expect(completed(name, '--').sort()).toEqual([...shown, 'help'].map((option) => `--${option}`).sort());
  });

  it('offers files, words and entries of the catalogue where they are expected', () => {
    expect(completed('--json_file', 'x', '--modbus_s')).toEqual(['--modbus_server']);
    expect(completed('check', 'package.js')).toEqual(['package.json']);
    expect(completed('--config', 'tsconfig.b')).toEqual(['tsconfig.build.json']);
    expect(completed('--log', 'e')).toEqual(['error']);
    expect(completed('test-server', '--tcp', 'a', '--framing', '')).toEqual(['socket', 'rtu', 'ascii']);
    expect(completed('test-server', '--unit', '')).toEqual([]);
    expect(completed('--misbehave', 'E')).toEqual(['ENTRY']);
  });
});

describe('package.json', () => {
  it('has no script that needs a shell of Unix', () => {
    const { scripts }: { scripts: Record<string, string> } = JSON.parse(readFileSync('package.json', 'utf8'));
    const words = Object.values(scripts).flatMap((script) => script.split(/ && /));
    for (const word of words) expect(word).toMatch(/^(node|biome|tsc|knip|vitest) [^'$;|<>]*$/);
  });
});

/** The files of a ZIP file by its central directory, as whoever unpacks one reads it. */
function filesOf(zip: Buffer): { name: string; time: number; content: string }[] {
  const end = zip.length - 22;
  expect(zip.readUInt32LE(end)).toBe(0x06054b50);
  let at = zip.readUInt32LE(end + 16);
  return Array.from({ length: zip.readUInt16LE(end + 10) }, () => {
    expect(zip.readUInt32LE(at)).toBe(0x02014b50);
    const [crc, packed, size] = [16, 20, 24].map((offset) => zip.readUInt32LE(at + offset)) as [
      number,
      number,
      number,
    ];
    const nameEnd = at + 46 + zip.readUInt16LE(at + 28);
    const local = zip.readUInt32LE(at + 42);
    expect(zip.subarray(local + 4, local + 30)).toEqual(zip.subarray(at + 6, at + 32));
    const begin = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
    const content = inflateRawSync(zip.subarray(begin, begin + packed));
    expect([crc32(content), content.length]).toEqual([crc, size]);
    const file = {
      name: zip.toString('utf8', at + 46, nameEnd),
      time: zip.readInt32LE(at + 12),
      content: `${content}`,
    };
    at = nameEnd;
    return file;
  });
}

describe('the ZIP file for Windows', () => {
  it('has its files in one folder, as they are, and the same files make the same bytes', () => {
    const directory = mkdtempSync(join(tmpdir(), 'modbus-sim-zip-'));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const text = 'to be deflated '.repeat(100);
    mkdirSync(join(directory, 'dist'));
    writeFileSync(join(directory, 'dist/main.js'), text);
    writeFileSync(join(directory, 'empty'), '');
    const zip = zipOf(directory, 'modbus-sim-1', 1_700_000_000);
    expect(zipOf(directory, 'modbus-sim-1', 1_700_000_000)).toEqual(zip);
    expect(zip.length).toBeLessThan(text.length);
    const time = ((2023 - 1980) << 25) | (11 << 21) | (14 << 16) | (22 << 11) | (13 << 5) | (20 >> 1);
    expect(filesOf(zip)).toEqual([
      { name: 'modbus-sim-1/dist/main.js', time, content: text },
      { name: 'modbus-sim-1/empty', time, content: '' },
    ]);
  });

  it('starts the program that lies beside its command, with all options, by lines that end as cmd.exe wants', () => {
    const command = readFileSync('packaging/windows/modbus-sim.cmd', 'utf8');
    expect(command).toContain('"%~dp0node.exe" "%~dp0dist\\main.js" %*\r\n');
    expect(command.replaceAll('\r\n', '')).not.toContain('\n');
  });
});

describe('the Debian package', () => {
  /** Purges, with these files in the folders of the package. @returns what is left, and who was asked to delete what */
  function purge(files: Readonly<Record<string, string>>, passwd: string) {
    const root = mkdtempSync(join(tmpdir(), 'modbus-sim-purge-'));
    onTestFinished(() => rmSync(root, { recursive: true }));
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    mkdirSync(join(root, 'bin'));
    const tools = { getent: `echo '${passwd}'`, 'deb-systemd-helper': '', chown: '' };
    for (const [name, body] of Object.entries({ ...tools, userdel: 'echo user', groupdel: 'echo group' }))
      writeFileSync(join(root, 'bin', name), `#!/bin/sh\n${body}\n`, { mode: 0o755 });
    const script = readFileSync('packaging/deb/postrm', 'utf8')
      .replaceAll('/etc/', `${root}/etc/`)
      .replaceAll('/run/', `${root}/run/`)
      .replaceAll(/(?<!:)\/var\//g, `${root}/var/`);
    const env = { PATH: `${root}/bin:${process.env.PATH}` };
    const said = execFileSync('sh', ['-c', script, 'postrm', 'purge'], { encoding: 'utf8', env });
    const left = readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.parentPath.endsWith('/bin') && entry.name !== 'bin')
      .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1));
    return { said, left };
  }
  const OWN_USER = 'modbus-sim:x:990:990:Modbus server simulator:/var/lib/modbus-sim:/usr/sbin/nologin';
  const written = {
    'var/lib/modbus-sim/modbus-sim-state.json': '',
    'var/lib/modbus-sim/bench.json': '',
    'var/lib/modbus-sim/usb-1/clock.json.damaged-20260101T000000000Z': '',
    'var/lib/modbus-sim/ended-20260101T000000000Z/device-meter-0123abcd.json': '',
    'var/lib/modbus-sim/traffic-000001.pcapng': '',
  };

  it('that is purged takes with it what the service has written, and the account that it was given', () => {
    expect(purge(written, OWN_USER)).toEqual({ said: 'user\ngroup\n', left: ['var', 'var/lib'] });
  });

  it('that is purged leaves what people have put into its folders, and an account of theirs', () => {
    const theirs = ['etc/modbus-sim/bench.yaml', 'etc/modbus-sim/token', 'var/lib/modbus-sim/thesis.tmp'];
    const files = { ...written, ...Object.fromEntries(theirs.map((path) => [path, 'mine'])) };
    const { said, left } = purge(files, 'modbus-sim:x:1000:1000:Sim:/home/modbus-sim:/bin/bash');
    expect(said).toBe('');
    expect(
      left.filter((path) => path.split('/').length > 3 || path.startsWith('etc/modbus-sim/')).sort(),
    ).toEqual(theirs);
  });
});

describe('the units', () => {
  it('are one service and one for each bus, which differ in names, directories and the usual port alone', () => {
    const body = (file: string) =>
      readFileSync(`systemd/${file}`, 'utf8')
        .split('\n')
        .filter((line) => !/^(#|Environment=|RuntimeDirectory|StateDirectory=)/.test(line));
    const instance = body('modbus-sim@.service').map((line) =>
      line.replace(' for %i', '').replace('%i.yaml', 'config.yaml'),
    );
    expect(instance).toEqual(body('modbus-sim.service'));
  });
});
