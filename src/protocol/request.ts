import type { ExceptionCode } from './exception-code.js';
import type { FunctionCode } from './function-code.js';

/** What a client asks for, decoded. Addresses are 0-based, as on the wire. */
export type Request = RegisterRequest | FileRequest | DiagnosticRequest;

/** For coils and registers (6.1 to 6.6, 6.11, 6.12, 6.16, 6.17). */
export type RegisterRequest =
  | ReadRequest
  | { readonly code: FunctionCode<'writeSingleCoil'>; readonly address: number; readonly on: boolean }
  | { readonly code: FunctionCode<'writeSingleRegister'>; readonly address: number; readonly value: number }
  | {
      readonly code: FunctionCode<'writeMultipleCoils'>;
      readonly address: number;
      readonly bits: readonly boolean[];
    }
  | {
      readonly code: FunctionCode<'writeMultipleRegisters'>;
      readonly address: number;
      readonly words: readonly number[];
    }
  | {
      readonly code: FunctionCode<'maskWriteRegister'>;
      readonly address: number;
      readonly andMask: number;
      readonly orMask: number;
    }
  | {
      readonly code: FunctionCode<'readWriteMultipleRegisters'>;
      readonly readAddress: number;
      readonly readQuantity: number;
      readonly writeAddress: number;
      readonly words: readonly number[];
    };

/** Functions 1 to 4. */
export interface ReadRequest {
  readonly code: FunctionCode<
    'readCoils' | 'readDiscreteInputs' | 'readHoldingRegisters' | 'readInputRegisters'
  >;
  readonly address: number;
  readonly quantity: number;
}

/** For files and FIFO queues (6.14, 6.15, 6.18). */
export type FileRequest =
  | { readonly code: FunctionCode<'readFileRecord'>; readonly parts: readonly FilePart[] }
  | {
      readonly code: FunctionCode<'writeFileRecord'>;
      readonly parts: readonly (FilePart & { readonly words: readonly number[] })[];
    }
  | { readonly code: FunctionCode<'readFifoQueue'>; readonly address: number };

/** About the device and its line (6.7 to 6.10, 6.13, 6.21). */
export type DiagnosticRequest =
  | BareRequest
  | { readonly code: FunctionCode<'diagnostics'>; readonly subFunction: number; readonly data: Uint8Array }
  | {
      readonly code: FunctionCode<'encapsulatedInterfaceTransport'>;
      readonly access: 1 | 2 | 3 | 4;
      readonly objectId: number;
    };

/** Functions 7, 11, 12 and 17: a function code and nothing else. */
export interface BareRequest {
  readonly code: FunctionCode<
    'readExceptionStatus' | 'getCommEventCounter' | 'getCommEventLog' | 'reportServerId'
  >;
}

/** `length` records of a file from `record` on (6.14). */
export interface FilePart {
  readonly referenceType: number;
  readonly file: number;
  readonly record: number;
  readonly length: number;
}

export type DecodedRequest =
  | { readonly ok: true; readonly request: Request }
  | { readonly ok: false; readonly exception: ExceptionCode };

export function valid(request: Request): DecodedRequest {
  return { ok: true, request };
}

export function refused(exception: ExceptionCode): DecodedRequest {
  return { ok: false, exception };
}
