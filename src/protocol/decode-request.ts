import { ExceptionCode } from './exception-code.js';
import { functionOf } from './function-table.js';
import { type DecodedRequest, refused } from './request.js';

/**
 * Decodes a request PDU up to the address: the first two decisions of every state diagram in
 * Application Protocol V1.1b3, 6: function code known (else 01), then quantity, byte count and value (else 03).
 * A PDU too short or too long for its function counts as a wrong byte count. Addresses are for the device to judge.
 */
export function decodeRequest(pdu: Uint8Array): DecodedRequest {
  return functionOf(pdu[0])?.decode(pdu) ?? refused(ExceptionCode.illegalFunction);
}
