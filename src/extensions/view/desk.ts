import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { z } from 'zod';
import { section } from '../../common/schema/parts.js';
import { type Asked, answerOrWhyNot, askedHere } from '../../common/work.js';
import { refuse } from '../../remote/api/answers.js';
import { takesGzip, vary } from '../../remote/api/compression.js';
import { Places } from '../../remote/api/connection-limit.js';
import type { ApiContext } from '../../remote/api/desk.js';
import type { ExtensionPart } from '../../remote/api/extension.js';
import { readBytes } from '../../remote/api/requests.js';
import { refusal } from '../../simulator/commands/refusal.js';
import { failures } from '../../simulator/commands/schemas/problem.js';
import type { ToView, Viewed } from './page.js';

/** Maximum number of pages kept, and maximum of their compressed bytes. The oldest are dropped first. */
const MOST_KEPT = 4;
const MOST_KEPT_BYTES = 16 * 1024 * 1024;

/**
 * The page contains a stricter policy and has no origin, so the content of a file can reach neither the
 * session nor the console. A page without an origin can't isolate itself from others, so that header is off.
 */
const OPENED_HEADERS = {
  'content-security-policy': "sandbox allow-scripts; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'unsafe-none',
};

const EXAMPLE =
  '{"seq":1,"line":"lan","kind":"echo","direction":"none","text":"echo","monotonicUs":7,"time":"2026-11-28T12:00:00.000007Z"}';
const NO_BYTES = 'content-type: expected application/octet-stream';
/** Longest time to make the page of a file, in ms: on a busy machine it waits for the lines. */
const VIEWING_MS = 120_000;
const TOO_LARGE = 'body: expected a file whose page takes at most 16 MiB when compressed';
const NO_MEMORY = 'the file needs more memory than is available';
const NOT_KEPT = 'this file is no longer kept: open it again';

/** `/api/v1/view`: makes a page from a file, like `modbus-sim view`. */
export function viewAtDesk({ beginWork }: Pick<ApiContext, 'beginWork'>): ExtensionPart {
  const places = new Places('files that are opened', '', 1);
  const kept = new Map<string, Buffer>();
  const keep = (page: Uint8Array): string => {
    const id = randomBytes(8).toString('hex');
    kept.set(id, Buffer.from(page));
    const size = () => [...kept.values()].reduce((sum, { length }) => sum + length, 0);
    for (const [oldest] of kept) if (kept.size > MOST_KEPT || size() > MOST_KEPT_BYTES) kept.delete(oldest);
    return id;
  };
  return {
    routes: {
      traffic: {
        'POST /view': {
          summary: 'Open a traffic file',
          description:
            'Makes a page from a report (HTML), a capture (pcapng, pcap) or traffic as NDJSON, up to 16 MiB, like `modbus-sim view FILE`. The last four pages are kept. A read-only token is enough.',
          schema: {
            querystring: section({
              name: z.string().max(255).default('a file').describe('The name of the file, for the title.'),
            }),
            bytesBody: z
              .string()
              .describe('The file.')
              .meta({ format: 'binary', examples: [EXAMPLE] }),
          },
          handle: (request, reply) => {
            let viewer: Asked<ToView, Viewed> | undefined;
            const open = async () => {
              const { name } = request.query as { readonly name: string };
              const { LARGEST, viewing } = await import('./page.js');
              if (!(request.body instanceof Readable))
                return refuse(request, reply, refusal('request.media_type', '', NO_BYTES));
              const declared = Number(request.headers['content-length'] ?? 0);
              const read = await readBytes(request.body, declared, LARGEST);
              if (!read.ok) return refuse(request, reply, read);
              // Without a work thread, making the page is one turn of this thread.
              if (beginWork) reply.raw.setTimeout(VIEWING_MS);
              const begun: Asked<ToView, Viewed> = beginWork?.('view') ?? askedHere(viewing());
              viewer = begun;
              const ask = async () => {
                await begun.ask({ file: new Uint8Array(), title: '' });
                return begun.ask({ file: read.bytes, title: name });
              };
              const answer = await answerOrWhyNot(ask, () => reply.raw.destroyed, NO_MEMORY);
              const viewed = answer.ok ? answer.value : answer;
              if (!viewed.ok) return refuse(request, reply, refusal('request.invalid', '', viewed.error));
              const { page, notes } = viewed.value;
              if (page.length > MOST_KEPT_BYTES)
                return refuse(request, reply, refusal('request.too_long', '', TOO_LARGE));
              return reply.code(201).send({ url: `/api/v1/view/${keep(page)}`, notes });
            };
            return places.answer(request, reply, open, () => viewer?.end());
          },
          response: {
            201: z
              .object({
                url: z.string().describe('The address of the page.'),
                notes: z.array(z.string()).describe('What the page does not show, one sentence each.'),
              })
              .meta({
                description: 'The page was made.',
                examples: [{ url: '/api/v1/view/5f0c1a2b3d4e5f60', notes: [] }],
              }),
            ...failures(400, 413),
          },
        },
        'GET /view/:id': {
          summary: 'Get the page of a file',
          description: 'The page of an opened file, as long as it is kept.',
          params: z.object({ id: z.string().describe('The last part of its address.') }),
          exposeHeadRoute: false,
          handle: (request, reply) => {
            const page = kept.get((request.params as { readonly id: string }).id);
            if (!page) return refuse(request, reply, refusal('path.unknown', '', NOT_KEPT));
            const answer = reply.headers(OPENED_HEADERS).type('text/html; charset=utf-8');
            vary(answer);
            return takesGzip(request.headers['accept-encoding'])
              ? answer.header('content-encoding', 'gzip').send(page)
              : answer.send(Readable.from([page]).pipe(createGunzip()));
          },
          response: {
            200: { description: 'A page.', content: { 'text/html': { schema: z.string() } } },
            ...failures(404),
          },
        },
      },
    },
  };
}
