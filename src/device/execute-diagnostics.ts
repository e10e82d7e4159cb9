import { concatBytes, packBits, packWords } from '../protocol/bytes.js';
import { ExceptionCode } from '../protocol/exception-code.js';
import type { Request } from '../protocol/request.js';
import type { Diagnostics } from './diagnostics.js';
import { readIdentification } from './identification.js';
import type { Server, ServerId } from './server.js';

type DiagnosticRequest = Extract<Request, { code: 7 | 8 | 11 | 12 | 17 | 43 }>;

/** Functions 7, 8, 11, 12, 17 and 43: a response PDU, an exception code, or no response. */
export function executeDiagnostics(
  server: Server,
  diagnostics: Diagnostics,
  request: DiagnosticRequest,
): Uint8Array | ExceptionCode | 'no response' {
  switch (request.code) {
    case 7:
      return concatBytes([7], exceptionStatus(server));
    case 8: {
      const data = diagnostics.execute(request.subFunction, request.data);
      return data instanceof Uint8Array ? concatBytes([8], packWords([request.subFunction]), data) : data;
    }
    case 11:
      return concatBytes([11], packWords([0, diagnostics.eventCount]));
    case 12: {
      const log = diagnostics.eventLog();
      return concatBytes([12, log.length], log);
    }
    case 17: {
      const data = serverIdBytes(server.serverId);
      return concatBytes([17, data.length], data);
    }
    case 43:
      return (
        readIdentification(server.identity, request.access, request.objectId) ??
        ExceptionCode.illegalDataAddress
      );
  }
}

/** The mapped coils, packed; those that are not mapped or not defined are 0. */
function exceptionStatus({ tables, exceptionStatus: coils }: Server): Uint8Array {
  const bits = Array.from({ length: 8 }, (_, i) => {
    const coil = coils[i];
    return (
      coil !== undefined && tables.coils.canReadBits(coil, 1) && tables.coils.readBits(coil, 1)[0] === true
    );
  });
  return packBits(bits);
}

function serverIdBytes({ id, running, additional }: ServerId): Uint8Array {
  return concatBytes(id, [running ? 0xff : 0x00], Buffer.from(additional, 'latin1'));
}
