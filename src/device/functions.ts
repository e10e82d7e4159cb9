import { concatBytes, copyOf, packBits, packWords } from '../modbus/protocol/bytes.js';
import { ExceptionCode, FunctionCode } from '../modbus/protocol/function-code.js';
import { exceptionResponse } from '../modbus/protocol/pdu.js';
import { decodeRequest, type Request } from '../modbus/protocol/request.js';
import type { Diagnostics } from './diagnostics.js';
import type { Files } from './files.js';
import { type IdentityObjects, readIdentification } from './identification.js';
import { MAX_FIFO_COUNT } from './queue-feed.js';
import type { Reactions } from './reactions.js';
import { type Access, readOrWrite } from './read-write.js';
import type { Tables } from './tables.js';

/** The values of FIFO queues by pointer address. If undefined, every address has an empty queue. */
type FifoQueues = { get(address: number): readonly number[] | undefined } | undefined;

/** The data of function 17: an identifier of any length, whether the server runs, and additional text. */
export interface ServerId {
  readonly id: readonly number[];
  readonly running: boolean;
  readonly additional: string;
}

/** The data that the functions of a server work on. */
export interface Server {
  readonly tables: Tables;
  /** How clients read and write the tables. */
  readonly access: Access;
  /** What the values do when they are written. */
  readonly reactions: Reactions;
  /** The objects of the device identification, always including the basic objects. */
  readonly identity: IdentityObjects;
  readonly files: Files;
  readonly queues: FifoQueues;
  /** The addresses of up to eight coils for the exception status. The first is the least significant bit. */
  readonly exceptionStatus: readonly number[];
  readonly serverId: ServerId;
}

/**
 * Answers a request PDU (Application Protocol V1.1b3, 6). Checks the function code, then quantity and byte
 * count, then the address range, then executes the request. Each step has its own exception. Undefined if
 * there is no reply.
 */
export function answer(server: Server, diagnostics: Diagnostics, pdu: Uint8Array): Uint8Array | undefined {
  const functionCode = pdu[0] as number;
  const decoded = decodeRequest(pdu);
  if (!decoded.ok) return exceptionResponse(functionCode, decoded.error);
  const result = execute(server, diagnostics, decoded.value, pdu);
  if (result === 'no response') return undefined;
  return typeof result === 'number' ? exceptionResponse(functionCode, result) : result;
}

/** The reference type in file parts (6.14). */
export const REFERENCE_TYPE = 6;

/** Executes a request. If it returns an exception code, nothing was changed. */
function execute(
  server: Server,
  diagnostics: Diagnostics,
  request: Request,
  pdu: Uint8Array,
): Uint8Array | ExceptionCode | 'no response' {
  const { files, queues, identity, reactions } = server;
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
    case FunctionCode.getCommEventLog:
      return counted(request.code, diagnostics.eventLog());
    case FunctionCode.reportServerId:
      return counted(request.code, serverIdBytes(server.serverId));
    case FunctionCode.encapsulatedInterfaceTransport:
      return (
        readIdentification(identity, request.access, request.objectId) ?? ExceptionCode.illegalDataAddress
      );
    case FunctionCode.readFileRecord: {
      if (!request.parts.every((part) => files.canRead(part))) return ExceptionCode.illegalDataAddress;
      const parts = request.parts.map((part) => {
        const data = packWords(files.read(part));
        return concatBytes([data.length + 1, REFERENCE_TYPE], data);
      });
      return counted(request.code, concatBytes(...parts));
    }
    case FunctionCode.writeFileRecord:
      if (!request.parts.every((part) => files.canWrite(part))) return ExceptionCode.illegalDataAddress;
      if (reactions.isBusy) return ExceptionCode.serverDeviceBusy;
      for (const part of request.parts) files.write(part, part.words);
      return copyOf(pdu);
    case FunctionCode.readFifoQueue: {
      const values = queues ? queues.get(request.address) : [];
      if (!values) return ExceptionCode.illegalDataAddress;
      if (values.length > MAX_FIFO_COUNT) return ExceptionCode.illegalDataValue;
      return concatBytes([request.code], packWords([2 * values.length + 2, values.length, ...values]));
    }
    default:
      return readOrWrite(server.tables, server.access, request, pdu);
  }
}

function counted(code: number, data: Uint8Array): Uint8Array {
  return concatBytes([code, data.length], data);
}

/**
 * Returns the mapped coils packed into a byte. Bits without a mapped and defined coil are 0. This does not
 * count as a read of the coils, and does not run their actions.
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
