import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { manPage } from '../../scripts/package/man-page.mjs';
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
