import { z } from 'zod';
import { addressRanges } from '../../protocol/address-range.js';
import { concatBytes, hex } from '../../protocol/bytes.js';
import { describeReply } from '../../traffic/describe.js';
import type { Exchange, Ledger } from '../../traffic/ledger.js';
import type { MonitorRequest } from './call-request.js';
import { FUNCTION_CODES } from './function-codes.js';

/** A request or a response that was seen. */
export const callRowSchema = z.object({
  call: z.enum(['request', 'response']),
  time: z.string(),
  line: z.string(),
  unit: z.number(),
  fc: z.number(),
  address: z.number().nullable(),
  count: z.number().nullable(),
  data: z.string(),
});

export type CallRow = z.infer<typeof callRowSchema>;

const MAX_ROWS = 1000;

/** Bytes of a row: replies of 64 KiB are possible. */
const MAX_BYTES = 1024;

/** Lists the calls since its creation. */
export class CallMonitor {
  /** The calls that `rows` returns. */
  filter: MonitorRequest;
  readonly #ledger: Ledger;
  readonly #since: number;

  constructor(filter: MonitorRequest, ledger: Ledger) {
    this.filter = filter;
    this.#ledger = ledger;
    this.#since = ledger.lastId;
  }

  /** The calls that match the filter, the newest first; each row is made when it is asked for. */
  rows(): Iterable<CallRow> {
    return callRows(this.#ledger.newestFirst(undefined, this.#since), this.filter);
  }

  /** Stops listing calls. The calls so far stay readable, even after the ledger drops them. */
  stop(): StoppedCalls {
    const { filter } = this;
    const exchanges = this.#ledger
      .latest(undefined, this.#since)
      .filter((exchange) => matches(filter, exchange));
    return { rows: () => callRows(exchanges, filter) };
  }
}

/** Calls of a monitor that was stopped. */
export interface StoppedCalls {
  rows(): Iterable<CallRow>;
}

function* callRows(exchanges: Iterable<Exchange>, filter: MonitorRequest): Generator<CallRow> {
  let count = 0;
  for (const exchange of exchanges) {
    if (!matches(filter, exchange)) continue;
    for (const row of rowsOf(exchange, filter)) {
      if (count++ === MAX_ROWS) return;
      yield row;
    }
  }
}

function matches(
  { function: code, range_start, range_stop }: MonitorRequest,
  { requestPdu }: Exchange,
): boolean {
  if (code != null && requestPdu[0] !== code) return false;
  if (range_start == null && range_stop == null) return true;
  const first = range_start ?? 0;
  const last = range_stop ?? first;
  return addressRanges(requestPdu).some(
    ({ address, quantity }) => address <= last && address + quantity > first,
  );
}

/** The response, if there was one, above its request. */
function rowsOf(
  { time, line, unitId, requestPdu, requestAdu, framing, plan, report }: Exchange,
  filter: MonitorRequest,
): CallRow[] {
  const [range] = addressRanges(requestPdu);
  const place = { address: range?.address ?? null, count: range?.quantity ?? null };
  const common = { time: time.toISOString(), line, unit: unitId, fc: requestPdu[0] as number, ...place };
  const request: CallRow = {
    call: 'request',
    ...common,
    data: dataText(filter, requestAdu, () => requestText(requestPdu)),
  };
  const sent = sentBytes(plan, report);
  if (sent.length === 0) return [request];
  return [
    {
      call: 'response',
      ...common,
      data: dataText(filter, sent, () => describeReply(sent, { framing, requestPdu })),
    },
    request,
  ];
}

/** The bytes of the response. When playing it has ended, only the bytes that were really sent. */
function sentBytes(plan: Exchange['plan'], report: Exchange['report']): Uint8Array {
  const steps = plan.kind === 'send' ? plan.steps : [];
  const sent = steps.filter((_, i) => !report || report.steps[i]?.outcome === 'achieved');
  return concatBytes(...sent.map((step) => (step.kind === 'bytes' ? step.bytes : [])));
}

function requestText(pdu: Uint8Array): string {
  const code = pdu[0] as number;
  const ranges = addressRanges(pdu).map(({ address, quantity }) => `address ${address} quantity ${quantity}`);
  return `${FUNCTION_CODES.get(code) ?? `function ${code}`} ${ranges.join(', ')}`;
}

function hexText(bytes: Uint8Array): string {
  const more = bytes.length - MAX_BYTES;
  return more > 0 ? `${hex(bytes.subarray(0, MAX_BYTES))} … ${more} more` : hex(bytes);
}

function dataText(
  { show_hex, show_decode }: MonitorRequest,
  bytes: Uint8Array,
  decoded: () => string,
): string {
  return [show_hex && hexText(bytes), show_decode && decoded()].filter(Boolean).join('; ');
}
