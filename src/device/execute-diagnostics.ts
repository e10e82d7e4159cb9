import { concatBytes, packBits, packWords } from '../protocol/bytes.js';
import { ExceptionCode } from '../protocol/exception-code.js';
import { FunctionCode } from '../protocol/function-code.js';
import type { DiagnosticRequest } from '../protocol/request.js';
import type { Diagnostics } from './diagnostics.js';
import { readIdentification } from './identification.js';
import type { Server, ServerId } from './server.js';

/** Functions 7, 8, 11, 12, 17 and 43: a response PDU, an exception code, or no response. */
export function executeDiagnostics(
  server: Server,
  diagnostics: Diagnostics,
  request: DiagnosticRequest,
): Uint8Array | ExceptionCode | 'no response' {
  switch (request.code) {
    case FunctionCode.readExceptionStatus:
      return concatBytes([request.code], exceptionStatus(server));
    case FunctionCode.diagnostics: {
      const data = diagnostics.execute(request.subFunction, request.data);
      return data instanceof Uint8Array
        ? concatBytes([request.code], packWords([request.subFunction]), data)
        : data;
    }
    case FunctionCode.getCommEventCounter:
      return concatBytes([request.code], packWords([0, diagnostics.eventCount]));
    case FunctionCode.getCommEventLog: {
      const log = diagnostics.eventLog();
      return concatBytes([request.code, log.length], log);
    }
    case FunctionCode.reportServerId: {
      const data = serverIdBytes(server.serverId);
      return concatBytes([request.code, data.length], data);
    }
    case FunctionCode.encapsulatedInterfaceTransport:
      return (
        readIdentification(server.identity, request.access, request.objectId) ??
        ExceptionCode.illegalDataAddress
      );
  }
}

/**
 * The mapped coils, packed into a byte. Bits without a mapped and defined coil are 0. This does not count as a read of
 * the coils, and runs none of their actions.
 */
function exceptionStatus({ tables, exceptionStatus: coils }: Server): Uint8Array {
  const bits = Array.from({ length: 8 }, (_, i) => {
    const coil = coils[i];
    return coil !== undefined && tables.coils.canReadBits(coil, 1) && tables.coils.currentBit(coil);
  });
  return packBits(bits);
}

function serverIdBytes({ id, running, additional }: ServerId): Uint8Array {
  return concatBytes(id, [running ? 0xff : 0x00], Buffer.from(additional, 'latin1'));
}
