import { expect, it } from 'vitest';
import { type Misbehaviour, readCatalogue } from '../../src/config/catalogue.js';

const HEAD = `# What real devices do wrong

Every entry was reported by somebody who met it in the field; the links lead there. Each is one line of a file, one command and one
request of REST:

\`\`\`yaml
devices:
  meter: {like: sleeps, registers: {holding: [{address: 0, value: 7}]}}
lines:
  lan: {tcp: {port: 5020}, units: {1: meter}}
\`\`\`

- \`node dist/main.js catalogue\` lists them, \`node dist/main.js catalogue sleeps\` explains one, \`node dist/main.js --misbehave sleeps\` lets all
  devices do so.
- \`POST /api/v1/catalogue/sleeps\` with \`{"device": "meter"}\` or \`{"line": "lan"}\` switches one on while clients are served, all of it or nothing;
  \`DELETE /api/v1/catalogue/sleeps\` takes it back. \`GET /api/v1/catalogue\` has them with all that is below.
- \`like\` in a file takes the manners of the entry unless the device has its own, and its fault rules unless the file has rules of these names.
- An entry about a line, such as \`newcomer-evicts\`, is \`like\` of a line, and \`{"device": …}\` means the lines of the device that it fits. Its settings
  change the line as \`PATCH\` of it does, which may end connections; taken back, they get their defaults.

A file of [\`catalogue/\`](../catalogue) is one entry: [how to add one](ADDING_A_MISBEHAVIOUR.md). The facts are those of the threads, in our words; nobody has tried the
devices here. This page is made by \`npx vitest run test/house/catalogue.test.ts -u\`.

| a client sees | entry |
| --- | --- |
`;

const cell = (text: string) => text.replaceAll('|', '\\|');
const row = ({ id, title, sees }: Misbehaviour) => `| ${cell(sees)} | [${cell(title)}](#${id}) |\n`;

const chapter = ({ id, title, devices, sources, robust }: Misbehaviour) => `
## ${id}

${title}. A robust client: ${robust[0]?.toLowerCase()}${robust.slice(1)}

${devices.length > 0 ? `Devices: ${devices.join('; ')}.\n\n` : ''}${sources.map(({ url, fact }) => `- [${url.replace(/^https:\/\/(www\.)?(github\.com\/)?/, '')}](${url}): ${fact}\n`).join('')}`;

it('docs/catalogue.md has every entry', async () => {
  const entries = readCatalogue();
  const page = HEAD + entries.map(row).join('') + entries.map(chapter).join('');
  await expect(page).toMatchFileSnapshot('../../docs/catalogue.md');
});
