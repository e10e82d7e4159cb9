import { wordAt } from './bytes.js';
import { ExceptionCode } from './exception-code.js';
import { FunctionCode } from './function-code.js';
import { type BareRequest, type DecodedRequest, refused, valid } from './request.js';
import { SubFunction } from './sub-function.js';

const ILLEGAL_FUNCTION = refused(ExceptionCode.illegalFunction);
const ILLEGAL_VALUE = refused(ExceptionCode.illegalDataValue);

/** Functions 7, 11, 12 and 17 (6.7, 6.9, 6.10, 6.13). */
export function decodeBare(code: BareRequest['code']) {
  return (pdu: Uint8Array): DecodedRequest => (pdu.length === 1 ? valid({ code }) : ILLEGAL_VALUE);
}

const SUB_FUNCTIONS: ReadonlySet<number> = new Set(Object.values(SubFunction));

/** Function 8 (6.8): the sub-function belongs to the function (else 01), then the data must fit it (else 03). */
export function decodeDiagnostics(pdu: Uint8Array): DecodedRequest {
  if (pdu.length < 3) return ILLEGAL_VALUE;
  const subFunction = wordAt(pdu, 1);
  if (!SUB_FUNCTIONS.has(subFunction)) return ILLEGAL_FUNCTION;
  const data = pdu.slice(3);
  return dataFits(subFunction, data)
    ? valid({ code: FunctionCode.diagnostics, subFunction, data })
    : ILLEGAL_VALUE;
}

const CLEAR_LOG = 0xff00;

/** Query data is any number of words; every other sub-function has one, and that is 0 unless it means something. */
function dataFits(subFunction: number, data: Uint8Array): boolean {
  if (subFunction === SubFunction.returnQueryData) return data.length >= 2 && data.length % 2 === 0;
  if (data.length !== 2) return false;
  const word = wordAt(data, 0);
  switch (subFunction) {
    case SubFunction.restartCommunications:
      return word === 0 || word === CLEAR_LOG;
    case SubFunction.changeAsciiDelimiter:
      return data[1] === 0;
    default:
      return word === 0;
  }
}

/** The only MEI type of function 43 that servers of this kind have (6.21). */
export const READ_DEVICE_IDENTIFICATION = 14;

/** Function 43 (6.19, 6.21): another MEI type is another function (01). */
export function decodeEncapsulated(pdu: Uint8Array): DecodedRequest {
  if (pdu.length < 2) return ILLEGAL_VALUE;
  if (pdu[1] !== READ_DEVICE_IDENTIFICATION) return ILLEGAL_FUNCTION;
  const access = pdu[2];
  if (pdu.length !== 4 || (access !== 1 && access !== 2 && access !== 3 && access !== 4))
    return ILLEGAL_VALUE;
  return valid({ code: FunctionCode.encapsulatedInterfaceTransport, access, objectId: pdu[3] as number });
}
