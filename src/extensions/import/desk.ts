import { compact } from '../../common/compact.js';
import { type Asked, answerOrWhyNot, askedHere } from '../../common/work.js';
import { refuse } from '../../remote/api/answers.js';
import { Places } from '../../remote/api/connection-limit.js';
import type { ApiContext } from '../../remote/api/desk.js';
import type { ExtensionPart } from '../../remote/api/extension.js';
import { refusal } from '../../simulator/commands/refusal.js';
import {
  type ImportRequest,
  importedSchema,
  importRequest,
  LARGEST_IMPORT,
} from '../../simulator/commands/schemas/imported.js';
import { failures } from '../../simulator/commands/schemas/problem.js';
import type { FromImporter, ToImporter } from './importing.js';

const TOO_LARGE = 'needs more memory than is available';

/** `/api/v1/import`: converts a file of another program to devices. The simulator itself is not changed. */
export function importAtDesk(desk: ApiContext): ExtensionPart {
  const places = new Places('imports', '', 1);
  return {
    routes: {
      devices: {
        'POST /import': {
          summary: 'Create device definitions from a file',
          description:
            'Reads a register table or a client configuration, like `modbus-sim import`, and shows how it was understood. No device is added. See docs/import.md.',
          schema: { body: importRequest },
          maxBytes: Math.ceil(LARGEST_IMPORT / 3) * 4 + 64 * 1024,
          handle: (request, reply) => {
            const { file, content, from, columns, base, table, defaults } = request.body as ImportRequest;
            const bytes = new Uint8Array(Buffer.from(content, 'base64'));
            const unusable = (message: string) =>
              refuse(request, reply, refusal('import.unusable', '', `${file} ${message}`));
            if (bytes.length > LARGEST_IMPORT) return unusable(`has more than ${LARGEST_IMPORT} bytes`);
            let importer: Asked<ToImporter, FromImporter> | undefined;
            const work = async () => {
              const begun: Asked<ToImporter, FromImporter> =
                desk.beginWork?.('import') ?? (await importingHere());
              importer = begun;
              const extras = {
                ...compact({ base, table }),
                inUnits: defaults === 'units',
                columns: new Map(Object.entries(columns ?? {})),
              };
              const question = { bytes, file, extras, ...compact({ from }) };
              const ask = async () => {
                await begun.ask({ ...question, bytes: new Uint8Array() });
                return begun.ask(question);
              };
              const isGone = () => reply.raw.destroyed;
              const answer = await answerOrWhyNot(ask, isGone, TOO_LARGE);
              if (!answer.ok) return unusable(answer.error);
              if (answer.value.kind === 'unusable') return unusable(answer.value.message);
              const { kind: _, ...imported } = answer.value;
              return reply.send(imported);
            };
            return places.answer(request, reply, work, () => importer?.end());
          },
          response: { 200: importedSchema, ...failures(400, 409) },
        },
      },
    },
  };
}

async function importingHere(): Promise<Asked<ToImporter, FromImporter>> {
  const { importing } = await import('./importing.js');
  return askedHere(importing());
}
