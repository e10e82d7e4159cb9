import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { REACTION_KINDS } from '../../../src/device/reactions/kinds.js';

describe('docs/reactions.md', () => {
  it('has the row of each kind, and no other', () => {
    const rows = readFileSync('docs/reactions.md', 'utf8').match(/^\| `\w+: .*$/gm);
    expect(rows).toEqual(REACTION_KINDS.map(({ entry, effect }) => `| ${entry} | ${effect} |`));
  });
});
