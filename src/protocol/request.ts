import type { ExceptionCode } from './exception-code.js';

/** What a client asks for, decoded. Addresses are 0-based, as on the wire. */
export type Request =
  | { readonly code: 1 | 2; readonly address: number; readonly quantity: number }
  | { readonly code: 3 | 4; readonly address: number; readonly quantity: number }
  | { readonly code: 5; readonly address: number; readonly on: boolean }
  | { readonly code: 6; readonly address: number; readonly value: number }
  | { readonly code: 15; readonly address: number; readonly bits: readonly boolean[] }
  | { readonly code: 16; readonly address: number; readonly words: readonly number[] }
  | { readonly code: 22; readonly address: number; readonly andMask: number; readonly orMask: number }
  | {
      readonly code: 23;
      readonly readAddress: number;
      readonly readQuantity: number;
      readonly writeAddress: number;
      readonly words: readonly number[];
    }
  | { readonly code: 7 | 11 | 12 | 17 }
  | { readonly code: 8; readonly subFunction: number; readonly data: Uint8Array }
  | { readonly code: 20; readonly parts: readonly FilePart[] }
  | { readonly code: 21; readonly parts: readonly (FilePart & { readonly words: readonly number[] })[] }
  | { readonly code: 24; readonly address: number }
  | { readonly code: 43; readonly access: 1 | 2 | 3 | 4; readonly objectId: number };

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
