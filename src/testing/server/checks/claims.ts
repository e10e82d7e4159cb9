import type { Claims } from '../../order-schemas.js';
import { type Bench, READ_CODES, type ReadCode } from '../bench.js';
import { conforms, inconclusive, type Judged, notRun, type ServerCheck, violates } from '../check.js';
import type { Exchange } from '../exchange.js';
import { replyTimes } from '../reply-times.js';

/** Judges functions, as far as the other checks have tried them. */
async function functions(bench: Bench, claimed: readonly number[]): Promise<Judged> {
  const { there, missing, silent } = bench.facts.functions;
  for (const code of READ_CODES) if (claimed.includes(code)) await bench.table(code);
  const lacking = claimed.filter((code) => !there.has(code) && (missing.has(code) || silent.has(code)));
  if (lacking.length > 0) {
    const shown = lacking.flatMap((code) => bench.log.find(({ pdu }) => pdu?.[0] === code) ?? []);
    return violates({ code: 'functions-missing', functions: lacking }, ...shown.slice(0, 4));
  }
  const open = claimed.filter((code) => !there.has(code));
  return open.length > 0
    ? inconclusive({ code: 'functions-not-tried', functions: open })
    : conforms({ code: 'functions-there', functions: claimed });
}

/** The exchanges with an exception code from the specification. */
export function exceptionsIn(log: readonly Exchange[]): Map<number, Exchange> {
  return new Map(
    log.flatMap((exchange) =>
      exchange.answer.kind === 'exception' && exchange.answer.code > 0
        ? [[exchange.answer.code, exchange] as const]
        : [],
    ),
  );
}

function exceptions(bench: Bench, claimed: readonly number[]): Judged {
  const seen = exceptionsIn(bench.log);
  const others = [...seen].filter(([code]) => !claimed.includes(code));
  if (others.length === 0) return conforms({ code: 'no-other-exceptions' });
  const codes = others.map(([code]) => code);
  return violates({ code: 'exceptions-not-claimed', exceptions: codes }, ...others.map(([, shown]) => shown));
}

/** Reads as many registers or bits as are claimed. */
async function quantity(bench: Bench, claimed: number, codes: readonly ReadCode[]): Promise<Judged> {
  const { most } = bench.facts;
  const found = codes.flatMap((code) => most[code] ?? []);
  const least = Math.min(...found);
  if (found.length === 0) return inconclusive({ code: 'no-large-table' });
  return least >= claimed
    ? conforms({ code: 'as-many-in-one-read', most: least, what: codes.includes(3) ? 'registers' : 'bits' })
    : violates({ code: 'fewer-than-claimed', most: least, claimed });
}

function connections({ facts: { connections: found } }: Bench, claimed: number): Judged {
  if (found === undefined) return inconclusive({ code: 'connections-not-counted' });
  if (found.served >= claimed) return conforms({ code: 'connections', ...found });
  return found.next === 'untried'
    ? inconclusive({ code: 'connections-not-tried', ...found })
    : violates({ code: 'fewer-connections', ...found, claimed });
}

function broadcast({ facts, asker }: Bench): Judged {
  if (facts.broadcast === undefined)
    return asker.isSerial ? inconclusive({ code: 'no-broadcast-sent' }) : notRun({ code: 'serial-only' });
  return facts.broadcast
    ? conforms({ code: 'broadcast-executed' })
    : violates({ code: 'broadcast-not-executed' });
}

function replyTime(bench: Bench, claimed: number): Judged {
  const times = replyTimes(bench);
  if (!times) return inconclusive({ code: 'no-reply-timed' });
  if (times.p99 <= claimed) return conforms({ code: 'as-fast', p99Ms: times.p99 });
  const slow = bench.log.filter(({ ms }) => ms !== undefined && ms > claimed).slice(0, 3);
  return violates({ code: 'slower-than-claimed', p99Ms: times.p99, claimedMs: claimed }, ...slow);
}

/** A check of one claim. */
function claim<Key extends keyof Claims>(
  key: Key,
  title: string,
  rule: string,
  judge: (bench: Bench, claimed: NonNullable<Claims[Key]>) => Judged | Promise<Judged>,
  on?: 'tcp',
): ServerCheck {
  return {
    ...{
      id: `claim-${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
      group: 'claims',
      title,
      rule,
    },
    does: `Compares \`${key}\` of --claims with the findings of all checks.`,
    clause: 'the claims (--claims)',
    matters: 'Anyone who trusted the data sheet finds out on site.',
    mend: 'Correct the server or its documents.',
    grade: 'met',
    needs: ['claims'],
    turn: 'end',
    isSeveral: true,
    ...(on && { on }),
    run: (bench) => {
      const claimed = bench.order.claims?.[key];
      return claimed === undefined || claimed === false
        ? notRun({ code: 'not-claimed' })
        : judge(bench, claimed);
    },
  };
}

export const CLAIMS: readonly ServerCheck[] = [
  claim(
    'functions',
    'Has the functions that are claimed',
    'Conforms when each is answered with a reply or an exception other than 01.',
    functions,
  ),
  claim(
    'exceptions',
    'Uses only the claimed exceptions',
    'Conforms when every exception received was claimed.',
    exceptions,
  ),
  claim(
    'registers',
    'Reads as many registers as claimed',
    'Conforms when one request reads the claimed number.',
    (bench, claimed) => quantity(bench, claimed, [3]),
  ),
  claim(
    'bits',
    'Reads as many bits as claimed',
    'Conforms when one request reads the claimed number.',
    (bench, claimed) => quantity(bench, claimed, [1]),
  ),
  claim(
    'connections',
    'Serves as many connections as claimed',
    'Conforms when the claimed number is served at the same time. At most 6 are tried.',
    connections,
    'tcp',
  ),
  claim('broadcast', 'Executes broadcasts', 'Conforms when a broadcast write is executed.', broadcast),
  claim(
    'replyTime',
    'Answers in time',
    'Conforms when 99 of 100 replies begin within the claimed time.',
    replyTime,
  ),
];
