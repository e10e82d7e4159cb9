import type { Random } from '../../common/random.js';
import { failure, type Result, success } from '../../common/result.js';
import type { ClientTarget } from '../../modbus/client/wire.js';
import { HIGHEST_UNIT } from '../../modbus/protocol/limits.js';
import { Asker, type Carrier, orWhenEnded } from './asker.js';
import { readPdu } from './requests.js';

/** Serial speeds and parities, the most common first. */
const SPEEDS = [19200, 9600, 38400, 115200, 57600, 4800, 2400, 1200];
const PARITIES = ['even', 'none', 'odd'] as const;

/** Factory default units of devices; these are tried with all settings before the others. */
const USUAL_UNITS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
/** Units of TCP devices that are not behind a gateway (Messaging on TCP/IP V1.0b, 4.4.1.2). */
const TCP_UNITS = [255, 0];
/** How long a reply may take, in ms: a search sends thousands of requests. */
const TIMEOUT_MS = 200;

/** How to reach a server that a search has found. */
export interface FoundServer {
  readonly target: ClientTarget;
  readonly unitId: number;
}

/**
 * Looks for a server: the usual units at all speeds and parities first, then the other units. Every reply
 * counts, even an exception. Fails if nothing answers, or if the port can't be opened.
 * @param progress called with the settings being tried
 */
export async function findServer(
  carrier: Carrier,
  unitId: number,
  random: Random,
  progress: (text: string) => void,
  signal: AbortSignal,
): Promise<Result<FoundServer>> {
  const settings = settingsOf(carrier.target);
  const first = [...new Set([unitId, ...USUAL_UNITS, ...(carrier.target.kind === 'tcp' ? TCP_UNITS : [])])];
  const others = Array.from({ length: HIGHEST_UNIT }, (_, i) => i + 1).filter(
    (unit) => !first.includes(unit),
  );
  for (const units of [first, others]) {
    for (const target of settings) {
      const asker = new Asker({ ...carrier, target }, unitId, 0, random);
      asker.signal = signal;
      progress(`searching ${settingText(target)}, units ${units[0]} to ${units.at(-1)}`);
      try {
        for (const unit of units) {
          const asked = asker.once(readPdu(3, 0, 1), { unitId: unit, timeout: TIMEOUT_MS });
          const exchange = await asked.catch(orWhenEnded(undefined));
          if (!exchange) return failure('the search was stopped');
          const { answer } = exchange;
          if (answer.kind === 'closed' && asker.unreachable !== undefined) return failure(asker.unreachable);
          const isFromGateway = answer.kind === 'exception' && [10, 11].includes(answer.code);
          if ((answer.kind === 'data' || answer.kind === 'exception') && !isFromGateway)
            return success({ target, unitId: unit });
          if (answer.kind === 'garbled')
            progress(`bytes that are not a reply were received from unit ${unit} at ${settingText(target)}`);
        }
      } finally {
        await asker.disconnect();
      }
    }
  }
  return failure('no answer with any combination of speed, parity and unit');
}

/** The settings to try, beginning with the given ones. */
function settingsOf(target: ClientTarget): ClientTarget[] {
  if (target.kind === 'tcp') return [target];
  const all = SPEEDS.flatMap((baudRate) => PARITIES.map((parity) => ({ ...target, baudRate, parity })));
  const isGiven = (each: (typeof all)[number]) =>
    each.baudRate === target.baudRate && each.parity === target.parity;
  return [target, ...all.filter((each) => !isGiven(each))];
}

/** Formats settings as command-line options. */
export function settingText(target: ClientTarget): string {
  return target.kind === 'tcp'
    ? `${target.host}:${target.port}`
    : `--baud ${target.baudRate} --parity ${target.parity}`;
}
