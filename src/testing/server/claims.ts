import { compact } from '../../common/compact.js';
import { failure, type Result, success } from '../../common/result.js';
import { At } from '../../common/schema/at.js';
import { Findings } from '../../common/schema/findings.js';
import { formatProblems } from '../../common/schema/problem.js';
import { fileText } from '../../document/print.js';
import { readConfigFile } from '../../document/text/read-file.js';
import { type Claims, claimsSchema, LONGEST_MS } from '../order-schemas.js';
import type { ServerVerdict } from './check.js';
import { exceptionsIn } from './checks/claims.js';
import type { Exchange } from './exchange.js';
import type { ServerTest } from './server-test.js';
import { timeText } from './words.js';

/** Reads a claims file, YAML or JSON. The error lists every mistake with its place. */
export function readClaims(path: string): Result<Claims> {
  const file = readConfigFile(path);
  if (!file.ok) return failure(formatProblems(path, file.problems));
  const findings = new Findings();
  const claims = new At(file.source.value, findings).check(claimsSchema);
  if (claims && findings.count === 0) return success(claims);
  return failure(formatProblems(path, file.source.locate(findings.listed)));
}

/** The functions in the specification that the checks use. */
const FUNCTIONS = [1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 15, 16, 17, 20, 22, 23, 24, 43];

/**
 * How much longer a reply may take than the 99th percentile, in ms and as a factor: the next 100 replies will
 * differ.
 */
const MORE_MS = 20;
const MORE_TIMES = 1.5;

/** A first draft of a claims file, from the findings of a server test. */
export function claimsTemplate(serverTest: ServerTest): string {
  const { facts, log, times } = serverTest;
  const { functions, most, connections, broadcast } = facts;
  const { there, missing, silent } = functions;
  const rising = (codes: Iterable<number>) => [...codes].sort((a, b) => a - b);
  const replyTime = times && Math.ceil(Math.max(times.p99 + MORE_MS, times.p99 * MORE_TIMES));
  const exceptions = rising(exceptionsIn(log).keys());
  const wrong = exceptions.filter((code) => isWrong(serverTest, code));
  const untried = FUNCTIONS.filter((code) => ![there, missing, silent].some((codes) => codes.has(code)));
  const claims = compact({
    functions: rising(there),
    exceptions: exceptions.filter((code) => !wrong.includes(code)),
    registers: most[3],
    bits: most[1],
    connections: connections?.served,
    broadcast: broadcast || undefined,
    replyTime: replyTime && `${Math.min(LONGEST_MS, replyTime)}ms`,
  });
  return fileText(claims, [
    "Results of modbus-sim test-server, as a draft of the manufacturer's claims.",
    'Remove the lines that you do not promise: only the remaining lines are judged.',
    ...(untried.length > 0
      ? [`Functions that were not tried: ${untried.join(', ')}. Those that write need --scratch.`]
      : []),
    ...(wrong.length > 0 ? [`Exceptions that violate a clause, left out here: ${wrong.join(', ')}.`] : []),
    ...(times ? [`99 of 100 replies began within ${timeText(times.p99)}; replyTime includes a margin.`] : []),
  ]);
}

/** True if the exception is part of a violation, and did not come in any check that conforms. */
function isWrong({ findings, log }: ServerTest, code: number): boolean {
  const isOf = ({ answer }: Exchange) => answer.kind === 'exception' && answer.code === code;
  const those = (verdict: ServerVerdict) => findings.filter((each) => each.verdict === verdict);
  const conforming = new Set(those('conforms').map(({ check }) => check.id));
  return (
    those('violates').some(({ shown = [] }) => shown.some(isOf)) &&
    !log.some((exchange) => isOf(exchange) && conforming.has(exchange.check))
  );
}
