import { ExceptionCode } from '../protocol/exception-code.js';
import { FunctionCode } from '../protocol/function-code.js';
import { exceptionResponse } from '../protocol/pdu.js';
import type { Request } from '../protocol/request.js';
import { decodeRequest } from '../protocol/request.js';
import type { Diagnostics } from './diagnostics.js';
import { executeDiagnostics } from './execute-diagnostics.js';
import { executeFiles } from './execute-files.js';
import { executeRegisters } from './execute-registers.js';
import type { Server } from './server.js';

/**
 * Answers a request PDU (Application Protocol V1.1b3, 6). It checks the function code, then quantity and byte count,
 * then the address range, then executes the request. Each step has its exception. Undefined when there is no reply.
 */
export function answer(server: Server, diagnostics: Diagnostics, pdu: Uint8Array): Uint8Array | undefined {
  const functionCode = pdu[0] as number;
  const decoded = decodeRequest(pdu);
  if (!decoded.ok) return exceptionResponse(functionCode, decoded.exception);
  const result = execute(server, diagnostics, decoded.request, pdu);
  if (result === 'no response') return undefined;
  if (typeof result === 'number') return exceptionResponse(functionCode, result);
  return result;
}

function execute(server: Server, diagnostics: Diagnostics, request: Request, pdu: Uint8Array) {
  switch (request.code) {
    case FunctionCode.readExceptionStatus:
    case FunctionCode.diagnostics:
    case FunctionCode.getCommEventCounter:
    case FunctionCode.getCommEventLog:
    case FunctionCode.reportServerId:
    case FunctionCode.encapsulatedInterfaceTransport:
      return executeDiagnostics(server, diagnostics, request);
    case FunctionCode.readFileRecord:
    case FunctionCode.writeFileRecord:
    case FunctionCode.readFifoQueue:
      return executeFiles(server, request, pdu) ?? ExceptionCode.illegalDataAddress;
    default:
      return executeRegisters(server, request, pdu);
  }
}
