import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { completion } from '../../src/cli/command-line/completion.js';
import { EXTENSIONS } from '../../src/extensions/all.js';
import { makeTempDir } from '../support/program.mjs';
import { describeWithPeer, isInstalled } from './peer.js';

const directory = makeTempDir();
afterAll(() => rmSync(directory, { recursive: true }));

function scriptFor(shell: 'zsh' | 'fish'): string {
  const path = join(directory, shell);
  writeFileSync(path, completion({ kind: 'completion', shell }, EXTENSIONS));
  return path;
}

const lines = (text: string) => text.split('\n').filter((line) => line !== '');
const missing = (shell: string) =>
  isInstalled(shell, '--version') ? undefined : `${shell} is missing: apt-get install ${shell}`;

describeWithPeer('the completion of fish', missing('fish'), () => {
  const offered = (line: string) => {
    const script = `source ${scriptFor('fish')}; function modbus-sim; echo 'ENTRY of it'; end; complete -C '${line}'`;
    const env = { ...process.env, HOME: directory };
    return lines(execFileSync('fish', ['-c', script], { encoding: 'utf8', env })).map(
      (each) => each.split('\t')[0],
    );
  };

  it('offers commands, options, words, files and entries of the catalogue', () => {
    expect(offered('modbus-sim test-s')).toEqual(['test-server']);
    expect(offered('modbus-sim test-server --fra')).toEqual(['--framing']);
    expect(offered('modbus-sim test-server --framing ').sort()).toEqual(['ascii', 'rtu', 'socket']);
    expect(offered('modbus-sim check package.js')).toEqual(['package.json']);
    expect(offered('modbus-sim catalogue ')).toEqual(['ENTRY']);
  });
});

describeWithPeer('the completion of zsh', missing('zsh'), () => {
  // A completion needs a terminal: zpty is one. What zsh has put in the line is shown by a command that prints it.
  const completed = (line: string) => {
    const script = `zmodload zsh/zpty
      zpty z zsh -f -i
      zpty -w z 'PS1=; stty -echo; autoload -U compinit; compinit -u -D; source ${scriptFor('zsh')}; modbus-sim() { print -r -- "<$*>" }; print READY'
      zpty -r -m z out '*READY*READY*'
      zpty -w z $'${line}\\t'
      zpty -r -m z out '*<*>*'
      print -r -- $out`;
    const env = { ...process.env, HOME: directory, TERM: 'dumb' };
    const shown = execFileSync('zsh', ['-f', '-c', script], { encoding: 'utf8', env, timeout: 60_000 });
    return /<([^<>]*)>/.exec(shown)?.[1]?.trim();
  };

  it('completes commands, options and words', () => {
    expect(completed('modbus-sim test-s')).toBe('test-server');
    expect(completed('modbus-sim test-server --fra')).toBe('test-server --framing');
    expect(completed('modbus-sim test-server --framing so')).toBe('test-server --framing socket');
    expect(completed('modbus-sim check package.js')).toBe('check package.json');
  });
});
