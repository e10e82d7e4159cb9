import { expect, it } from 'vitest';
import { CODES } from '../../src/simulator/commands/refusal.js';

const HEAD = `# Error codes

When REST refuses a request, the answer is a problem document (RFC 9457, \`application/problem+json\`). Its \`code\` names the reason. Entries of
\`problems\` can have a more specific code of their own. A code is never renamed, so programs can rely on it; the sentences
are for people and can change. [The REST page](rest.md) shows an example.

This page is generated from \`src/simulator/commands/refusal.ts\` by \`npx vitest run test/house/errors.test.ts -u\`.

| code | status | meaning |
| --- | --- | --- |
`;

it('docs/errors.md has every code', async () => {
  const rows = Object.entries(CODES).map(
    ([code, { status, means }]) => `| \`${code}\` | ${status} | ${means} |\n`,
  );
  await expect(HEAD + rows.join('')).toMatchFileSnapshot('../../docs/errors.md');
});
