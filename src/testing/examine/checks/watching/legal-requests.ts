import { ExceptionCode } from '../../../../protocol/exception-code.js';
import { EXCEPTION_FLAG } from '../../../../protocol/function-code.js';
import { addressRanges } from '../../../../protocol/pdu.js';
import { decodeRequest } from '../../../../protocol/request.js';
import { sentFrames } from '../../../../traffic/sent-bytes.js';
import { type Check, fail, inconclusive, pass } from '../../check.js';
import type { Exchange } from '../../exchange.js';

/** The client is watched for so many poll periods more, at least and at most for so long, in ms. */
const PERIODS = 4;
const SHORTEST_MS = 2_000;
const LONGEST_MS = 30_000;
const MOST_SHOWN = 4;
const ADDRESSES = 0x1_0000;

/** Quantity, byte count, function and addresses of every request. */
export const legalRequests: Check = {
  id: 'legal-requests',
  group: 'watching',
  title: 'Asks only what may be asked',
  does: 'Reads every request: its quantity, its byte count, its function, and whether its addresses exist.',
  matters: 'A device may answer an illegal request with anything, or with nothing.',
  rule: 'Passes when every request is legal; fails when one breaks a limit of the specification or asks for what its device does not have; inconclusive when frames with a wrong check value came that nobody can be blamed for.',
  source: 'Application Protocol V1.1b3, 6 and 7',
  async run(exam) {
    await exam.watch(Math.min(LONGEST_MS, Math.max(SHORTEST_MS, PERIODS * exam.periodMs)));
    const first = new Map(exam.log.after(0).map((each) => [each.question, each]));
    const judged = [...first.values()].map((exchange) => ({ exchange, why: mistakeIn(exchange) }));
    const illegal = judged.filter(({ why }) => why !== undefined);
    if (illegal.length > 0) {
      const shown = illegal.slice(0, MOST_SHOWN);
      const more = illegal.length > shown.length ? `; and ${illegal.length - shown.length} more` : '';
      return fail(
        `${shown.map(({ exchange, why }) => `unit ${exchange.request.unitId} function ${exchange.pdu[0]}: ${why}`).join('; ')}${more}`,
        shown.map(({ exchange }) => exchange),
        'asks what is not legal',
      );
    }
    const damaged = exam.log.othersAfter(0).filter(({ kind }) => kind === 'damaged');
    if (damaged.length > 0) {
      const times = damaged.length === 1 ? 'one frame' : `${damaged.length} frames`;
      return inconclusive(
        `${times} came with a wrong check value; the line does not show who spoilt them`,
        damaged.slice(0, MOST_SHOWN),
      );
    }
    const count = first.size === 1 ? 'its one question is' : `its ${first.size} questions are`;
    return pass(`${count} legal`, [...first.values()].slice(0, MOST_SHOWN));
  },
};

const MISTAKES: ReadonlyMap<number | undefined, string> = new Map([
  [ExceptionCode.illegalFunction, 'a function that its device does not have'],
  [ExceptionCode.illegalDataAddress, 'addresses that its device does not have'],
  [ExceptionCode.illegalDataValue, 'a quantity, byte count or value that is not allowed'],
]);

/** What is wrong with a request; undefined when nothing is. */
function mistakeIn({ pdu, request, reply }: Exchange): string | undefined {
  const decoded = decodeRequest(pdu);
  // Another device of the bus may have functions of its own.
  if (!decoded.ok && (request.kind === 'request' || decoded.exception !== ExceptionCode.illegalFunction)) {
    return MISTAKES.get(decoded.exception);
  }
  if (addressRanges(pdu).some(({ address, quantity }) => address + quantity > ADDRESSES)) {
    return 'addresses beyond 65535';
  }
  const [frame] = reply && reply.acted.length === 0 ? sentFrames(reply.plan, reply.report) : [];
  const [code = 0, exception] = (frame && reply?.framing.decode(frame)?.pdu) ?? [];
  return (code & EXCEPTION_FLAG) === 0 ? undefined : MISTAKES.get(exception);
}
