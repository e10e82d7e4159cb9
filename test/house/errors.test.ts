import { expect, it } from 'vitest';
import { CODES } from '../../src/simulator/commands/refusal.js';

const HEAD = `# Codes of refusals

A refusal of REST is a problem document (RFC 9457, \`application/problem+json\`). Its \`code\` names the reason, and each entry of
\`problems\` may have a code of its own that says more. A code is never renamed, so a program may branch on it; the sentences
beside it are for people and may change. [The REST page](rest.md) shows one.

This page is made from \`src/simulator/commands/refusal.ts\` by \`npx vitest run test/house/errors.test.ts -u\`.

| code | status | what it means |
| --- | --- | --- |
`;

it('docs/errors.md has every code', async () => {
  const rows = Object.entries(CODES).map(
    ([code, { status, means }]) => `| \`${code}\` | ${status} | ${means} |\n`,
  );
  await expect(HEAD + rows.join('')).toMatchFileSnapshot('../../docs/errors.md');
});
