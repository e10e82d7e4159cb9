import { Readable } from 'node:stream';
import { constants, crc32, deflateRawSync, gzipSync } from 'node:zlib';
import type { FastifyInstance, FastifyReply } from 'fastify';

/** Minimum size in bytes of an answer worth compressing. Less than this fits into one packet anyway. */
const LEAST_BYTES = 1024;
/** Content types that are text. Captures are binary, and end late or never. */
const TEXT = /^text\/|[/+](?:json|yaml|x-ndjson|xml)\b/;
const LEVEL = constants.Z_BEST_SPEED;

/** Whether a client accepts gzip (RFC 9110, 12.5.3). @param header its Accept-Encoding */
export function takesGzip(header: string | undefined): boolean {
  return (header ?? '').split(',').some((each) => {
    const [name = '', ...parameters] = each.split(';').map((part) => part.trim().toLowerCase());
    return name === 'gzip' && !parameters.some((part) => /^q=0(?:\.0*)?$/.test(part));
  });
}

/**
 * Compresses an application's answers that are text, are long enough, and go to clients that accept gzip.
 * This thread does the work, because it gives way to the lines; the threads that Node would use do not.
 */
export function compressAnswers(app: FastifyInstance): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    const isText = TEXT.test(String(reply.getHeader('content-type')));
    const isStream = payload instanceof Readable;
    const isLong = isStream || (typeof payload === 'string' && Buffer.byteLength(payload) > LEAST_BYTES);
    const isWhole = request.method !== 'HEAD' && reply.statusCode !== 304;
    if (!isText || !isLong || !isWhole || reply.hasHeader('content-encoding')) {
      done(null, payload);
      return;
    }
    vary(reply);
    if (!takesGzip(request.headers['accept-encoding'])) {
      done(null, payload);
      return;
    }
    reply.header('content-encoding', 'gzip').removeHeader('content-length');
    done(null, isStream ? gzipStream(payload) : gzipSync(payload as string, { level: LEVEL }));
  });
}

/** Tells caches that an answer depends on what its client accepts. */
export function vary(reply: FastifyReply): void {
  const others = String(reply.getHeader('vary') ?? '').split(', ');
  reply.header('vary', [...new Set([...others, 'accept-encoding'])].filter(Boolean).join(', '));
}

/** Compresses a stream, only as fast as it is read. */
function gzipStream(payload: Readable): Readable {
  const body = Readable.from(gzipPieces(payload), { highWaterMark: 1, objectMode: true });
  // If it closes before it was read, it does not close its source.
  return body.once('close', () => payload.destroy());
}

/** The header of a file without a name, time or system (RFC 1952, 2.3). */
const GZIP_HEADER = Buffer.from('1f8b08000000000000ff', 'hex');
/** The last block of a file, which is empty (RFC 1951, 3.2.6). */
const LAST_BLOCK = Buffer.from('0300', 'hex');

/** Each piece is compressed separately and ends on a whole byte, so together they form one file. */
async function* gzipPieces(pieces: AsyncIterable<string | Buffer>): AsyncGenerator<Buffer, void> {
  yield GZIP_HEADER;
  let [check, length] = [0, 0];
  for await (const piece of pieces) {
    const bytes = Buffer.from(piece as string);
    check = crc32(bytes, check);
    length += bytes.length;
    yield deflateRawSync(bytes, { level: LEVEL, finishFlush: constants.Z_SYNC_FLUSH });
  }
  const end = Buffer.alloc(8);
  end.writeUInt32LE(check);
  end.writeUInt32LE(length % 2 ** 32, 4);
  yield Buffer.concat([LAST_BLOCK, end]);
}
