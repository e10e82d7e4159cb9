import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../src/remote/rpc/declared.js';

/** The program by file; the console is bundled apart. */
const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.startsWith('remote/web/'))
  .map((path) => [path, readFileSync(join('src', path), 'utf8')] as const);

/** The files that have a key with the name of a command, as a table of commands has. */
function tablesWith(name: string): string[] {
  return sources.filter(([, text]) => text.includes(`\n  '${name}': `)).map(([path]) => path);
}

const DECLARED = /^(?:simulator\/commands\/schemas\/[\w-]+|testing\/declared)\.ts$/;
const CARRIED_OUT = /^(?:simulator\/commands\/[\w-]+|testing\/(?:inspect\/)?commands)\.ts$/;

describe('a command', () => {
  it.each(Object.keys(COMMANDS))('is in two files, its declaration and what runs: %s', (name) => {
    const files = tablesWith(name);
    expect(files).toHaveLength(2);
    expect(files).toContainEqual(expect.stringMatching(DECLARED));
    expect(files).toContainEqual(expect.stringMatching(CARRIED_OUT));
  });

  it('has a route that no other has', () => {
    const routes = Object.values(COMMANDS).flatMap((each) => ('rest' in each ? [each.rest] : []));
    expect(routes.length).toBeGreaterThan(40);
    expect(new Set(routes).size).toBe(routes.length);
  });

  it('is named in six files at most, those that ask for it among them', () => {
    const counts = Object.keys(COMMANDS).map((name) => {
      const files = sources.filter(([, text]) => text.includes(`'${name}'`)).map(([path]) => path);
      return [name, files.length <= 6 ? [] : files] as const;
    });
    expect(counts.filter(([, files]) => files.length > 0)).toEqual([]);
  });
});
