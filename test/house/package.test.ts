import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32, inflateRawSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { manPage } from '../../scripts/package/man-page.mjs';
import { zipOf } from '../../scripts/package/zip.mjs';
import { OPTIONS as ALL_OPTIONS } from '../../src/cli/command-line/command-line.js';
import type { OptionTable } from '../../src/cli/command-line/commands/scan.js';
import { DESCRIBED, helpOn } from '../../src/cli/command-line/help.js';

const TABLE: OptionTable = Object.assign({}, ALL_OPTIONS, ...DESCRIBED.map(({ options }) => options));
const OPTIONS = Object.entries(TABLE)
  .flatMap(([name, { help }]) => (help === undefined ? [] : `--${name}`))
  .sort();
const COMMANDS = ['help', ...DESCRIBED.map(({ name }) => name)].sort();

describe('the manual page', () => {
  const whole = helpOn('all');
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
  /** What is offered for the last of the words. */
  function completed(...words: string[]): string[] {
    const script = `source packaging/completion.bash
      COMP_WORDS=(modbus-sim "$@"); COMP_CWORD=$#
      _modbus_sim
      printf '%s\\n' "\${COMPREPLY[@]}"`;
    const offered = execFileSync('bash', ['-c', script, 'bash', ...words], { encoding: 'utf8' });
    return offered.split('\n').filter((word) => word !== '');
  }

  it('offers every command of --help', () => {
    expect(completed('').sort()).toEqual(COMMANDS);
  });

  it('offers every option of --help', () => {
    expect(completed('--').sort()).toEqual(OPTIONS);
    expect(completed('--json_file', 'x', '--modbus_s')).toEqual(['--modbus_server']);
  });

  it('offers files where a file is expected, and levels for --log', () => {
    expect(completed('check', 'package.js')).toEqual(['package.json']);
    expect(completed('--config', 'tsconfig.b')).toEqual(['tsconfig.build.json']);
    expect(completed('--log', 'e')).toEqual(['error']);
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
